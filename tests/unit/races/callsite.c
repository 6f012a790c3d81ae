/* SPDX-License-Identifier: MIT */
/*
 * Many threads meet the same call sites first while the unwinder is being loaded, and others read
 * the frames that are kept of them.
 */
#include <pthread.h>

#include "shim/record/callsite.h"
#include "shim/record/hook.h"
#include "shim/record/unwind.h"
#include "tests/unit/trace/recording.h"

#define THREADS 6
#define ROUNDS 4
#define CALLS 400u
#define DEEPEST 12u

static struct tfs_function copy = {.name = "cudaMemcpy", .id = 1};
static struct tfs_function set = {.name = "cudaMemset", .id = 2};
static atomic_ulong misses, short_stacks, looks;
static _Atomic uint32_t newest;
static atomic_bool over;

/* What a hook does. */
static __attribute__((noinline)) uint32_t hook(
	struct tfs_thread *thread, struct tfs_function *function)
{
	const uint64_t address = (uint64_t)__builtin_return_address(0);
	const uint64_t frame = (uint64_t)__builtin_dwarf_cfa();
	struct tfs_cache_entry *entry = tfs_callsite_slot(&thread->cache, address, frame);

	if (!tfs_callsite_is(entry, address, frame, function) ||
		((entry->flags & TFS_SITE_SHORT) != 0 && tfs_callsite_can_unwind())) {
		TEST_TRUE(tfs_callsite_resolve(thread, entry, address, frame, function));
		atomic_fetch_add(&misses, 1);
		atomic_fetch_add(&short_stacks, (entry->flags & TFS_SITE_SHORT) != 0);
	}
	return entry->site;
}

static __attribute__((noinline)) uint32_t descend(
	struct tfs_thread *thread, struct tfs_function *function, unsigned levels)
{
	const uint32_t site =
		levels > 0 ? descend(thread, function, levels - 1) : hook(thread, function);

	__asm__ volatile("" : : : "memory");
	return site;
}

/* Relaxed: what keeps the reader right is not this. */
static void show(uint32_t site)
{
	atomic_store_explicit(&newest, site, memory_order_relaxed);
}

static void *call(void *nothing)
{
	struct tfs_thread *thread = tfs_recorder_named_thread("calls");

	TEST_NEED(thread);
	for (unsigned i = 0; i < CALLS; i++) {
		const uint32_t site =
			descend(thread, i % 3 == 0 ? &set : &copy, i * 7 % (DEEPEST + 1));

		TEST_TRUE(site != 0);
		show(site);
		show(tfs_callsite_single(0x1000 + i % 50));
	}
	return nothing;
}

static void *look(void *nothing)
{
	const uint64_t *frames;

	while (!atomic_load(&over)) {
		const uint32_t site = atomic_load_explicit(&newest, memory_order_relaxed);
		const uint32_t depth = tfs_callsite_frames(site, &frames);

		for (uint32_t i = 0; i < depth; i++)
			TEST_TRUE(frames[i] != 0);
		atomic_fetch_add(&looks, 1);
	}
	return nothing;
}

static void *load(void *nothing)
{
	while (atomic_load(&short_stacks) == 0)
		sched_yield();
	tfs_callsite_load();
	return nothing;
}

int main(void)
{
	pthread_t threads[THREADS], looker, loader;

	recording_start();
	TEST_NEED(pthread_create(&looker, NULL, look, NULL) == 0);
	TEST_NEED(pthread_create(&loader, NULL, load, NULL) == 0);
	for (int round = 0; round < ROUNDS; round++) {
		for (int i = 0; i < THREADS; i++)
			TEST_NEED(pthread_create(&threads[i], NULL, call, NULL) == 0);
		for (int i = 0; i < THREADS; i++)
			pthread_join(threads[i], NULL);
	}
	pthread_join(loader, NULL);
	for (int i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, call, NULL) == 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	atomic_store(&over, true);
	pthread_join(looker, NULL);

	struct tfs_trace *trace = recording_read();
	TEST_TRUE(tfs_trace_count(trace, TFS_RECORD_site) > DEEPEST);
	printf("%u calls of %d threads, %lu unwound, %lu of them before there was an unwinder, %zu sites, %lu looks\n",
		(ROUNDS + 1) * THREADS * CALLS, (ROUNDS + 1) * THREADS, misses, short_stacks,
		tfs_trace_count(trace, TFS_RECORD_site), looks);
	recording_end(trace);
	return test_result();
}
