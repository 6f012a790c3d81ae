/* SPDX-License-Identifier: MIT */
/* TFS304, TFS707: kernels launched in rows, and switches that are left on. */
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define MIB (UINT64_C(1) << 20)

struct row {
	bool own; /* kernels of the program; else products */
	unsigned count, rows;
	uint64_t uneven; /* where the tenth lies besides */
	uint64_t ns;
	double beta; /* of every other product */
	enum tfs_state state;
	const char *says;
};

static void launch(struct scene *scene, const struct row *row, unsigned nth, uint64_t memory)
{
	const uint64_t at = memory + nth * 8192 + (nth == 10 ? row->uneven : 0);
	struct builder_call call = scene_call(
		scene, 10, SCENE_LEGACY, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2");
	const double beta = nth % 2 ? row->beta : 0;
	uint64_t bits;

	if (row->own) {
		scene_launch(scene, 10, SCENE_LEGACY, row->ns, 1024, 1, &at);
		return;
	}
	memcpy(&bits, &beta, sizeof(bits));
	builder_operand(&call, TFS_ROLE_READ, at + 8 * MIB, 4096);
	builder_operand(&call, TFS_ROLE_WRITE, at, 4096);
	builder_attribute(&call, TFS_ATTRIBUTE_beta, bits);
	scene_make(scene, &call, row->ns);
}

static void check(const struct row *row)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 16 * MIB);
	const struct tfs_finding *finding;
	bool held;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < row->rows; j++) {
			for (unsigned k = 0; k < row->count; k++)
				launch(scene, row, k, memory);
			scene_set(scene, 11, memory, 16 * MIB, 1);
		}
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS304", 10);
	held = TEST_EQ(scene_state(scene, "TFS304"), row->state);
	held &= TEST_STR(finding ? finding->message : scene_reason(scene, "TFS304"), row->says);
	if (finding)
		held &= TEST_EQ(strncmp(finding->advice,
					row->own ? "If no launch uses what another one of them"
						 : "Multiply all of them with one call",
					30),
			0);
	if (!held)
		scene_print(scene);
	scene_destroy(scene);
}

/* What a switch that is left on does. */
static void left_on(const char *name, const char *says)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, MIB);
	const struct tfs_finding *finding;

	builder_fact(
		scene_builder(scene), name ? TFS_FACT_debug_switch : TFS_FACT_debug_none, name, 0);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 50000, 1024, 1, &memory);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS707", 0);
	TEST_EQ(finding != NULL, name != NULL);
	TEST_STR(finding ? finding->message : scene_reason(scene, "TFS707"), says);
	scene_destroy(scene);
}

int main(void)
{
	static const char none[] =
		"no small kernel is launched 32 times in a row on data that lies evenly apart and could be one launch";
	static const struct row rows[] = {
		{true, 40, 1, 0, 2000, 0, TFS_STATE_VIOLATED,
			"launches one kernel 40 times in a row on data that lies evenly apart; 1 such row per step"},
		{true, 40, 2, 0, 2000, 0, TFS_STATE_VIOLATED,
			"launches one kernel 40 times in a row on data that lies evenly apart; 2 such rows per step"},
		{false, 32, 1, 0, 2000, 0, TFS_STATE_VIOLATED,
			"multiplies matrices of one shape 32 times in a row on data that lies evenly apart; 1 such row per step"},
		{true, 31, 1, 0, 2000, 0, TFS_STATE_PASSED, none},
		{false, 31, 1, 0, 2000, 0, TFS_STATE_PASSED, none},
		/* Not of one distance, or of one factor; or each has enough to do. */
		{false, 40, 1, 512, 2000, 0, TFS_STATE_PASSED, none},
		{false, 40, 1, 0, 2000, 1, TFS_STATE_PASSED, none},
		{false, 40, 1, 0, 60000, 0, TFS_STATE_PASSED, none},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		check(&rows[i]);
	left_on("CUDA_LAUNCH_BLOCKING=1",
		"CUDA_LAUNCH_BLOCKING=1 is set: each launch waits until the kernel is over");
	left_on("CUBLASLT_LOG_LEVEL=5",
		"CUBLASLT_LOG_LEVEL=5 is set: each call of cuBLAS is written to a log");
	left_on("CUDNN_LOGLEVEL_DBG=3",
		"CUDNN_LOGLEVEL_DBG=3 is set: each call of cuDNN is written to a log");
	left_on("NCCL_DEBUG=TRACE", "NCCL_DEBUG=TRACE is set: each collective is written to a log");
	left_on("PYTORCH_NO_CUDA_MEMORY_CACHING=1",
		"PYTORCH_NO_CUDA_MEMORY_CACHING=1 is set: each tensor's memory is allocated and freed by the driver");
	left_on("TORCH_DISTRIBUTED_DEBUG=DETAIL",
		"TORCH_DISTRIBUTED_DEBUG=DETAIL is set: ranks compare each collective before they begin it");
	left_on("ANOTHER_SWITCH=1", "ANOTHER_SWITCH=1 is set: it is for debugging");
	left_on(NULL,
		"no variable of the environment that was looked for makes libraries wait or write in each call");
	return test_result();
}
