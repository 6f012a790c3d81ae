/* SPDX-License-Identifier: MIT */
/* Call sites: callers of one helper are told apart, hits are verified, stacks are kept whole. */
#include "shim/record/callsite.h"

#include "shim/record/hook.h"
#include "shim/record/unwind.h"
#include "tests/unit/trace/recording.h"

#define ROUNDS 20

static struct tfs_function copy = {.name = "cudaMemcpy", .id = 1};
static struct tfs_function set = {.name = "cudaMemset", .id = 2};

static struct tfs_thread *thread;
static unsigned misses;

/* What a hook does; the site of the call. */
static __attribute__((noinline)) uint32_t hook(struct tfs_function *function)
{
	const uint64_t address = (uint64_t)__builtin_return_address(0);
	const uint64_t frame = (uint64_t)__builtin_dwarf_cfa();
	struct tfs_cache_entry *entry = tfs_callsite_slot(&thread->cache, address, frame);

	if (!tfs_callsite_is(entry, address, frame, function)) {
		struct tfs_cache_entry *room;

		misses +=
			!tfs_callsite_cached(&thread->cache, address, frame, function, NULL, &room);
		entry = tfs_callsite_search(thread, address, frame, function);
		TEST_NEED(entry);
	}
	__asm__ volatile("" : : : "memory");
	return entry->site;
}

static __attribute__((noinline)) uint32_t helper(struct tfs_function *function)
{
	const uint32_t site = hook(function);

	__asm__ volatile("" : : : "memory");
	return site;
}

static __attribute__((noinline)) uint32_t outer_helper(struct tfs_function *function)
{
	const uint32_t site = helper(function);

	__asm__ volatile("" : : : "memory");
	return site;
}

/* Of one shape: their stacks differ in nothing but the return address. */
static __attribute__((noinline)) uint32_t first_caller(struct tfs_function *function)
{
	const uint32_t site = outer_helper(function);

	__asm__ volatile("nop" : : : "memory");
	return site;
}

static __attribute__((noinline)) uint32_t second_caller(struct tfs_function *function)
{
	const uint32_t site = outer_helper(function);

	__asm__ volatile("nop; nop" : : : "memory");
	return site;
}

/* So many, at one depth. */
#define CALLERS 24

#define CALL(n)                                                                                    \
	if (nth == (n)) {                                                                          \
		site = outer_helper(&copy);                                                        \
		__asm__ volatile("nop # " #n : : : "memory");                                      \
	}
#define CALL_4(n) CALL(n) CALL(n + 1) CALL(n + 2) CALL(n + 3)

static __attribute__((noinline)) uint32_t any_caller(unsigned nth)
{
	uint32_t site = 0;

	CALL_4(0)
	CALL_4(4)
	CALL_4(8)
	CALL_4(12)
	CALL_4(16)
	CALL_4(20)
	return site;
}

static void test_short(void)
{
	const uint64_t *frames;
	struct tfs_cache_entry *entry = &thread->cache.entries[0];

	/* No unwinder yet: the calling line alone, to be tried again. */
	tfs_callsite_resolve(thread, entry, 0x1234, 0x7000, &copy);
	TEST_EQ(entry->flags & TFS_SITE_SHORT, TFS_SITE_SHORT);
	TEST_EQ(tfs_callsite_frames(entry->site, &frames), 1);
	TEST_EQ(frames[0], 0x1234);
	TEST_EQ(entry->site, tfs_callsite_single(0x1234));
	TEST_TRUE(tfs_callsite_single(0x1235) != entry->site);
	TEST_EQ(tfs_callsite_frames(0, &frames), 0);
	TEST_EQ(tfs_callsite_frames(1000000, &frames), 0);
	memset(entry, 0, sizeof(*entry));
}

/* Of as many callers as are noted, each one counts, and nothing beyond them. */
static void test_checks(void)
{
	uint64_t stack[TFS_CHECKED_FRAMES];
	struct tfs_cache_entry entry = {
		.address = 1, .frame = (uint64_t)(uintptr_t)stack, .function = &copy};
	unsigned looked_at = 0;

	for (uint32_t i = 0; i < TFS_CHECKED_FRAMES; i++) {
		entry.offsets[i] = i * (uint32_t)sizeof(stack[0]);
		entry.values[i] = stack[i] = 100 + i;
	}
	for (uint16_t checks = 0; checks <= TFS_CHECKED_FRAMES; checks++)
		for (uint32_t i = 0; i < TFS_CHECKED_FRAMES; i++, looked_at++) {
			entry.checks = checks;
			TEST_TRUE(tfs_callsite_is(&entry, 1, entry.frame, &copy));
			TEST_TRUE(!tfs_callsite_is(&entry, 2, entry.frame, &copy));
			TEST_TRUE(!tfs_callsite_is(&entry, 1, entry.frame + 8, &copy));
			TEST_TRUE(!tfs_callsite_is(&entry, 1, entry.frame, &set));
			stack[i]++;
			TEST_EQ(tfs_callsite_is(&entry, 1, entry.frame, &copy), i >= checks);
			stack[i]--;
		}
	TEST_EQ(looked_at, 9 * 8);
}

/* Sites of calls from one line, by both callers in turn or by the first alone. */
static void call(uint32_t *out_sites, struct tfs_function *const *functions, bool both)
{
	misses = 0;
	for (volatile unsigned i = 0; i < ROUNDS; i++)
		out_sites[i] = (both && i % 2 != 0 ? second_caller : first_caller)(functions[i]);
}

static void test_callers(void)
{
	struct tfs_function *functions[ROUNDS];
	uint32_t sites[ROUNDS];

	for (unsigned i = 0; i < ROUNDS; i++)
		functions[i] = &copy;
	call(sites, functions, true);
	TEST_TRUE(sites[0] != 0 && sites[1] != 0 && sites[0] != sites[1]);
	for (unsigned i = 2; i < ROUNDS; i++)
		TEST_EQ(sites[i], sites[i % 2]);
	/* One has the slot that they share; the other is found by where they differ. */
	TEST_EQ(misses, 2);
	functions[ROUNDS - 1] = &set;
	call(sites, functions, false);
	for (unsigned i = 1; i < ROUNDS; i++)
		TEST_EQ(sites[i], sites[0]);
	TEST_EQ(misses, 2);
	/* The same stack, another function: the same site, other totals. */
	const struct tfs_aggregate *copies = tfs_recorder_aggregate(thread, sites[0], copy.id);
	const struct tfs_aggregate *sets = tfs_recorder_aggregate(thread, sites[0], set.id);
	TEST_TRUE(copies && sets && copies != sets);
	TEST_EQ(sets->site, sites[0]);
	TEST_EQ(sets->function, set.id);
}

/* More callers than there are ways in the cache. */
static void test_many_callers(void)
{
	uint32_t sites[CALLERS];

	misses = 0;
	for (volatile unsigned i = 0; i < CALLERS * ROUNDS; i++) {
		const uint32_t site = any_caller(i % CALLERS);

		if (i < CALLERS)
			sites[i] = site;
		TEST_EQ(site, sites[i % CALLERS]);
	}
	for (unsigned i = 1; i < CALLERS; i++)
		for (unsigned k = 0; k < i; k++)
			TEST_TRUE(sites[i] != sites[k]);
	TEST_EQ(misses, CALLERS);
}

static __attribute__((noinline)) uint32_t descend(unsigned levels)
{
	const uint32_t site = levels > 0 ? descend(levels - 1) : hook(&copy);

	__asm__ volatile("" : : : "memory");
	return site;
}

/* As deep as stacks are kept, and deeper: from the inside on. */
static void test_depth(void)
{
	static const unsigned depths[] = {0, 5, 200};
	const uint64_t *frames[3];
	uint32_t counts[3];

	for (volatile unsigned i = 0; i < 3; i++)
		counts[i] = tfs_callsite_frames(descend(depths[i]), &frames[i]);
	TEST_IN(counts[0], 3, 40);
	TEST_EQ(counts[1], counts[0] + 5);
	TEST_EQ(counts[2], TFS_MAX_FRAMES);
	for (unsigned i = 1; i <= 5; i++)
		TEST_EQ(frames[1][i], frames[1][1]);
	for (unsigned i = 1; i < counts[0]; i++)
		TEST_EQ(frames[1][i + 5], frames[0][i]);
	for (unsigned i = 0; i < 3; i++)
		TEST_EQ(frames[i][0], frames[0][0]);
}

int main(void)
{
	const uint64_t *live;
	const uint64_t *read;

	recording_start();
	thread = tfs_recorder_named_thread("test");
	TEST_NEED(thread);
	test_short();
	test_checks();
	tfs_callsite_load();
	if (!tfs_callsite_can_unwind())
		return test_skip("no unwinder");
	test_callers();
	test_many_callers();
	test_depth();
	const uint32_t site = first_caller(&copy);
	const uint32_t count = tfs_callsite_frames(site, &live);
	struct tfs_trace *trace = recording_read();
	TEST_EQ(tfs_trace_frames(trace, site, &read), count);
	TEST_EQ(memcmp(read, live, count * sizeof(*live)), 0);
	TEST_EQ(tfs_trace_header(trace)->lost[TFS_LOSS_stacks_short], 0);
	recording_end(trace);
	return test_result();
}
