/* SPDX-License-Identifier: MIT */
/* What pinned-staging does without a device: its copy threads, and what it asks of the machine. */
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/rewrites/pinned_staging/pinned_staging_group.h"
#include "shim/rewrites/pinned_staging/pinned_staging_limits.h"
#include "shim/rewrites/pinned_staging/pinned_staging_pieces.h"
#include "tests/test.h"

#define BYTES ((size_t)8 << 20)

static char folder[] = "/tmp/tfs-staging-XXXXXX";

static void put(const char *name, const char *text)
{
	char path[256];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
	file = fopen(path, "w");
	TEST_NEED(file);
	fputs(text, file);
	fclose(file);
}

static void test_copies(bool writes)
{
	static struct tfs_staging_pieces set;
	char *one = malloc(BYTES), *other = malloc(BYTES);

	srandom(5);
	for (int round = 0; round < 60; round++) {
		const size_t bytes = 1 + (size_t)random() % (BYTES - 64);
		const size_t offset = (size_t)random() % 64;
		uint64_t number = 0;

		for (size_t i = 0; i < bytes; i++)
			one[i] = (char)(i * 7 + i / 4099 + (size_t)round);
		memset(other, 0x55, BYTES);
		tfs_staging_pieces_begin(&set, bytes);
		/* In ranges of any size, as many at a time as there is room for. */
		for (size_t done = 0; done < bytes;) {
			const size_t rest = bytes - done;
			size_t part = 1 + (size_t)random() % (2 << 20);

			part = part < rest ? part : rest;
			number = tfs_staging_pieces_open(&set,
				writes ? one + done : other + offset + done,
				writes ? other + offset + done : one + done, part, writes);
			done += part;
			if (random() % 2)
				tfs_staging_pieces_finish(&set, number);
		}
		tfs_staging_pieces_finish(&set, number);
		TEST_EQ(memcmp(one, other + offset, bytes), 0);
		TEST_EQ(other[offset + bytes], 0x55);
	}
	free(one);
	free(other);
}

/* Memory that is new each time keeps everyone busy for long: when the owner runs out of pieces, the
 * last ones are often still another thread's. */
static void test_waits(void)
{
	static struct tfs_staging_pieces set;
	char *one = malloc(BYTES);
	int early = 0;

	memset(one, 1, BYTES);
	for (int round = 0; round < 80; round++) {
		char *other = mmap(
			NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

		TEST_NEED(other != MAP_FAILED);
		tfs_staging_pieces_begin(&set, BYTES);
		tfs_staging_pieces_finish(
			&set, tfs_staging_pieces_open(&set, other, one, BYTES, false));
		for (size_t i = BYTES; i > 0; i -= TFS_PIECE_BYTES)
			early += other[i - 1] != 1;
		munmap(other, BYTES);
	}
	TEST_EQ(early, 0);
	free(one);
}

/* A page that cannot be touched is nobody's fault here: the copy says so, and the next one is as
 * good as any. */
static void test_faults(bool writes)
{
	static struct tfs_staging_pieces set;
	char *program =
		mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	char *chunk = malloc(BYTES);

	TEST_NEED(program != MAP_FAILED);
	memset(program, 1, BYTES);
	memset(chunk, 2, BYTES);
	for (size_t at = 0; at < BYTES; at += BYTES / 8) {
		mprotect(program + at, 4096, writes ? PROT_READ : PROT_NONE);
		tfs_staging_pieces_begin(&set, BYTES);
		TEST_TRUE(!tfs_staging_pieces_finish(
			&set, tfs_staging_pieces_open(&set, chunk, program, BYTES, writes)));
		mprotect(program + at, 4096, PROT_READ | PROT_WRITE);
		tfs_staging_pieces_begin(&set, BYTES);
		TEST_TRUE(tfs_staging_pieces_finish(
			&set, tfs_staging_pieces_open(&set, chunk, program, BYTES, writes)));
	}
	TEST_EQ(memcmp(chunk, program, BYTES), 0);
	free(chunk);
	munmap(program, BYTES);
}

static void test_threads(void)
{
	TEST_TRUE(tfs_staging_pieces_can());
	tfs_options.staging_cores = 0;
	tfs_options.staging_threads = 0;
	test_copies(false);
	TEST_EQ(tfs_staging_pieces_threads(), 0);
	tfs_options.staging_threads = 3;
	test_copies(false);
	test_copies(true);
	test_waits();
	test_faults(false);
	test_faults(true);
	TEST_EQ(tfs_staging_pieces_threads(), 3);
}

static void test_node(void)
{
	put("bus/pci/devices/0000:0a:00.0/numa_node", "1\n");
	put("bus/pci/devices/0001:0b:00.0/numa_node", "-1\n");
	TEST_EQ(tfs_staging_node(folder, "0000:0A:00.0"), 1);
	TEST_EQ(tfs_staging_node(folder, "00000000:0A:00.0"), 1);
	TEST_EQ(tfs_staging_node(folder, "0001:0B:00.0"), -1);
	TEST_EQ(tfs_staging_node(folder, "0000:0C:00.0"), -1);
	TEST_EQ(tfs_staging_node(folder, ""), -1);
}

static int bus_id(char *out, int bytes, int device)
{
	snprintf(out, (size_t)bytes, "0000:%02X:00.0", device);
	return 0;
}

static int policy_now(unsigned long *nodes)
{
	unsigned long all[16] = {0};
	int mode = -1;

	syscall(SYS_get_mempolicy, &mode, all, 8 * sizeof(all), NULL, 0);
	*nodes = all[0];
	return mode;
}

static void test_policy(void)
{
	const struct tfs_staging_device device = {.bus_id = bus_id};
	struct tfs_staging_policy policy;
	unsigned long nodes;
	const int before = policy_now(&nodes);

	put("bus/pci/devices/0000:01:00.0/numa_node", "0\n");
	tfs_staging_near(&device, 2, folder, &policy);
	TEST_TRUE(!policy.changed);
	TEST_EQ(policy_now(&nodes), before);
	tfs_staging_near(&device, 1, folder, &policy);
	if (policy.changed) {
		TEST_EQ(policy_now(&nodes), MPOL_PREFERRED);
		TEST_EQ(nodes, 1);
	} else {
		printf("memory policies are not allowed here\n");
	}
	tfs_staging_near_end(&policy);
	TEST_EQ(policy_now(&nodes), before);
}

static uint32_t idle_with(const char *loadavg, uint32_t own)
{
	char path[256];

	put("loadavg", loadavg);
	snprintf(path, sizeof(path), "%s/loadavg", folder);
	const int file = open(path, O_RDONLY);
	const uint32_t idle = tfs_staging_idle(file, own);

	close(file);
	return idle;
}

static void test_idle(void)
{
	const uint32_t usable = tfs_staging_processors();
	cpu_set_t all, one;

	TEST_TRUE(usable >= 1);
	TEST_EQ(idle_with("9.99 8.88 7.77 1/999 12345\n", 0), usable - 1);
	TEST_EQ(idle_with("0.00 0.00 0.00 5001/9999 12345\n", 0), 0);
	/* Our own threads do not keep themselves from it. */
	TEST_EQ(idle_with("0.00 0.00 0.00 5001/9999 12345\n", 5000), usable - 1);
	TEST_EQ(idle_with("", 0), usable - 1);
	/* This is the process's first thread: what it may use, the process may. */
	sched_getaffinity(0, sizeof(all), &all);
	CPU_ZERO(&one);
	for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
		if (CPU_ISSET(i, &all))
			CPU_SET(i, &one);
	sched_setaffinity(0, sizeof(one), &one);
	TEST_EQ(tfs_staging_processors(), 1);
	TEST_EQ(idle_with("9.99 8.88 7.77 1/999 12345\n", 0), 0);
	sched_setaffinity(0, sizeof(all), &all);
}

/* Of each version, on its own; the groups above count too. */
static void test_groups(void)
{
	char root[64], list[64];

	snprintf(root, sizeof(root), "%s/groups", folder);
	snprintf(list, sizeof(list), "%s/list", folder);
	TEST_EQ(tfs_staging_group_processors(root, list), UINT32_MAX);
	TEST_TRUE(tfs_staging_group_memory(root, list) == UINT64_MAX);

	put("list", "0::/job/step\n");
	put("groups/job/step/cpu.max", "max 100000\n");
	TEST_EQ(tfs_staging_group_processors(root, list), UINT32_MAX);
	put("groups/job/cpu.max", "350000 100000\n");
	TEST_EQ(tfs_staging_group_processors(root, list), 3);
	put("groups/cpu.max", "50000 100000\n");
	TEST_EQ(tfs_staging_group_processors(root, list), 1);
	put("groups/job/step/memory.max", "max\n");
	put("groups/job/step/memory.current", "500\n");
	TEST_TRUE(tfs_staging_group_memory(root, list) == UINT64_MAX);
	put("groups/job/memory.max", "10000\n");
	put("groups/job/memory.current", "9000\n");
	TEST_EQ(tfs_staging_group_memory(root, list), 1000);
	put("groups/job/memory.stat", "anon 6000\nfile 3000\nfile_mapped 5\n");
	TEST_EQ(tfs_staging_group_memory(root, list), 4000);
	/* Seen from inside a container, which has the group as its root. */
	put("list", "0::/elsewhere/deep\n");
	TEST_EQ(tfs_staging_group_processors(root, list), 1);

	put("list", "9:name=systemd:/x\n4:memory:/a\n3:cpuset,cpu,cpuacct:/a\n");
	put("groups/cpu/a/cpu.cfs_quota_us", "-1\n");
	put("groups/cpu/a/cpu.cfs_period_us", "100000\n");
	TEST_EQ(tfs_staging_group_processors(root, list), UINT32_MAX);
	put("groups/cpu/a/cpu.cfs_quota_us", "250000\n");
	TEST_EQ(tfs_staging_group_processors(root, list), 2);
	put("groups/memory/a/memory.limit_in_bytes", "9223372036854771712\n");
	put("groups/memory/a/memory.usage_in_bytes", "7000\n");
	TEST_TRUE(tfs_staging_group_memory(root, list) == UINT64_MAX);
	put("groups/memory/a/memory.limit_in_bytes", "8000\n");
	put("groups/memory/a/memory.stat", "cache 1\ntotal_cache 2000\n");
	TEST_EQ(tfs_staging_group_memory(root, list), 3000);
}

/* Addresses. */
static rlim_t used(void)
{
	unsigned long pages = 0;
	FILE *file = fopen("/proc/self/statm", "r");

	TEST_NEED(file && fscanf(file, "%lu", &pages) == 1);
	fclose(file);
	return (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE);
}

static void test_room(void)
{
	struct rlimit before, limit;
	char *hole = mmap(NULL, 3 * 65536, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	getrlimit(RLIMIT_AS, &before);
	tfs_options.staging_threads = 0;
	TEST_TRUE(tfs_staging_has_room(16 << 20));
	limit = before;
	limit.rlim_cur = used() + ((rlim_t)1 << 30);
	TEST_EQ(setrlimit(RLIMIT_AS, &limit), 0);
	TEST_TRUE(tfs_staging_has_room(16 << 20));
	TEST_TRUE(!tfs_staging_has_room(512 << 20));
	setrlimit(RLIMIT_AS, &before);
	TEST_TRUE(!tfs_staging_has_room(UINT64_C(1) << 60) || before.rlim_cur == RLIM_INFINITY);

	TEST_TRUE(tfs_staging_is_mapped(hole + 5, 3 * 65536 - 5));
	munmap(hole + 65536, 65536);
	TEST_TRUE(!tfs_staging_is_mapped(hole + 5, 3 * 65536 - 5));
	TEST_TRUE(tfs_staging_is_mapped(hole + 5, 65536 - 5));
	TEST_TRUE(!tfs_staging_is_mapped(hole + 5, 65536 - 4));
}

int main(void)
{
	TEST_NEED(mkdtemp(folder));
	test_threads();
	test_node();
	test_policy();
	test_idle();
	test_groups();
	test_room();
	char command[64];
	snprintf(command, sizeof(command), "rm -rf %s", folder);
	TEST_EQ(system(command), 0);
	return test_result();
}
