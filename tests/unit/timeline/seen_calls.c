/* SPDX-License-Identifier: MIT */
/* Calls as hooks saw them against the same calls as CUPTI saw them: which of them count at all,
 * what one call is, and what was hidden. */
#include "rules/rule.h"
#include "rules/support/arena.h"
#include "rules/timeline/pairs.h"
#include "tests/unit/timeline/laid_out.h"

#define WINDOW_NS 1000u
#define OVER_NS 100000u
#define MAIN 77u
#define STRANGE 99u

/* What CUPTI watches, by its numbers: of the driver the last one. */
enum api { COPY = 1, LAUNCH, FILL, GRAPH, ALLOC, DRIVER_COPY };

static struct tfs_arena arena;
static const struct tfs_pairs *pairs;
static uint32_t correlation;
static uint16_t copy, driver_copy, launch, gemm;

static void put_thread(void)
{
	const struct tfs_thread_record record = {.tid = MAIN};

	builder_thread(builder, 0);
	builder_record(builder, TFS_RECORD_thread, &record, sizeof(record));
}

static void begin(void)
{
	builder = builder_create();
	correlation = 0;
	put_thread();
	copy = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy");
	driver_copy = builder_function(builder, TFS_LIBRARY_cuda, TFS_FAMILY_copy, "cuMemcpy");
	launch = builder_function(
		builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "cudaLaunchKernel");
	gemm = builder_function(builder, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2");
	builder_api(builder, TFS_LIBRARY_cudart, TFS_FAMILY_copy, COPY, "cudaMemcpy");
	builder_api(builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, LAUNCH, "cudaLaunchKernel");
	builder_api(builder, TFS_LIBRARY_cudart, TFS_FAMILY_set_async, FILL, "cudaMemsetAsync");
	builder_api(builder, TFS_LIBRARY_cudart, TFS_FAMILY_alloc_async, ALLOC, "cudaMallocAsync");
	builder_api(builder, TFS_LIBRARY_cudart, TFS_FAMILY_graph_launch, GRAPH, "cudaGraphLaunch");
	builder_api(builder, TFS_LIBRARY_cuda, TFS_FAMILY_copy, DRIVER_COPY, "cuMemcpy");
	builder_window(builder, true, 1, WINDOW_NS, 3);
}

/* The last window's end, if that has not come yet. */
static void find(bool open)
{
	if (open)
		builder_window(builder, false, 1, OVER_NS, 3);
	lay_out();
	pairs = tfs_pairs_find(timeline, &arena);
	TEST_NEED(pairs);
}

static void done(void)
{
	tfs_arena_finish(&arena);
	end();
}

/* A wrapped call of half a microsecond; its unit. */
static uint32_t put(uint16_t function, uint64_t ns)
{
	return builder_call(builder,
		&(struct builder_call){.function = function, .start_ns = ns, .duration_ns = 500});
}

/* And CUPTI's record of a call. */
static void see(enum api api, uint32_t tid, uint64_t ns, uint32_t duration_ns)
{
	builder_device_api(builder, api == DRIVER_COPY ? TFS_LIBRARY_cuda : TFS_LIBRARY_cudart,
		(uint16_t)api, ++correlation, tid, ns, duration_ns);
}

/* The same in a wrapped call. */
static void see_in(uint32_t unit, enum api api, uint64_t ns)
{
	see(api, MAIN, ns, 100);
	builder_link(builder, unit, correlation);
}

static void is_pair(const char *name, uint64_t hooks, uint64_t cupti, uint64_t hidden)
{
	for (size_t i = 0; i < pairs->count; i++) {
		const struct tfs_pair *pair = &pairs->pairs[i];

		if (strcmp(pair->name, name))
			continue;
		if (!TEST_EQ(pair->hooks, hooks) || !TEST_EQ(pair->cupti, cupti) ||
			!TEST_EQ(pair->hidden, hidden))
			printf("  of %s\n", name);
		return;
	}
	if (!TEST_EQ(hooks + cupti, 0))
		printf("  of %s\n", name);
}

/* In a window in which both looked, whole or seen by both; a call that a thread is in from before
 * the window is one that hooks had to see before. */
static void windows(void)
{
	begin();
	put(copy, 300);
	see(COPY, MAIN, 900, 10); /* before it */
	see(COPY, MAIN, 1500, 10);
	put(copy, 2000);
	see(COPY, MAIN, 2700, 10);
	put(launch, OVER_NS - 300);
	see_in(put(copy, OVER_NS - 400), COPY, OVER_NS - 350);
	builder_window(builder, false, 1, OVER_NS, 3);
	builder_window(builder, true, 2, OVER_NS + 10000, 1);
	put(copy, OVER_NS + 15000);
	put(launch, OVER_NS + 16000);
	builder_window(builder, false, 2, OVER_NS + 20000, 1);
	find(false);
	is_pair("cudaMemcpy", 2, 2, 1);
	is_pair("cudaLaunchKernel", 0, 0, 0);
	TEST_EQ(pairs->launches, 1);
	done();
}

/* A runtime call and the driver's inside it are one, whichever of them a wrapped call is known for;
 * what a library calls is that library's. */
static void nested(void)
{
	uint32_t unit;

	begin();
	put(launch, 2000);
	see(DRIVER_COPY, MAIN, 5000, 100);
	see(COPY, MAIN, 5000, 200);
	see(COPY, MAIN, 6990, 400); /* by another clock */
	unit = put(copy, 7000);
	see_in(unit, DRIVER_COPY, 7100);
	unit = put(driver_copy, 8000);
	see_in(unit, DRIVER_COPY, 8100);
	unit = put(gemm, 9000);
	see_in(unit, LAUNCH, 9100);
	see_in(unit, FILL, 9250);
	find(true);
	is_pair("cudaMemcpy", 1, 2, 1);
	is_pair("cuMemcpy", 1, 1, 0);
	TEST_EQ(pairs->within[0][TFS_WORK_COPY], 1);
	TEST_EQ(pairs->within[TFS_LIBRARY_cublas][TFS_WORK_LAUNCH], 1);
	TEST_EQ(pairs->within[TFS_LIBRARY_cublas][TFS_WORK_SET], 1);
	TEST_EQ(pairs->hooks, 3);
	TEST_EQ(pairs->cupti, 3);
	done();
}

static bool is_hidden(uint32_t about, const char *name)
{
	const struct tfs_pair *pair = tfs_pairs_hidden(pairs, about);

	return pair && !strcmp(pair->name, name);
}

/* What went unseen, by what it is about; a thread that makes no wrapped call hides nothing of those
 * that do. */
static void hidden(void)
{
	begin();
	put(copy, 2000);
	see(GRAPH, MAIN, 5000, 100);
	see(ALLOC, MAIN, 6000, 100);
	see(FILL, MAIN, 7000, 100);
	see(FILL, STRANGE, 7500, 100);
	see(COPY, STRANGE, 8000, 100);
	find(true);
	is_pair("cudaMemcpy", 1, 1, 0);
	is_pair("cudaMemsetAsync", 0, 2, 1);
	TEST_EQ(pairs->strange_threads, 1);
	TEST_EQ(pairs->within[0][TFS_WORK_SET], 2);
	TEST_TRUE(is_hidden(TFS_ABOUT_LAUNCHES, "cudaGraphLaunch"));
	TEST_TRUE(is_hidden(TFS_ABOUT_MEMORY, "cudaMallocAsync"));
	TEST_TRUE(is_hidden(TFS_ABOUT_SETS, "cudaMemsetAsync"));
	TEST_TRUE(!tfs_pairs_hidden(pairs, TFS_ABOUT_COPIES));
	TEST_TRUE(!tfs_pairs_hidden(pairs, TFS_ABOUT_WAITS));
	/* Those of one gap by their names, behind the larger one. */
	TEST_NEED(pairs->count == 4);
	TEST_STR(pairs->pairs[0].name, "cudaMemsetAsync");
	TEST_STR(pairs->pairs[1].name, "cudaGraphLaunch");
	TEST_STR(pairs->pairs[2].name, "cudaMallocAsync");
	TEST_STR(pairs->pairs[3].name, "cudaMemcpy");
	done();
}

/* Two of a hundred are no gap. */
static void gaps(void)
{
	static const struct {
		uint64_t hooks, cupti, hidden;
		bool differs, hides;
	} cases[] = {{50, 49, 0, false, false}, {49, 50, 1, false, false}, {49, 48, 0, true, false},
		{48, 49, 1, true, true}, {0, 0, 0, false, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct tfs_pair pair = {.name = "f",
			.hooks = cases[i].hooks,
			.cupti = cases[i].cupti,
			.hidden = cases[i].hidden,
			.about = TFS_ABOUT_COPIES};
		const struct tfs_pairs one = {.pairs = &pair, .count = 1};

		if (!TEST_EQ(tfs_pair_differs(&pair), cases[i].differs) ||
			!TEST_EQ(tfs_pairs_hidden(&one, TFS_ABOUT_COPIES) == &pair, cases[i].hides))
			printf("  in case %zu\n", i);
	}
}

static void put_memory(uint16_t operation, enum tfs_memory_kind memory, uint32_t id)
{
	const struct tfs_device_memory_record record = {.operation = operation,
		.correlation = id,
		.bytes = 4096,
		.memory = (uint32_t)memory};

	builder_record(builder, TFS_RECORD_device_memory, &record, sizeof(record));
}

/* Device memory that is allocated, by whose call that was. */
static void memory(void)
{
	begin();
	see_in(put(gemm, 2000), LAUNCH, 2100);
	put_memory(1, TFS_MEMORY_DEVICE, correlation);
	put_memory(2, TFS_MEMORY_DEVICE, correlation);
	put_memory(1, TFS_MEMORY_PINNED, correlation);
	put_memory(1, TFS_MEMORY_DEVICE, 4711);
	put_memory(1, TFS_MEMORY_DEVICE, 4712);
	find(true);
	TEST_EQ(pairs->allocations[TFS_LIBRARY_cublas], 1);
	TEST_EQ(pairs->allocated[TFS_LIBRARY_cublas], 4096);
	TEST_EQ(pairs->allocations[0], 2);
	TEST_EQ(pairs->allocated[0], 8192);
	done();
}

/* A launch, with its kernel's record or without. */
static void put_launch(uint64_t ns, bool seen, uint16_t status)
{
	const struct builder_call call = {
		.function = launch, .start_ns = ns, .duration_ns = 100, .status = status};

	builder_link(builder, builder_call(builder, &call), ++correlation);
	if (seen)
		builder_device_op(
			builder, TFS_DEVICE_KERNEL, 1, 7, correlation, ns + 200, ns + 300, 0);
}

/* Of launches that worked each has a kernel, or one is missing. What other tools did not wait for
 * at the end is not. */
static void launches(bool imported)
{
	begin();
	if (imported)
		builder_fact(builder, TFS_FACT_imported, "a tool", 0);
	put_launch(2000, true, 0);
	put_launch(3000, false, 0);
	put_launch(4000, true, 0);
	put_launch(5000, false, 1);
	put_launch(6000, false, 0);
	put_launch(7000, false, 0);
	find(true);
	TEST_EQ(pairs->launches, imported ? 3 : 5);
	TEST_EQ(pairs->launched, 2);
	TEST_EQ(pairs->queued, imported ? 2 : 0);
	done();
}

/* A capture that began before a window says nothing of the window before that. */
static void capture_in_the_next_window(void)
{
	const uint64_t next_ns = OVER_NS + 1000;

	begin();
	put_launch(2000, true, 0);
	builder_window(builder, false, 1, OVER_NS, 3);
	builder_window(builder, true, 2, next_ns, 3);
	put_launch(next_ns + 1000, false, 0);
	put(builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_capture_end, "e"),
		next_ns + 2000);
	put_launch(next_ns + 3000, true, 0);
	builder_window(builder, false, 2, next_ns + 9000, 3);
	find(false);
	TEST_EQ(pairs->launches, 2);
	TEST_EQ(pairs->launched, 2);
	done();
}

int main(void)
{
	windows();
	nested();
	hidden();
	gaps();
	memory();
	launches(false);
	launches(true);
	capture_in_the_next_window();
	return test_result();
}
