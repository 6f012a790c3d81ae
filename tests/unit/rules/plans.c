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

#define PRODUCT_KERNEL "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n_tilesize64x64x8_ffma_cublas"
#define PLAIN_KERNEL "sm80_xmma_fprop_implicit_gemm_f32f32_f32f32_f32_nchwkcrs_nchw_g1_ffma_cudnn"

/* Floats on plain cores for so much of a step, of which products, convolutions and plans have equal
 * parts: together they are worth telling, if each by itself is not. */
static void check_parts(double share, enum tfs_state state)
{
	struct scene *scene = scene_create_on(9);
	const uint64_t part = (uint64_t)(share / 3 * 100 * (double)WORK);

	for (unsigned i = 0; i < STEPS; i++) {
		const struct {
			enum tfs_library library;
			enum tfs_family family;
			const char *name;
		} calls[] = {{TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2"},
			{TFS_LIBRARY_cudnn, TFS_FAMILY_conv_forward, "cudnnConvolutionForward"},
			{TFS_LIBRARY_cudnn, TFS_FAMILY_other, "cudnnBackendExecute"}};

		scene_step(scene);
		for (unsigned k = 0; k < 3; k++) {
			struct builder_call call = scene_call(scene, 20 + k, SCENE_LEGACY,
				calls[k].library, calls[k].family, calls[k].name);

			scene_kernel(scene, k ? PLAIN_KERNEL : PRODUCT_KERNEL);
			if (k == 2)
				builder_attribute(
					&call, TFS_ATTRIBUTE_operations, TFS_OPERATION_CONVOLUTION);
			scene_make(scene, &call, part);
		}
		scene_device_sync(scene, 30);
		scene_host(scene, 100 * WORK - 3 * part);
	}
	scene_judge(scene, NULL);
	if (!TEST_EQ(scene_state(scene, "TFS603"), state))
		printf("  %g: %s\n", share, scene_reason(scene, "TFS603"));
	scene_destroy(scene);
}

/* cuDNN turns tensors around a plan: what is to be done goes by the layout that the plan's have. */
static void check_turning(enum tfs_layout layout, const char *says)
{
	const uint64_t operations =
		TFS_OPERATIONS(TFS_OPERATION_CONVOLUTION, CUDNN_DATA_HALF + 1, 1, layout);
	const struct plan plan = {.made = says[0] != '\0', .operations = operations};
	struct scene *scene = scene_create(false);
	const struct tfs_finding *finding;

	scene_kernel(scene, "_ZN5cudnn19engines_precompiled16nchwToNhwcKernelIfffEEv");
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		run_plan(scene, &plan);
		scene_host(scene, WORK);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS606", 10);
	TEST_NEED(finding);
	if (!TEST_TRUE(strstr(finding->advice, plan.made ? says : "CUDNN_TENSOR_NHWC")))
		printf("  %s\n", finding->advice);
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
	check_parts(0.09, TFS_STATE_PASSED);
	check_parts(0.12, TFS_STATE_VIOLATED);
	check_turning(TFS_LAYOUT_CHANNELS_LAST, "whose tensors are NHWC already");
	check_turning(TFS_LAYOUT_CHANNELS_APART, "the strides of NHWC");
	check_turning(TFS_LAYOUT_UNKNOWN, "the strides of NHWC");
	check_turning(TFS_LAYOUT_UNKNOWN, "");
	check_cores(CUDNN_DATA_FLOAT, TFS_STATE_NOT_MEASURABLE);
	check_cores(CUDNN_DATA_BFLOAT16, TFS_STATE_PASSED);
	check_cores(-1, TFS_STATE_NOT_MEASURABLE);
	return test_result();
}
