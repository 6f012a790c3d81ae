/* SPDX-License-Identifier: MIT */
/* TFS610: what measurements say of the products that cuBLASLt computes. */
#include <math.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 60u
#define QUESTION 4711u

struct run {
	bool measured;
	bool faster; /* as the measurement says: by more than chance */
	bool noisy;  /* faster, and perhaps by chance */
	bool first;
	uint64_t own_workspace, best_workspace;
	uint64_t asks; /* what the product's question is; 0 = not recorded */
	bool asked_again;
	bool on; /* lt-search */
	uint32_t refused;
};

static void tell(struct scene *scene, const struct run *run)
{
	struct builder *builder = scene_builder(scene);
	const struct tfs_product_record product = {.tried = 8,
		.flags = (run->faster ? 1u : 0) | (run->first ? 2u : 0),
		.question = QUESTION,
		.own_ms = 0.2f,
		.best_ms = run->faster || run->noisy ? 0.1f : 0.195f,
		.own_workspace = run->own_workspace,
		.best_workspace = run->best_workspace,
		.most_workspace = 32u << 20};
	const struct tfs_rewrite_record rewrite = {
		.state = run->on ? TFS_REWRITE_APPLY : TFS_REWRITE_OFF,
		.name = builder_string(builder, "lt-search"),
		.predicted_ns = NAN,
		.realised_ns = NAN,
		.class = 1};
	const struct tfs_refusal_record refusals[] = {
		{.rewrite = rewrite.name, .check = TFS_CHECK_not_capturing, .count = 1},
		{.rewrite = rewrite.name, .check = (uint16_t)run->refused, .count = 2},
		{.rewrite = builder_string(builder, "memoise"),
			.check = TFS_CHECK_constant,
			.count = 9},
	};

	if (run->measured)
		builder_record(builder, TFS_RECORD_product, &product, sizeof(product));
	builder_record(builder, TFS_RECORD_rewrite, &rewrite, sizeof(rewrite));
	for (size_t i = 0; run->refused && i < 3; i++)
		builder_record(builder, TFS_RECORD_refusal, &refusals[i], sizeof(refusals[i]));
}

static void step(struct scene *scene, const struct run *run, uint64_t memory)
{
	struct builder_call call;

	scene_step(scene);
	if (run->asked_again) {
		call = scene_call(scene, 9, SCENE_LEGACY, TFS_LIBRARY_cublaslt,
			TFS_FAMILY_workspace_query, "cublasLtMatmulAlgoGetHeuristic");
		builder_attribute(&call, TFS_ATTRIBUTE_question, 1);
		scene_make(scene, &call, 0);
	}
	call = scene_call(
		scene, 10, SCENE_LEGACY, TFS_LIBRARY_cublaslt, TFS_FAMILY_gemm, "cublasLtMatmul");
	builder_operand(&call, TFS_ROLE_READ, memory, 1 << 20);
	if (run->asks)
		builder_attribute(&call, TFS_ATTRIBUTE_question, run->asks);
	scene_make(scene, &call, 200000);
	/* One that fails, and one of another library, are none of these. */
	call.status = 7;
	scene_make(scene, &call, 0);
	call = scene_call(
		scene, 12, SCENE_LEGACY, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2");
	scene_make(scene, &call, 1000);
	scene_device_sync(scene, 11);
}

static struct scene *make(const struct run *run)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	tell(scene, run);
	for (unsigned i = 0; i < STEPS; i++)
		step(scene, run, memory);
	scene_judge(scene, NULL);
	return scene;
}

static void larger_workspace(void)
{
	const struct run run = {.measured = true,
		.faster = true,
		.first = true,
		.best_workspace = 3u << 20,
		.asks = QUESTION,
		.on = true};
	struct scene *scene = make(&run);
	const struct tfs_finding *finding = scene_finding(scene, "TFS610", 10);

	TEST_NEED(finding);
	TEST_EQ(scene_findings(scene, "TFS610"), 1);
	TEST_EQ(finding->level, TFS_LEVEL_WARN);
	TEST_IN(finding->cost.ns, 98000, 102000);
	TEST_EQ(finding->cost.method, TFS_COST_REPLAY);
	TEST_TRUE(strstr(
		finding->message, "in 200 \xc2\xb5s with no workspace, where the first answer"));
	TEST_TRUE(strstr(finding->message, "measured 100 \xc2\xb5s with a workspace of 3.00 MiB"));
	TEST_TRUE(strstr(finding->advice, "MAX_WORKSPACE_BYTES set to 32.0 MiB, and give"));
	TEST_TRUE(strstr(finding->advice, "(here 3.00 MiB)"));
	TEST_TRUE(strstr(finding->advice, "CUBLASLT_WORKSPACE_SIZE"));
	TEST_TRUE(!finding->repair.name);
	scene_destroy(scene);
}

static void another_answer(void)
{
	const struct run run = {.measured = true,
		.faster = true,
		.own_workspace = 4u << 20,
		.best_workspace = 1u << 20,
		.asks = QUESTION,
		.asked_again = true,
		.on = true};
	struct scene *scene = make(&run);
	const struct tfs_finding *finding = scene_finding(scene, "TFS610", 10);

	TEST_NEED(finding);
	TEST_TRUE(strstr(finding->message, "where another answer"));
	TEST_TRUE(strstr(finding->advice, "for eight answers"));
	TEST_TRUE(strstr(finding->advice, "set to 4.00 MiB and once more with 32.0 MiB"));
	TEST_TRUE(!strstr(finding->advice, "PyTorch"));
	scene_destroy(scene);
}

static void judged(const struct run *run, enum tfs_state state, const char *why)
{
	struct scene *scene = make(run);
	bool held = TEST_EQ(scene_state(scene, "TFS610"), state);

	held &= TEST_TRUE(strstr(scene_reason(scene, "TFS610"), why));
	if (!TEST_EQ(scene_findings(scene, "TFS610"), 0) || !held)
		scene_print(scene);
	scene_destroy(scene);
}

int main(void)
{
	static const struct run best = {.measured = true, .asks = QUESTION, .on = true};
	static const struct run noisy = {
		.measured = true, .noisy = true, .asks = QUESTION, .on = true};
	static const struct run off = {.asks = QUESTION};
	static const struct run busy = {
		.asks = QUESTION, .on = true, .refused = TFS_CHECK_streams_idle};
	static const struct run unknown = {.measured = true, .faster = true, .on = true};
	static const struct run other = {
		.measured = true, .faster = true, .asks = QUESTION + 1, .on = true};

	larger_workspace();
	another_answer();
	judged(&best, TFS_STATE_PASSED, "60 calls are within 5 % of the fastest measured");
	judged(&noisy, TFS_STATE_NOT_MEASURABLE,
		"60 calls of cublasLtMatmul with times that differ");
	judged(&off, TFS_STATE_NOT_MEASURABLE, "60 calls of cublasLtMatmul: lt-search was off");
	judged(&busy, TFS_STATE_NOT_MEASURABLE, "calls of cublasLtMatmul: the device was busy");
	judged(&unknown, TFS_STATE_NOT_MEASURABLE, "for 60 calls of cublasLtMatmul");
	judged(&other, TFS_STATE_NOT_MEASURABLE, "for 60 calls of cublasLtMatmul");
	return test_result();
}
