/* SPDX-License-Identifier: MIT */
#include "shim/host/host_code.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define PERIOD_NS 1000000u
#define DATA_PAGES 8u /* a power of 2; a page holds some 170 samples */

static size_t page_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

int tfs_host_code_open(struct tfs_host_code *code, pid_t tid)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.sample_period = PERIOD_NS,
		.sample_type = PERF_SAMPLE_IP | PERF_SAMPLE_TIME,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.use_clockid = 1,
		.clockid = CLOCK_MONOTONIC,
	};
	const long file =
		syscall(SYS_perf_event_open, &attributes, tid, -1, -1, PERF_FLAG_FD_CLOEXEC);

	code->file = -1;
	if (file < 0)
		return errno;
	code->pages = mmap(NULL, (DATA_PAGES + 1) * page_bytes(), PROT_READ | PROT_WRITE,
		MAP_SHARED, (int)file, 0);
	if (code->pages == MAP_FAILED) {
		const int err = errno;

		syscall(SYS_close, file);
		return err;
	}
	code->file = (int)file;
	return 0;
}

void tfs_host_code_close(struct tfs_host_code *code)
{
	if (code->file < 0)
		return;
	munmap(code->pages, (DATA_PAGES + 1) * page_bytes());
	syscall(SYS_close, code->file);
	code->file = -1;
}

/* Bytes from what the kernel writes round and round. */
static void copy_out(const char *data, uint64_t bytes_in_all, uint64_t at, void *out, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		((char *)out)[i] = data[(at + i) % bytes_in_all];
}

void tfs_host_code_read(struct tfs_host_code *code, void (*give)(uint64_t ns, uint64_t address))
{
	struct perf_event_mmap_page *page = code->pages;
	struct {
		struct perf_event_header head;
		uint64_t address;
		uint64_t ns;
	} sample;

	if (code->file < 0)
		return;
	const char *data = (const char *)page + page_bytes();
	const uint64_t bytes = DATA_PAGES * page_bytes();
	const uint64_t end = __atomic_load_n(&page->data_head, __ATOMIC_ACQUIRE);
	uint64_t at = page->data_tail;

	while (at < end) {
		copy_out(data, bytes, at, &sample.head, sizeof(sample.head));
		if (sample.head.size == 0)
			break;
		if (sample.head.type == PERF_RECORD_SAMPLE && sample.head.size == sizeof(sample)) {
			copy_out(data, bytes, at, &sample, sizeof(sample));
			give(sample.ns, sample.address);
		}
		at += sample.head.size;
	}
	__atomic_store_n(&page->data_tail, end, __ATOMIC_RELEASE);
}
