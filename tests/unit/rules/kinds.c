/* SPDX-License-Identifier: MIT */
/* TFS202, TFS307, TFS401, TFS602, TFS608, TFS910: what is said of calls by their kind. */
#include <string.h>

#include "tests/unit/rules/weights.h"

/* A call of each step, and what a rule says of it. */
struct kind {
	const char *id;
	enum tfs_library library;
	enum tfs_family family;
	const char *function, *message, *advice; /* which has this; NULL: the rule's own */
	const char *repair;
	uint16_t status;
};

static void make(struct scene *scene, const struct kind *kind)
{
	struct builder_call call =
		scene_call(scene, 11, SCENE_LEGACY, kind->library, kind->family, kind->function);

	call.status = kind->status;
	if (kind->family == TFS_FAMILY_blas) {
		builder_attribute(&call, TFS_ATTRIBUTE_host_result, 1);
		builder_operand(&call, TFS_ROLE_READ, weights, 4096);
		scene_make(scene, &call, 5000);
		return;
	}
	call.stream = TFS_NO_STREAM;
	call.amount = 4096;
	builder_operand(&call, 0, UINT64_C(0x7e0000000000), 4096);
	scene_make(scene, &call, 0);
}

static void check(const struct kind *kind)
{
	struct scene *scene = start();
	const struct tfs_finding *finding;
	bool held;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 50000);
		make(scene, kind);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, kind->id, 11);
	TEST_EQ(finding != NULL, kind->message != NULL);
	held = finding || !kind->message;
	if (finding && kind->message) {
		held &= TEST_STR(finding->message, kind->message);
		held &= TEST_TRUE(strstr(
			finding->advice, kind->advice ? kind->advice : finding->rule->advice));
		held &= TEST_STR(
			finding->repair.name ? finding->repair.name : "none", kind->repair);
	}
	if (!held)
		printf("  %s of %s: %s\n", kind->id, kind->function,
			finding ? finding->advice : scene_reason(scene, kind->id));
	scene_destroy(scene);
}

#define CUDA TFS_LIBRARY_cudart
#define DNN TFS_LIBRARY_cudnn
#define KEPT_BUFFER "Allocate this buffer once before the training loop and keep it; "

static const struct kind waits[] = {
	{"TFS202", CUDA, TFS_FAMILY_free, "cudaFree",
		"cudaFree waits for all work on the device, 1 call/step", KEPT_BUFFER,
		"deferred-free", 0},
	{"TFS202", CUDA, TFS_FAMILY_host_alloc, "cudaMallocHost",
		"allocating and freeing pinned memory waits for the device, 1 call/step",
		"Allocate this pinned buffer once", "none", 0},
	{"TFS202", CUDA, TFS_FAMILY_host_free, "cudaFreeHost",
		"allocating and freeing pinned memory waits for the device, 1 call/step",
		"Allocate this pinned buffer once", "none", 0},
	{"TFS202", CUDA, TFS_FAMILY_host_unregister, "cudaHostUnregister",
		"registering and unregistering host memory waits for the device, 1 call/step",
		"Pin this buffer once", "none", 0},
	{"TFS202", CUDA, TFS_FAMILY_module, "cudaLibraryLoadData",
		"loads code in the step and waits for the device, 1 call/step",
		"Load this module or first use its kernels before", "none", 0},
	{"TFS202", TFS_LIBRARY_cublas, TFS_FAMILY_blas, "cublasSnrm2_v2",
		"the result goes to host memory, so the call waits for the device, 1 call/step",
		"Keep the result, and decisions that depend on it, on the device: ", "none", 0},
	/* What fails waits for nothing. */
	{"TFS202", CUDA, TFS_FAMILY_free, "cudaFree", NULL, NULL, NULL, 1},
};

static const struct kind memory[] = {
	{"TFS401", CUDA, TFS_FAMILY_alloc, "cudaMalloc", "allocates device memory, 1 call/step",
		NULL, "alloc-pool", 0},
	{"TFS401", CUDA, TFS_FAMILY_free, "cudaFree", "frees device memory, 1 call/step", NULL,
		"alloc-pool", 0},
	{"TFS401", CUDA, TFS_FAMILY_host_alloc, "cudaMallocHost",
		"allocates pinned memory, 1 call/step",
		"Allocate this pinned buffer once before the training loop", "none", 0},
	{"TFS401", CUDA, TFS_FAMILY_host_free, "cudaFreeHost", "frees pinned memory, 1 call/step",
		"Allocate this pinned buffer once before the training loop", "none", 0},
	{"TFS401", CUDA, TFS_FAMILY_host_register, "cudaHostRegister",
		"registers host memory, 1 call/step",
		"Allocate this pinned buffer once before the training loop", "none", 0},
	{"TFS401", CUDA, TFS_FAMILY_host_unregister, "cudaHostUnregister",
		"unregisters host memory, 1 call/step",
		"Allocate this pinned buffer once before the training loop", "none", 0},
	{"TFS401", CUDA, TFS_FAMILY_alloc, "cudaMalloc", NULL, NULL, NULL, 2},
};

static const struct kind objects[] = {
	{"TFS608", DNN, TFS_FAMILY_handle_create, "cudnnCreate",
		"creates a library handle, 1 call/step", "Create this handle once", "none", 0},
	{"TFS608", DNN, TFS_FAMILY_handle_destroy, "cudnnDestroy",
		"destroys a library handle, 1 call/step", "Create this handle once", "none", 0},
	{"TFS608", DNN, TFS_FAMILY_descriptor_create, "cudnnCreateTensorDescriptor",
		"creates a descriptor, 1 call/step", "Create this descriptor once", "none", 0},
	{"TFS608", DNN, TFS_FAMILY_descriptor_destroy, "cudnnDestroyTensorDescriptor",
		"destroys a descriptor, 1 call/step", "Create this descriptor once", "none", 0},
	{"TFS608", CUDA, TFS_FAMILY_stream_create, "cudaStreamCreate",
		"creates a stream, 1 call/step", "Create this stream once", "none", 0},
	{"TFS608", CUDA, TFS_FAMILY_stream_destroy, "cudaStreamDestroy",
		"destroys a stream, 1 call/step", "Create this stream once", "none", 0},
	{"TFS608", CUDA, TFS_FAMILY_event_create, "cudaEventCreate",
		"creates an event, 1 call/step", "Create this event once", "none", 0},
	{"TFS608", CUDA, TFS_FAMILY_event_destroy, "cudaEventDestroy",
		"destroys an event, 1 call/step", "Create this event once", "none", 0},
	{"TFS608", CUDA, TFS_FAMILY_constant, "cudaGetDeviceProperties",
		"queries a constant device property, 1 call/step",
		"Query once before the training loop and keep the result", "memoise", 0},
	{"TFS608", CUDA, TFS_FAMILY_property, "cudaGetDevice", NULL, NULL, NULL, 0},
	{"TFS608", CUDA, TFS_FAMILY_event_create, "cudaEventCreate", NULL, NULL, NULL, 1},
};

static const struct kind graphs[] = {
	{"TFS307", CUDA, TFS_FAMILY_graph_instantiate, "cudaGraphInstantiate",
		"instantiates a graph, 1 call/step", NULL, "none", 0},
	{"TFS307", CUDA, TFS_FAMILY_graph_update, "cudaGraphExecUpdate",
		"fails to update an executable graph, which then has to be instantiated anew, 1 call/step",
		NULL, "none", 910},
	{"TFS307", CUDA, TFS_FAMILY_graph_instantiate, "cudaGraphInstantiate", NULL, NULL, NULL, 1},
	{"TFS307", CUDA, TFS_FAMILY_graph_update, "cudaGraphExecUpdate", NULL, NULL, NULL, 0},
};

static const struct kind questions[] = {
	{"TFS602", DNN, TFS_FAMILY_conv_find, "cudnnFindConvolutionForwardAlgorithm",
		"searches the algorithm of a convolution by measuring, 1 call/step",
		"If the shapes, types and layouts are those of an earlier call", "none", 0},
	{"TFS602", DNN, TFS_FAMILY_conv_get, "cudnnGetConvolutionForwardAlgorithm_v7",
		"asks for the algorithm of a convolution, 1 call/step",
		"If the shapes, types and layouts are those of an earlier call", "none", 0},
	{"TFS602", DNN, TFS_FAMILY_workspace_query, "cudnnGetConvolutionForwardWorkspaceSize",
		"asks for a workspace, 1 call/step",
		"If the shapes, types and layouts are those of an earlier call", "none", 0},
	/* That is another rule's. */
	{"TFS602", TFS_LIBRARY_cublaslt, TFS_FAMILY_workspace_query,
		"cublasLtMatmulAlgoGetHeuristic", NULL, NULL, NULL, 0},
	{"TFS610", TFS_LIBRARY_cublaslt, TFS_FAMILY_workspace_query,
		"cublasLtMatmulAlgoGetHeuristic",
		"asks cuBLASLt to choose an algorithm, 1 call/step",
		"If the matrices' sizes, types, layouts and alignment are those of an earlier call",
		"none", 0},
};

static const struct kind failing[] = {
	{"TFS910", CUDA, TFS_FAMILY_event_record, "cudaEventRecord",
		"fails with cudaErrorInvalidValue (1), 1 call/step", NULL, "none", 1},
	{"TFS910", TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2",
		"fails with CUBLAS_STATUS_EXECUTION_FAILED (13), 1 call/step", NULL, "none", 13},
	{"TFS910", CUDA, TFS_FAMILY_event_record, "cudaEventRecord",
		"fails with status 12345, 1 call/step", NULL, "none", 12345},
	/* Not ready. */
	{"TFS910", CUDA, TFS_FAMILY_query, "cudaStreamQuery", NULL, NULL, NULL, 600},
};

/* The same problem in all steps, or another one in each. */
static void asked_again(bool again)
{
	struct scene *scene = start();
	const struct tfs_finding *finding;
	uint32_t problem = 0;

	for (unsigned i = 0; i < STEPS; i++) {
		const int32_t fields[] = {TFS_FAMILY_conv_forward, (int32_t)i};
		struct builder_call call = scene_call(scene, 11, SCENE_LEGACY, DNN,
			TFS_FAMILY_conv_get, "cudnnGetConvolutionForwardAlgorithm_v7");

		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 50000);
		if (!again || i == 0)
			problem = builder_problem(scene_builder(scene), fields, 2);
		builder_attribute(&call, TFS_ATTRIBUTE_problem, problem);
		scene_make(scene, &call, 0);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS602", 11);
	TEST_EQ(finding != NULL, again);
	if (finding) {
		TEST_STR(finding->message,
			"asks for the algorithm of a convolution for the same problem again, 1 call/step");
		TEST_STR(finding->advice, finding->rule->advice);
	}
	scene_destroy(scene);
}

/* A call fails with one status in even steps and with another one in odd ones, and the last error
 * is asked for: who only tells of it does not fail. */
static void last_errors(uint16_t even, uint16_t odd, uint16_t told, const char *message)
{
	struct scene *scene = start();
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call = scene_call(
			scene, 11, SCENE_LEGACY, CUDA, TFS_FAMILY_event_record, "cudaEventRecord");

		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 50000);
		call.status = i % 2 ? odd : even;
		scene_make(scene, &call, 0);
		call = scene_call(
			scene, 12, SCENE_LEGACY, CUDA, TFS_FAMILY_other, "cudaGetLastError");
		call.status = told ? told : i % 2 ? odd : even;
		call.stream = TFS_NO_STREAM;
		scene_make(scene, &call, 0);
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS910", 11);
	TEST_NEED(finding);
	TEST_STR(finding->message, message);
	TEST_EQ(scene_finding(scene, "TFS910", 12) != NULL, told != 0);
	scene_destroy(scene);
}

/* Failures that the totals have, and no judged step: as many as there are steps or more, while
 * these were made. */
static void fails_unseen(uint64_t failures, bool late, enum tfs_family family, enum tfs_state state,
	const char *says)
{
	struct scene *scene = start();
	struct builder_call call =
		scene_call(scene, 12, SCENE_LEGACY, CUDA, family, "cudaSomething");
	struct tfs_aggregate sum = {.site = call.site,
		.function = call.function,
		.count = 100,
		.failures = failures,
		.latest_ticks = 1000};

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		work(scene, 10, SCENE_LEGACY, 50000);
	}
	if (late)
		sum.latest_ticks = scene_now(scene);
	builder_aggregate(scene_builder(scene), &sum);
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS910"), state);
	TEST_STR(scene_reason(scene, "TFS910"), says);
	scene_destroy(scene);
}

int main(void)
{
	static const struct {
		const struct kind *items;
		size_t count;
	} all[] = {
#define ALL(list) {list, sizeof(list) / sizeof(*(list))}
		ALL(waits), ALL(memory), ALL(objects), ALL(graphs), ALL(questions), ALL(failing)};

	for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
		for (size_t j = 0; j < all[i].count; j++)
			check(&all[i].items[j]);
	asked_again(true);
	asked_again(false);
	last_errors(1, 1, 0, "fails with cudaErrorInvalidValue (1), 1 call/step");
	last_errors(1, 719, 0, "fails with cudaErrorInvalidValue (1) and others, 1 call/step");
	last_errors(1, 1, 719, "fails with cudaErrorInvalidValue (1), 1 call/step");
	fails_unseen(20, true, TFS_FAMILY_copy, TFS_STATE_NOT_MEASURABLE,
		"cudaSomething failed 20 times in the run, but in no judged step");
	fails_unseen(
		19, true, TFS_FAMILY_copy, TFS_STATE_PASSED, "no call of the judged steps fails");
	fails_unseen(
		20, false, TFS_FAMILY_copy, TFS_STATE_PASSED, "no call of the judged steps fails");
	fails_unseen(
		20, true, TFS_FAMILY_query, TFS_STATE_PASSED, "no call of the judged steps fails");
	return test_result();
}
