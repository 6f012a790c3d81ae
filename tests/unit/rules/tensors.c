/* SPDX-License-Identifier: MIT */
/* TFS604, TFS605, TFS606: how tensors lie, and what is added to them in vain. */
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BYTES (UINT64_C(1) << 20)
#define CHANNELS 64u
#define TENSOR_KERNEL                                                                              \
	"sm80_xmma_gemm_f32f32_tf32f32_f32_nn_n_tilesize64x64x16_stage4_warpsize2x2x1_tensor16x8x8_execute_kernel__5x_cublas"

/* What a rule says, at line 10 if it finds something. */
static const struct tfs_finding *says(
	struct scene *scene, const char *id, enum tfs_state state, const char *text)
{
	const struct tfs_finding *finding;
	bool held;

	scene_judge(scene, NULL);
	finding = scene_finding(scene, id, 10);
	held = TEST_EQ(scene_state(scene, id), state);
	held &= TEST_EQ(scene_findings(scene, id), state == TFS_STATE_VIOLATED);
	if (!TEST_STR(finding ? finding->message : scene_reason(scene, id), text) || !held)
		scene_print(scene);
	return finding;
}

/* A call of cuBLAS on tensor cores. */
static void multiply(
	struct scene *scene, unsigned line, uint64_t memory, uint64_t alignment, uint64_t ns)
{
	struct builder_call call = scene_call(
		scene, line, SCENE_LEGACY, TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasGemmEx");

	builder_operand(&call, TFS_ROLE_READ, memory, BYTES);
	builder_attribute(&call, TFS_ATTRIBUTE_alignment, alignment);
	scene_kernel(scene, TENSOR_KERNEL);
	scene_make(scene, &call, ns);
	scene_kernel(scene, "another");
}

/* Products of so many nanoseconds whose columns begin at multiples of so many bytes, and others of
 * which that is not known, in steps of 0.4 ms. */
static void aligned_in_part(unsigned bytes, unsigned element, uint64_t ns, uint64_t unknown_ns,
	enum tfs_state state, const char *text)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);

	for (unsigned i = 0; i < STEPS; i++) {
		uint64_t began;

		scene_step(scene);
		began = scene_now(scene);
		/* The shortest kernel there is. */
		scene_launch(scene, 11, SCENE_LEGACY, 2000, 1024, 1, &memory);
		multiply(scene, 10, memory, TFS_ALIGNMENT(bytes, element), ns);
		if (unknown_ns)
			multiply(scene, 13, memory, 0, unknown_ns);
		scene_device_sync(scene, 12);
		scene_host(scene, began + 399800 - scene_now(scene));
	}
	says(scene, "TFS604", state, text);
	scene_destroy(scene);
}

static void aligned(
	unsigned bytes, unsigned element, uint64_t ns, enum tfs_state state, const char *text)
{
	aligned_in_part(bytes, element, ns, 0, state, text);
}

static void products_are_aligned(void)
{
	aligned(4, 4, 102000, TFS_STATE_VIOLATED,
		"multiplies on tensor cores for 100 \xc2\xb5s per step (25 % of the step), with columns that begin at multiples of only 4 bytes; "
		"on an H200, large GEMMs of 4-byte elements that are aligned to 16 take a third of the time");
	aligned(8, 2, 102000, TFS_STATE_VIOLATED,
		"multiplies on tensor cores for 100 \xc2\xb5s per step (25 % of the step), with columns that begin at multiples of only 8 bytes; "
		"on an H200, large GEMMs of 2-byte elements that are aligned to 16 take a sixth of the time");
	aligned(16, 2, 102000, TFS_STATE_PASSED,
		"GEMMs on tensor cores take 25 % of the step; those with matrices that are not aligned, 0 % of the step");
	aligned(4, 4, 22000, TFS_STATE_PASSED,
		"GEMMs on tensor cores take 5.0 % of the step; those with matrices that are not aligned, 5.0 % of the step");
	/* Bytes and doubles were not measured; and how they lie may not be known. */
	aligned(8, 1, 102000, TFS_STATE_NOT_MEASURABLE,
		"how matrices are aligned that are multiplied for 25 % of the step was not recorded, or what that costs is not known");
	aligned(8, 8, 102000, TFS_STATE_NOT_MEASURABLE,
		"how matrices are aligned that are multiplied for 25 % of the step was not recorded, or what that costs is not known");
	aligned(0, 0, 22000, TFS_STATE_PASSED,
		"GEMMs on tensor cores take 5.0 % of the step; those with matrices that are not aligned, 0 % of the step; what alignment costs is not known for 5.0 % of the step");
	aligned_in_part(4, 4, 22000, 14000, TFS_STATE_PASSED,
		"GEMMs on tensor cores take 8.0 % of the step; those with matrices that are not aligned, 5.0 % of the step; what alignment costs is not known for 3.0 % of the step");
	aligned(4, 4, 4000, TFS_STATE_PASSED,
		"no library's GEMM on tensor cores takes twice as long as the shortest kernel");
}

/* A convolution's result gets a bias, is normalised, and normalised backward. */
struct net {
	uint64_t by_channel; /* 0 = not recorded */
	double beta;
	bool evaluates; /* the normalisation goes by statistics that are kept */
	bool normalises;
	bool launches; /* a kernel of the program in each step */
	enum tfs_state state;
	const char *says;
	const char *advice;
};

#define POOL UINT64_C(0x302000000)

static uint64_t data, sum, normalised, gradient, parameters;

static void normalise(struct scene *scene, bool backward, bool evaluates)
{
	const uint64_t small = 4 * CHANNELS;
	struct builder_call call =
		scene_call(scene, 12, SCENE_LEGACY, TFS_LIBRARY_cudnn, TFS_FAMILY_normalisation,
			backward ? "cudnnBatchNormalizationBackward"
				 : "cudnnBatchNormalizationForwardTraining");

	builder_operand(&call, TFS_ROLE_READ, sum, BYTES);
	if (backward)
		builder_operand(&call, TFS_ROLE_READ, normalised, BYTES);
	builder_operand(&call, TFS_ROLE_WRITE, backward ? gradient : normalised, BYTES);
	builder_operand(&call, TFS_ROLE_READ, parameters, small);
	for (unsigned i = 1; i <= 2 && !evaluates; i++)
		builder_operand(&call, TFS_ROLE_WRITE, parameters + i * 1024, small);
	if (evaluates)
		builder_operand(&call, TFS_ROLE_READ, parameters + 1024, small);
	scene_make(scene, &call, 50000);
}

static void layer(struct scene *scene, const struct net *net)
{
	struct builder_call call = scene_call(scene, 9, SCENE_LEGACY, TFS_LIBRARY_cudnn,
		TFS_FAMILY_conv_forward, "cudnnConvolutionForward");
	uint64_t bits;

	builder_operand(&call, TFS_ROLE_READ, data, BYTES);
	builder_operand(&call, TFS_ROLE_WRITE, sum, BYTES);
	scene_make(scene, &call, 100000);
	call = scene_call(
		scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudnn, TFS_FAMILY_bias, "cudnnAddTensor");
	builder_operand(&call, TFS_ROLE_READ, parameters + 8192, 4 * CHANNELS);
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_WRITE, sum, BYTES);
	memcpy(&bits, &net->beta, sizeof(bits));
	builder_attribute(&call, TFS_ATTRIBUTE_beta, bits);
	if (net->by_channel)
		builder_attribute(&call, TFS_ATTRIBUTE_by_channel, net->by_channel);
	scene_make(scene, &call, 40000);
	if (net->launches)
		scene_launch(scene, 15, SCENE_LEGACY, 10000, 1024, 1, &data);
	if (!net->normalises)
		return;
	normalise(scene, false, net->evaluates);
	if (net->evaluates)
		return;
	normalise(scene, true, false);
	/* Another reader comes first. */
	call = scene_call(scene, 13, SCENE_LEGACY, TFS_LIBRARY_cudnn, TFS_FAMILY_conv_backward_data,
		"cudnnConvolutionBackwardData");
	builder_operand(&call, TFS_ROLE_READ, gradient, BYTES);
	builder_operand(&call, TFS_ROLE_WRITE, data, BYTES);
	scene_make(scene, &call, 100000);
	call = scene_call(scene, 14, SCENE_LEGACY, TFS_LIBRARY_cudnn, TFS_FAMILY_conv_backward_bias,
		"cudnnConvolutionBackwardBias");
	builder_operand(&call, TFS_ROLE_READ, gradient, BYTES);
	builder_operand(&call, TFS_ROLE_WRITE, parameters + 16384, 4 * CHANNELS);
	scene_make(scene, &call, 30000);
}

/* With `pooled`, all tensors are in one allocation, which is longer than its address is high. */
static void bias(const struct net *net, bool pooled)
{
	struct scene *scene = scene_create(false);
	const struct tfs_finding *finding;

	data = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	sum = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	normalised = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	gradient = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	parameters = scene_memory(scene, TFS_MEMORY_DEVICE, 65536);
	if (pooled) {
		scene_malloc(scene, 8, POOL, 4 * POOL);
		data = POOL;
		normalised = data + BYTES;
		sum = 2 * POOL;
		gradient = 3 * POOL;
		parameters = 4 * POOL;
	}
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		layer(scene, net);
	}
	finding = says(scene, "TFS605", net->state, net->says);
	if (finding)
		TEST_EQ(strncmp(finding->advice, net->advice, strlen(net->advice)), 0);
	scene_destroy(scene);
}

static void biases_are_needed(void)
{
	static const char found[] =
		"adds a bias, which batch normalisation takes away again, to 1.00 MiB per step in 1 call/step; its gradient takes 1 call more";
	static const char none[] =
		"no call adds a bias to what goes to a batch normalisation alone";
	static const struct net nets[] = {
		{1, 1, false, true, false, TFS_STATE_VIOLATED, found,
			"Leave out this bias, its gradient and its update"},
		/* A kernel may read more than it names. */
		{1, 1, false, true, true, TFS_STATE_VIOLATED, found,
			"If no kernel of the program reads the sum beside the normalisation: Leave out"},
		{0, 1, false, true, false, TFS_STATE_NOT_MEASURABLE,
			"whether what 30 calls add to a tensor is one number for each channel was not recorded",
			""},
		{2, 1, false, true, false, TFS_STATE_PASSED, none, ""},
		{1, 0.5, false, true, false, TFS_STATE_PASSED, none, ""},
		{1, 1, true, true, false, TFS_STATE_PASSED, none, ""},
		{2, 1, false, true, true, TFS_STATE_NOT_MEASURABLE,
			"what the program's own kernels add to a tensor, and what they read, is not seen whole",
			""},
		{1, 1, false, false, false, TFS_STATE_PASSED, "no call of cuDNN normalises a batch",
			""},
	};

	for (size_t i = 0; i < sizeof(nets) / sizeof(*nets); i++)
		bias(&nets[i], false);
	bias(&nets[0], true);
}

/* Changes of a layout by so many lines, of so many nanoseconds each, beside 0.5 ms of other work;
 * or what is called so and only copies. */
static void turned(
	unsigned lines, uint64_t ns, uint64_t how, enum tfs_state state, const char *text)
{
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_gemm(scene, 9, memory, memory, BYTES, true, 500000);
		for (unsigned j = 0; j < lines; j++) {
			struct builder_call call = scene_call(scene, 10 + j, SCENE_LEGACY,
				TFS_LIBRARY_cudnn, TFS_FAMILY_transform, "cudnnTransformTensor");

			builder_operand(&call, TFS_ROLE_WRITE, memory, BYTES);
			builder_attribute(&call, TFS_ATTRIBUTE_turned, how);
			scene_make(scene, &call, ns + (j == 0));
		}
	}
	says(scene, "TFS606", state, text);
	scene_destroy(scene);
}

/* Kernels of a graph may be whose they want. */
static void turned_in_a_graph(void)
{
	struct scene *scene = scene_create(false);

	scene_kernel(scene, "_ZN5cudnn19engines_precompiled16nhwcToNchwKernelIfffEEv");
	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_graph_launch, "cudaGraphLaunch");

		scene_step(scene);
		scene_make(scene, &call, 100000);
	}
	says(scene, "TFS606", TFS_STATE_NOT_MEASURABLE,
		"kernels in graphs that are named like cuDNN's changes of a layout take 100 % of the GPU's time; which calls they are of was not recorded");
	scene_destroy(scene);
}

int main(void)
{
	products_are_aligned();
	biases_are_needed();
	turned(1, 125000, 1, TFS_STATE_VIOLATED,
		"copies tensors from one layout into another in 1 call/step, which takes 20 % of the GPU's time");
	turned(1, 125000, 2, TFS_STATE_PASSED,
		"no call or kernel of cuDNN was seen that changes a tensor's layout");
	turned(1, 10000, 1, TFS_STATE_PASSED, "changing layouts takes 2.0 % of the GPU's time");
	turned(25, 5000, 1, TFS_STATE_VIOLATED,
		"copies tensors from one layout into another in 25 calls/step, which takes 20 % of the GPU's time; "
		"these are of 25 call sites, of which this one takes longest");
	turned_in_a_graph();
	return test_result();
}
