/* SPDX-License-Identifier: MIT */
/* lt-search times a product by each answer of a made-up cuBLASLt, on a made-up device: what is
 * asked, on what and in which order it is run, and what is made of the times. */
#include "tests/unit/rewrites/made_up_cublaslt.h"

static struct tfs_product_call call;
static uint64_t until_ns;

static void begin(void)
{
	memset(questions, 0, sizeof(questions));
	memset(workspace_of, 0, sizeof(workspace_of));
	more_workspace = 0;
	call = (struct tfs_product_call){.handle = (cublasLtHandle_t)(void *)&lt,
		.product = (cublasLtMatmulDesc_t)(void *)&product,
		.matrices = {(void *)16, (void *)64, (void *)256, (void *)256},
		.alpha = &one,
		.beta = &zero,
		.algorithm = &own_algorithm,
		.stream = (cudaStream_t)(void *)&programs_stream};
	for (unsigned i = 0; i < 4; i++)
		call.layouts[i] = (cublasLtMatrixLayout_t)(void *)&layouts[i];
	device.stream = (CUstream)(void *)&own_stream;
	tfs_options = (struct tfs_options){.search_ms = 2000,
		.search_workspace_bytes = 256 * MIB,
		.search_memory_bytes = 1024 * MIB};
	for (unsigned i = 0; i < ALGORITHMS; i++)
		cost(i, 1);
	now_ns = 1000;
	until_ns = 1000000;
	matmul_ns = 0;
}

static struct tfs_lt_measured found;

static enum tfs_lt_result measure(void)
{
	question = 0;
	sample_count = 0;
	memset(samples, 0, sizeof(samples));
	memset(sampled, 0, sizeof(sampled));
	memset(&found, 0xff, sizeof(found));
	const enum tfs_lt_result result = tfs_lt_measure(&device, &call, until_ns, &found);
	TEST_EQ(scratches, 0);
	TEST_EQ(copies, 0);
	TEST_EQ(events, 0);
	TEST_EQ(preferences, 0);
	return result;
}

#define NEAR(got, want) TEST_IN(got, (want)-1e-5, (want) + 1e-5)

/* The median of five, and how far they lie apart; what warms up is not among them. */
static void check_summary(void)
{
	static const float mine[SAMPLES] = {9, 1, 1.2f, 1.0f, 1.1f, 1.4f, 1.3f, 9};
	static const float its[SAMPLES] = {9, 0.8f, 0.5f, 0.6f, 0.9f, 0.7f, 9};

	begin();
	answer(1, 1, 4096);
	memcpy(costs[OWN], mine, sizeof(mine));
	memcpy(costs[1], its, sizeof(its));
	TEST_EQ(measure(), TFS_LT_DONE);
	NEAR(found.own.median_ms, 1.2);
	NEAR(found.own.spread_ms, 0.4);
	TEST_EQ(found.own.workspace, 0);
	NEAR(found.best.median_ms, 0.7);
	NEAR(found.best.spread_ms, 0.4);
	TEST_EQ(found.best.workspace, 4096);
	TEST_EQ(found.tried, 1);
	TEST_TRUE(!found.clear && found.first);
	cost(1, 0.5f);
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_TRUE(found.clear);
}

/* The fastest of all, and whether it is what cuBLASLt would have put first. */
static void check_best(void)
{
	begin();
	answer(0, 1, 0);
	answer(0, 2, 0);
	answer(1, 3, 64);
	answer(1, 4, 128);
	TEST_EQ(measure(), TFS_LT_DONE);
	/* None is faster: the program's own. */
	TEST_TRUE(!found.clear && !found.first);
	TEST_EQ(found.best.workspace, 0);
	TEST_EQ(found.tried, 4);
	for (unsigned best = 1; best <= 4; best++) {
		for (unsigned i = 1; i <= 4; i++)
			cost(i, i == best ? 0.5f : 0.7f);
		TEST_EQ(measure(), TFS_LT_DONE);
		NEAR(found.best.median_ms, 0.5);
		TEST_EQ(found.best.workspace, workspace_of[best]);
		TEST_EQ(found.first, best == 3);
		TEST_TRUE(found.clear);
	}
	/* An answer that is none is passed over. */
	cost(3, 0.1f);
	questions[1].list[0].state = CUBLAS_STATUS_NOT_SUPPORTED;
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(found.tried, 3);
	TEST_EQ(found.best.workspace, 128);
	TEST_TRUE(found.first);
	/* With the largest workspace nothing is answered. */
	cost(1, 0.1f);
	questions[1].refused = true;
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(found.tried, 2);
	TEST_TRUE(found.clear && !found.first);
}

/* What is answered twice is one, and so is what the program has: but with more memory it is not. */
static void check_known(void)
{
	begin();
	answer(0, 1, 64);
	answer(0, OWN, 0);
	answer(1, OWN, 0);
	answer(1, 1, 64);
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(found.tried, 1);
	TEST_TRUE(found.first);
	cost(1, 0.5f);
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_TRUE(!found.first);
	/* With less it is the same one. */
	questions[1].list[1].workspaceSize = 32;
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(found.tried, 1);
	/* With more it is another. */
	begin();
	answer(0, 1, 32);
	answer(1, 1, 64);
	more_workspace = 32;
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(found.tried, 2);
	/* What cuBLASLt chooses by itself is not known to be any of them. */
	begin();
	answer(0, 1, 0);
	call.algorithm = NULL;
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(found.tried, 1);
}

/* Once with the program's workspace, once with the largest that may be asked for. */
static void check_workspaces(void)
{
	static const struct {
		uint64_t own, option, most;
	} cases[] = {{0, 256 * MIB, 32 * MIB}, {4096, 256 * MIB, 32 * MIB}, {4096, MIB, MIB},
		{2 * MIB, MIB, 2 * MIB}, {64 * MIB, 256 * MIB, 64 * MIB}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		answer(0, 1, 0);
		answer(1, 2, 0);
		call.workspace_bytes = workspace_of[OWN] = cases[i].own;
		tfs_options.search_workspace_bytes = cases[i].option;
		TEST_EQ(measure(), TFS_LT_DONE);
		TEST_EQ(question, 2);
		TEST_EQ(questions[0].workspace, cases[i].own);
		TEST_EQ(questions[1].workspace, cases[i].most);
		TEST_EQ(scratch_workspace, cases[i].most);
		TEST_EQ(scratch_most, 1024 * MIB);
		TEST_EQ(found.own.workspace, cases[i].own);
		TEST_EQ(found.most_workspace, cases[i].most);
		TEST_EQ(found.tried, 2);
	}
}

/* Once each, the program's twice, and then in turns, of which each other is the other way round. */
static void check_order(void)
{
	static const uint8_t order[] = {0, 1, 2, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2, 2, 1, 0, 0, 1, 2};

	begin();
	answer(0, 1, 0);
	answer(1, 2, 0);
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(sample_count, sizeof(order));
	for (unsigned i = 0; i < sample_count; i++) {
		TEST_EQ(samples[i].algorithm, order[i]);
		TEST_EQ(samples[i].calls, 1);
	}
}

/* So many calls that a round takes a fifth of a millisecond: but twenty at most. */
static void check_calls(void)
{
	static const struct {
		float ms;
		uint8_t calls;
	} cases[] = {{3, 1}, {0.15f, 2}, {0.03f, 7}, {0.0111f, 19}, {0.009f, 20}, {0.001f, 20}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		answer(0, 1, 0);
		cost(OWN, cases[i].ms);
		cost(1, cases[i].ms / 2);
		TEST_EQ(measure(), TFS_LT_DONE);
		for (unsigned k = 0; k < sample_count; k++)
			TEST_EQ(samples[k].calls, k < 3 ? 1 : cases[i].calls);
		NEAR(found.own.median_ms, cases[i].ms);
		NEAR(found.best.median_ms, cases[i].ms / 2);
	}
}

/* What is hopeless or fails is not run again, and never the best. */
static void check_out(void)
{
	begin();
	answer(0, 1, 0);
	answer(0, 2, 0);
	answer(1, 3, 0);
	answer(1, 4, 0);
	cost(1, 1.4f);
	cost(2, 1.6f);
	cost(3, 0.1f);
	costs[3][0] = -1;
	cost(4, 0.1f);
	costs[4][3] = -1;
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(sampled[OWN], 7);
	TEST_EQ(sampled[1], 6);
	TEST_EQ(sampled[2], 2);
	TEST_EQ(sampled[3], 1);
	TEST_EQ(sampled[4], 4);
	NEAR(found.best.median_ms, 1);
	TEST_EQ(found.tried, 4);
	/* Hopeless is told by the first round, in which the program's own comes first. */
	cost(2, 0.9f);
	costs[2][2] = 9;
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(sampled[2], 6);
	NEAR(found.best.median_ms, 0.9);
	/* The program's own does not fail. */
	for (unsigned i = 0; i < 7; i++) {
		cost(OWN, 1);
		costs[OWN][i] = -1;
		TEST_EQ(measure(), TFS_LT_FAILED);
		TEST_EQ(sampled[OWN], i + 1);
	}
}

/* Nothing is begun too late, and nothing is said of what other work came in between of. */
static void check_limits(void)
{
	begin();
	answer(0, 1, 0);
	matmul_ns = 100;
	/* Two to warm up and one more, then ten. */
	until_ns = now_ns + 1200;
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_EQ(sample_count, 13);
	for (unsigned begun = 1; begun <= 12; begun++) {
		now_ns = 1000;
		until_ns = now_ns + 100 * begun - 1;
		TEST_EQ(measure(), TFS_LT_NO_TIME);
		/* How long a call takes is asked for straight after the first ones. */
		TEST_EQ(sample_count, begun == 2 ? 3 : begun);
	}
	begin();
	answer(0, 1, 0);
	busy = true;
	TEST_EQ(measure(), TFS_LT_BUSY);
	busy = false;
	TEST_TRUE((char *)idle_stream == &programs_stream);
	TEST_EQ(idle_ns, 200000);
}

static void check_refusals(void)
{
	begin();
	TEST_EQ(measure(), TFS_LT_FAILED);
	TEST_EQ(sample_count, 0);
	answer(1, 1, 0);
	questions[1].refused = true;
	TEST_EQ(measure(), TFS_LT_FAILED);
	questions[1].refused = false;
	no_preference = true;
	TEST_EQ(measure(), TFS_LT_FAILED);
	TEST_EQ(question, 0);
	no_preference = false;
	no_scratch = true;
	TEST_EQ(measure(), TFS_LT_NO_MEMORY);
	no_scratch = false;
	no_copy = true;
	TEST_EQ(measure(), TFS_LT_FAILED);
	no_copy = false;
	for (no_event = 1; no_event <= 2; no_event++)
		TEST_EQ(measure(), TFS_LT_FAILED);
	no_event = 0;
	TEST_EQ(measure(), TFS_LT_DONE);
	TEST_TRUE(tfs_lt_measurable());
}

int main(void)
{
	check_summary();
	check_best();
	check_known();
	check_workspaces();
	check_order();
	check_calls();
	check_out();
	check_limits();
	check_refusals();
	return test_result();
}
