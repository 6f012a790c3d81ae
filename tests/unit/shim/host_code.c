/* SPDX-License-Identifier: MIT */
/* Samples of a thread's code, from pages as the kernel writes them: round and round, and with other
 * records in between. */
#include "shim/host/host_code.h"

#include <linux/perf_event.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/test.h"

#define DATA_PAGES 8u
#define MOST 4096u

static struct tfs_host_code code;
static struct perf_event_mmap_page *page;
static size_t page_bytes, data_bytes;
static uint64_t head; /* what the kernel wrote, in all */
static uint64_t ns[MOST], addresses[MOST];
static unsigned count;

static void write_bytes(const void *from, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++, head++)
		((char *)page + page_bytes)[head % data_bytes] = ((const char *)from)[i];
}

static void write_record(uint32_t type, uint16_t size, uint64_t first, uint64_t second)
{
	const struct perf_event_header record = {.type = type, .size = size};
	const uint64_t words[] = {first, second, 0, 0};

	write_bytes(&record, sizeof(record));
	write_bytes(words, size - sizeof(record));
}

static void write_sample(uint64_t number)
{
	write_record(PERF_RECORD_SAMPLE, 24, 0x1000 + number, 5000000000 + number);
}

static void take(uint64_t at_ns, uint64_t address)
{
	if (count == MOST)
		return;
	ns[count] = at_ns;
	addresses[count++] = address;
}

static void read_all(void)
{
	count = 0;
	page->data_head = head;
	tfs_host_code_read(&code, take);
	/* The kernel may write there again. */
	TEST_EQ(page->data_tail, head);
}

/* Samples from `first` on, so many. */
static void check(uint64_t first, unsigned many)
{
	TEST_EQ(count, many);
	for (unsigned i = 0; i < count; i++) {
		TEST_EQ(addresses[i], 0x1000 + first + i);
		TEST_EQ(ns[i], 5000000000 + first + i);
	}
}

static void test_plain(void)
{
	read_all();
	check(0, 0);
	write_sample(1);
	write_sample(2);
	read_all();
	check(1, 2);
	read_all();
	check(0, 0);
	write_sample(3);
	read_all();
	check(3, 1);
}

/* Records of which one in each round lies at the end and at the beginning. */
static void test_round(void)
{
	const unsigned many = (unsigned)(data_bytes / 24) - 1;

	for (unsigned round = 0; round < 5; round++) {
		for (unsigned i = 0; i < many; i++)
			write_sample(100 * round + i);
		read_all();
		check(100 * round, many);
	}
	TEST_TRUE(head > 4 * data_bytes);
}

/* What else the kernel tells: records that were lost, and that it held back. */
static void test_others(void)
{
	write_record(PERF_RECORD_LOST, 24, 77, 88);
	write_sample(1);
	write_record(PERF_RECORD_THROTTLE, 32, 77, 88);
	/* A sample with more in it than was asked for. */
	write_record(PERF_RECORD_SAMPLE, 32, 77, 88);
	write_sample(2);
	read_all();
	check(1, 2);
}

/* Damaged: what is behind it is passed over. */
static void test_damaged(void)
{
	const struct perf_event_header nothing = {.type = PERF_RECORD_SAMPLE};

	write_sample(1);
	write_bytes(&nothing, sizeof(nothing));
	write_sample(2);
	read_all();
	check(1, 1);
	write_sample(3);
	read_all();
	check(3, 1);
}

int main(void)
{
	page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	data_bytes = DATA_PAGES * page_bytes;
	page = mmap(NULL, page_bytes + data_bytes, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	TEST_NEED(page != MAP_FAILED);
	code = (struct tfs_host_code){.file = dup(STDOUT_FILENO), .pages = page};
	TEST_NEED(code.file >= 0);
	test_plain();
	test_round();
	test_others();
	test_damaged();
	/* Closed, and once more: nothing is open, and nothing is read. */
	const int file = code.file;
	tfs_host_code_close(&code);
	TEST_EQ(code.file, -1);
	TEST_EQ(dup(STDOUT_FILENO), file);
	tfs_host_code_close(&code);
	count = 0;
	tfs_host_code_read(&code, take);
	TEST_EQ(count, 0);
	return test_result();
}
