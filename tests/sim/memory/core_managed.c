/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/sim/core/core_private.h"

/*
 * Managed memory moves to whoever touches it. Its pages are a file's, so that taking them from the
 * page table loses nothing and shows later which of them the host has touched since: those move
 * when device work names the memory, and the host is charged then for having fetched them. While
 * work is queued that computes with the memory, nobody can tell who touched a page: it moves not.
 */
#define PAGE ((size_t)4096)
/* Pages move in groups, and faults are served for so many at a time. */
#define GROUP_PAGES 16
#define SERVED ((uint64_t)2 << 20)
#define ENTRIES 512

void *sim_managed_map(size_t size)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
	int file = sim.profile->fault.median_ns > 0 ? memfd_create("managed", MFD_CLOEXEC) : -1;
	void *memory = MAP_FAILED;

	if (file >= 0 && ftruncate(file, (off_t)size) == 0)
		memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (file >= 0)
		close(file);
	return memory != MAP_FAILED ? memory
				    : mmap(NULL, size, PROT_READ | PROT_WRITE, flags, -1, 0);
}

static uint64_t groups_in(const uint64_t *entries, size_t count)
{
	uint64_t groups = 0;

	for (size_t i = 0; i < count; i += GROUP_PAGES) {
		bool present = false;

		for (size_t k = i; k < i + GROUP_PAGES && k < count; k++)
			present |= entries[k] >> 63;
		groups += present;
	}
	return groups;
}

/* Bytes of the groups in which the host has touched a page. */
static uint64_t touched(const struct tfsim_range *range)
{
	const int file = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
	const uintptr_t first = (uintptr_t)range->base / PAGE;
	const size_t pages = (range->size + PAGE - 1) / PAGE;
	uint64_t entries[ENTRIES], groups = 0;

	for (size_t at = 0; file >= 0 && at < pages; at += ENTRIES) {
		const size_t count = pages - at < ENTRIES ? pages - at : ENTRIES;
		const ssize_t bytes = (ssize_t)(count * sizeof(*entries));

		if (pread(file, entries, (size_t)bytes, (off_t)((first + at) * sizeof(*entries))) !=
			bytes)
			break;
		groups += groups_in(entries, count);
	}
	if (file >= 0)
		close(file);
	return groups * GROUP_PAGES * PAGE;
}

static void take(const struct tfsim_range *range)
{
	madvise(range->base, (range->size + PAGE - 1) & ~(PAGE - 1), MADV_DONTNEED);
}

static uint64_t move_ns(uint64_t bytes, bool faults)
{
	uint64_t ns = sim_rate_ns(bytes, faults ? SIM_RATE_MIGRATE : SIM_RATE_PINNED_UP);

	for (uint64_t left = faults ? bytes : 0; left; left -= left < SERVED ? left : SERVED)
		ns += sim_draw(&sim.profile->fault);
	return ns;
}

static const struct tfsim_range *managed(const struct tfsim_span *span)
{
	const struct tfsim_range *range = span->address ? sim_range_find(span->address) : NULL;

	return range && range->kind == TFSIM_MANAGED ? range : NULL;
}

/* All of it lies with the host then, touched or not. */
static uint64_t fetch_ns(const struct tfsim_range *range)
{
	const uint64_t there = range->on_device ? range->size : 0, here = touched(range);

	madvise(range->base, (range->size + PAGE - 1) & ~(PAGE - 1), MADV_POPULATE_READ);
	sim_range_move(range->base, false);
	return sim_rate_ns(there > here ? there - here : 0, SIM_RATE_PINNED_DOWN);
}

uint64_t sim_managed_claim(const struct tfsim_work *work)
{
	uint64_t ns = 0;

	if (sim.profile->fault.median_ns <= 0)
		return 0;
	for (unsigned i = 0; i < TFSIM_SPANS; i++) {
		const struct tfsim_range *range = managed(&work->spans[i]);
		const bool comes = range && !work->to_host;
		const uint64_t bytes = comes && !range->users ? touched(range) : 0;

		if (comes && sim_must_run(work))
			sim_range_use(range->base, 1);
		if (range && work->to_host)
			ns += fetch_ns(range);
		if (!bytes)
			continue;
		if (range->on_device)
			sim_call_spend(move_ns(bytes, true));
		ns += move_ns(bytes, !work->prefetch);
		take(range);
		sim_range_move(range->base, true);
	}
	return ns;
}

void sim_managed_return(const struct tfsim_work *work)
{
	if (sim.profile->fault.median_ns <= 0 || !sim_must_run(work) || work->to_host)
		return;
	for (unsigned i = 0; i < TFSIM_SPANS; i++) {
		const struct tfsim_range *range = managed(&work->spans[i]);

		if (range && sim_range_use(range->base, -1) == 0)
			take(range);
	}
}
