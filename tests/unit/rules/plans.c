/* SPDX-License-Identifier: MIT */
/* Plans of cuDNN's graph API: what is not seen of them is not passed. */
#include <cudnn.h>
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define WORK UINT64_C(100000)

struct plan {
	bool made; /* else there is none, but a call that runs what nobody knows */
	uint64_t operations;
	bool normalises; /* a call beside it */
	enum tfs_state searched, biased;
};

static void run_plan(struct scene *scene, const struct plan *plan)
{
	struct builder_call call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudnn,
		TFS_FAMILY_other, "cudnnBackendExecute");

	if (plan->made)
		builder_attribute(&call, TFS_ATTRIBUTE_operations, plan->operations);
	scene_make(scene, &call, WORK);
}

static void normalise(struct scene *scene)
{
	struct builder_call call = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudnn,
		TFS_FAMILY_normalisation, "cudnnBatchNormalizationForwardTraining");

	scene_make(scene, &call, WORK);
}

static void check(const struct plan *plan)
{
	struct scene *scene = scene_create(false);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		run_plan(scene, plan);
		if (plan->normalises)
			normalise(scene);
	}
	scene_judge(scene, NULL);
	if (!TEST_EQ(scene_state(scene, "TFS601"), plan->searched) ||
		!TEST_EQ(scene_state(scene, "TFS605"), plan->biased))
		printf("  operations %llx: %s; %s\n", (unsigned long long)plan->operations,
			scene_reason(scene, "TFS601"), scene_reason(scene, "TFS605"));
	if (plan->searched == TFS_STATE_NOT_MEASURABLE)
		TEST_TRUE(strstr(scene_reason(scene, "TFS601"),
			"30 calls run plans of cuDNN's graph API, which may convolve"));
	scene_destroy(scene);
}

/* A plan whose work on the device was not recorded may add to what is cleared before it. */
static void check_zeroing(void)
{
	struct scene *scene = scene_create(false);
	const uint64_t sums = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudnn,
			TFS_FAMILY_other, "cudnnBackendExecute");

		scene_step(scene);
		scene_set(scene, 12, sums, 1 << 20, 0);
		builder_attribute(&call, TFS_ATTRIBUTE_operations, TFS_OPERATION_CONVOLUTION);
		scene_make(scene, &call, 0);
		scene_host(scene, WORK);
	}
	scene_judge(scene, NULL);
	TEST_TRUE(!scene_finding(scene, "TFS402", 12));
	scene_destroy(scene);
}

/* The names of plans' kernels seldom say which cores they use; those that read no floats need not.
 */
static void check_cores(int type, enum tfs_state state)
{
	const struct plan plan = {
		.made = true, .operations = TFS_OPERATIONS(TFS_OPERATION_PRODUCT, type + 1, 1, 0)};
	struct scene *scene = scene_create_on(8);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		run_plan(scene, &plan);
		scene_host(scene, WORK);
	}
	scene_judge(scene, NULL);
	if (!TEST_EQ(scene_state(scene, "TFS603"), state))
		printf("  type %d: %s\n", type, scene_reason(scene, "TFS603"));
	scene_destroy(scene);
}

int main(void)
{
	static const struct plan plans[] = {
		{false, 0, false, TFS_STATE_PASSED, TFS_STATE_PASSED},
		{true, 0, false, TFS_STATE_NOT_MEASURABLE, TFS_STATE_NOT_MEASURABLE},
		{true, TFS_OPERATION_CONVOLUTION, false, TFS_STATE_NOT_MEASURABLE,
			TFS_STATE_PASSED},
		{true, TFS_OPERATION_ATTENTION, false, TFS_STATE_PASSED, TFS_STATE_PASSED},
		{true, TFS_OPERATION_NORMALISATION, false, TFS_STATE_PASSED,
			TFS_STATE_NOT_MEASURABLE},
		{true, TFS_OPERATION_POINTWISE, false, TFS_STATE_PASSED, TFS_STATE_PASSED},
		{true, TFS_OPERATION_POINTWISE, true, TFS_STATE_PASSED, TFS_STATE_NOT_MEASURABLE},
	};

	for (size_t i = 0; i < sizeof(plans) / sizeof(*plans); i++)
		check(&plans[i]);
	check_zeroing();
	check_cores(CUDNN_DATA_FLOAT, TFS_STATE_NOT_MEASURABLE);
	check_cores(CUDNN_DATA_BFLOAT16, TFS_STATE_PASSED);
	check_cores(-1, TFS_STATE_NOT_MEASURABLE);
	return test_result();
}
