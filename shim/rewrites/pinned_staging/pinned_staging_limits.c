/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/pinned_staging/pinned_staging_limits.h"

#include <ctype.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/pinned_staging/pinned_staging_group.h"

#define GROUPS "/sys/fs/cgroup"
#define OWN_GROUPS "/proc/self/cgroup"
/* Of what is left to the program, the part that may be taken. */
#define SHARE 4u

static uint32_t count_of(pid_t thread)
{
	cpu_set_t usable;

	return sched_getaffinity(thread, sizeof(usable), &usable) == 0
		       ? (uint32_t)CPU_COUNT(&usable)
		       : 0;
}

uint32_t tfs_staging_processors(void)
{
	static _Atomic uint32_t quota;
	/* This thread, or the first one, may be pinned to fewer than the process has. */
	const uint32_t here = count_of(0);
	const uint32_t there = count_of(getpid());
	const uint32_t usable = here > there ? here : there;
	uint32_t granted = quota;

	if (granted == 0)
		quota = granted = tfs_staging_group_processors(GROUPS, OWN_GROUPS);
	return usable < granted ? usable : granted;
}

/* "0.52 0.58 0.59 3/1021 24819": how many threads run at this moment. */
static uint32_t running_now(int loadavg)
{
	char text[128];
	const ssize_t got = pread(loadavg, text, sizeof(text) - 1, 0);
	const char *at = text;

	text[got > 0 ? got : 0] = '\0';
	for (int i = 0; i < 3 && at; i++) {
		at = strchr(at, ' ');
		at = at ? at + 1 : NULL;
	}
	return at ? (uint32_t)strtoul(at, NULL, 10) : 0;
}

uint32_t tfs_staging_idle(int loadavg, uint32_t own)
{
	static _Atomic uint32_t all;
	uint32_t online = all;
	const uint32_t usable = tfs_staging_processors();
	uint32_t busy = loadavg >= 0 ? running_now(loadavg) : 0;

	if (online == 0)
		all = online = (uint32_t)get_nprocs();
	busy -= busy < own ? busy : own;
	/* The copying thread itself runs too. */
	busy = busy > 0 ? busy : 1;
	const uint32_t idle = online > busy ? online - busy : 0;
	return idle < usable ? idle : usable - 1;
}

static bool has_addresses(uint64_t bytes)
{
	struct rlimit space;
	struct rlimit stack;
	char text[128];

	if (getrlimit(RLIMIT_AS, &space) != 0 || space.rlim_cur == RLIM_INFINITY)
		return true;
	const uint64_t used =
		strtoull(tfs_staging_read("/proc/self/statm", text, sizeof(text)), NULL, 10) *
		(uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t left = space.rlim_cur > used ? space.rlim_cur - used : 0;
	const uint64_t stacks =
		getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur != RLIM_INFINITY
			? stack.rlim_cur
			: UINT64_C(8) << 20;
	return (bytes + tfs_options.staging_threads * stacks) * SHARE <= left;
}

bool tfs_staging_has_room(uint64_t bytes)
{
	/* In a group whose memory is nearly used up, a page more may end the program. */
	return has_addresses(bytes) &&
	       tfs_staging_group_memory(GROUPS, OWN_GROUPS) / SHARE >= bytes;
}

bool tfs_staging_is_mapped(const void *address, size_t bytes)
{
	unsigned char present[256];
	const uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
	const uint64_t end = (uint64_t)(uintptr_t)address + bytes;
	uint64_t from = (uint64_t)(uintptr_t)address & ~(page - 1);

	for (; from < end; from += sizeof(present) * page) {
		const uint64_t rest = end - from;
		const size_t length = rest < sizeof(present) * page ? rest : sizeof(present) * page;

		if (mincore((void *)from, length, present) != 0)
			return false;
	}
	return true;
}

int tfs_staging_node(const char *root, const char *bus_id)
{
	char path[512];
	char text[32];
	char low[32] = "";

	/* CUDA writes the number in capitals, and the domain in more digits than sysfs has. */
	for (size_t i = 0; i < sizeof(low) - 1 && bus_id[i] != '\0'; i++)
		low[i] = (char)tolower((unsigned char)bus_id[i]);
	const char *name = strlen(low) > 12 ? low + strlen(low) - 12 : low;
	snprintf(path, sizeof(path), "%s/bus/pci/devices/%s/numa_node", root, name);
	if (*tfs_staging_read(path, text, sizeof(text)) == '\0')
		return -1;
	return (int)strtol(text, NULL, 10);
}

void tfs_staging_near(const struct tfs_staging_device *device, int number, const char *root,
	struct tfs_staging_policy *out_policy)
{
	unsigned long nodes[sizeof(out_policy->nodes) / sizeof(out_policy->nodes[0])] = {0};
	const unsigned bits = 8 * sizeof(nodes[0]);
	char bus_id[32] = "";

	*out_policy = (struct tfs_staging_policy){0};
	if (device->bus_id(bus_id, sizeof(bus_id), number) != 0)
		return;
	const int node = tfs_staging_node(root, bus_id);
	if (node < 0 || (unsigned)node >= bits * sizeof(nodes) / sizeof(nodes[0]))
		return;
	nodes[(unsigned)node / bits] |= 1ul << (unsigned)node % bits;
	if (syscall(SYS_get_mempolicy, &out_policy->mode, out_policy->nodes,
		    8 * sizeof(out_policy->nodes), NULL, 0) != 0)
		return;
	out_policy->changed =
		syscall(SYS_set_mempolicy, MPOL_PREFERRED, nodes, 8 * sizeof(nodes)) == 0;
	if (out_policy->changed)
		tfs_recorder_fact(TFS_FACT_staging_node, NULL, (uint64_t)node, 0);
}

void tfs_staging_near_end(const struct tfs_staging_policy *policy)
{
	if (policy->changed)
		syscall(SYS_set_mempolicy, policy->mode, policy->nodes, 8 * sizeof(policy->nodes));
}
