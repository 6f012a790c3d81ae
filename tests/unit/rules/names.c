/* SPDX-License-Identifier: MIT */
/*
 * What rules say of a call follows from its family: functions with names that say nothing are
 * judged alike. An older recording has fewer families: what they do not tell is not measurable.
 */
#include "rules/timeline/pairs.h"
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BYTES (UINT64_C(8) << 20)

enum manner { PLAIN, NAMELESS, OLDER, MANNERS };

static unsigned looked;

static struct scene *start(enum manner manner)
{
	struct scene *scene = scene_create(false);

	if (manner == NAMELESS)
		scene_nameless(scene);
	if (manner == OLDER)
		scene_older(scene);
	return scene;
}

static void expect(struct scene *scene, enum manner manner, const char *id, enum tfs_state state)
{
	const bool held = TEST_EQ(scene_state(scene, id), state);

	looked++;
	if (!TEST_EQ(scene_findings(scene, id) != 0, state == TFS_STATE_VIOLATED) || !held) {
		printf("%s, manner %d:\n", id, (int)manner);
		scene_print(scene);
	}
	if (manner == OLDER && state == TFS_STATE_NOT_MEASURABLE)
		TEST_TRUE(strstr(scene_reason(scene, id), "an older tfshim made the recording"));
}

static void call(struct scene *scene, unsigned line, enum tfs_library library,
	enum tfs_family family, const char *name)
{
	struct builder_call made = scene_call(scene, line, SCENE_LEGACY, library, family, name);

	scene_make(scene, &made, 0);
}

/* What is made, ended or asked for in each step. */
static void churn(enum manner manner)
{
	static const struct {
		enum tfs_library library;
		enum tfs_family family;
		const char *name, *message;
	} cases[] = {
		{TFS_LIBRARY_cudnn, TFS_FAMILY_handle_create, "cudnnCreate",
			"creates a library handle"},
		{TFS_LIBRARY_cudnn, TFS_FAMILY_handle_destroy, "cudnnDestroy",
			"destroys a library handle"},
		{TFS_LIBRARY_cublaslt, TFS_FAMILY_descriptor_create, "cublasLtMatmulDescCreate",
			"creates a descriptor"},
		{TFS_LIBRARY_cublaslt, TFS_FAMILY_descriptor_destroy, "cublasLtMatmulDescDestroy",
			"destroys a descriptor"},
		{TFS_LIBRARY_cudart, TFS_FAMILY_constant, "cudaGetDeviceProperties_v2",
			"queries a constant device property"},
		{TFS_LIBRARY_cudart, TFS_FAMILY_property, "cudaMemGetInfo", NULL},
		{TFS_LIBRARY_cudnn, TFS_FAMILY_handle, "cudnnSetStream", NULL},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct scene *scene = start(manner);
		const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);

		for (unsigned j = 0; j < STEPS; j++) {
			scene_step(scene);
			scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
			call(scene, 11, cases[i].library, cases[i].family, cases[i].name);
		}
		scene_judge(scene, NULL);
		expect(scene, manner, "TFS608",
			manner == OLDER    ? TFS_STATE_NOT_MEASURABLE
			: cases[i].message ? TFS_STATE_VIOLATED
					   : TFS_STATE_PASSED);
		if (manner != OLDER && cases[i].message)
			TEST_TRUE(strstr(
				scene_finding(scene, "TFS608", 11)->message, cases[i].message));
		scene_destroy(scene);
	}
}

/* A wait that ends what is timed is advice; without that question it is an error either way. */
static void brackets(enum manner manner, bool timed)
{
	struct scene *scene = start(manner);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
		scene_event_record(scene, 11, SCENE_LEGACY, 100);
		scene_event_sync(scene, 12, 100);
		if (timed)
			call(scene, 13, TFS_LIBRARY_cudart, TFS_FAMILY_elapsed,
				"cudaEventElapsedTime");
	}
	scene_judge(scene, NULL);
	expect(scene, manner, "TFS201",
		timed && manner == OLDER ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_VIOLATED);
	if (!timed || manner != OLDER)
		TEST_EQ(scene_finding(scene, "TFS201", 12)->level,
			timed ? TFS_LEVEL_NOTE : TFS_LEVEL_ERROR);
	scene_destroy(scene);
}

static void chains(enum manner manner, bool convolution)
{
	struct scene *scene = start(manner);
	const uint64_t x = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const uint64_t y = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	const struct {
		enum tfs_library library;
		enum tfs_family family;
		const char *name;
	} calls[2][3] = {
		{{TFS_LIBRARY_cublas, TFS_FAMILY_gemm, "cublasSgemm_v2"},
			{TFS_LIBRARY_cublas, TFS_FAMILY_blas_pointwise, "cublasSaxpy_v2"},
			{TFS_LIBRARY_cublas, TFS_FAMILY_blas_pointwise, "cublasSscal_v2"}},
		{{TFS_LIBRARY_cudnn, TFS_FAMILY_conv_forward, "cudnnConvolutionForward"},
			{TFS_LIBRARY_cudnn, TFS_FAMILY_bias, "cudnnAddTensor"},
			{TFS_LIBRARY_cudnn, TFS_FAMILY_activation, "cudnnActivationForward"}},
	};

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < 3; j++) {
			struct builder_call made = scene_call(scene, 10 + j, SCENE_LEGACY,
				calls[convolution][j].library, calls[convolution][j].family,
				calls[convolution][j].name);

			builder_operand(&made, TFS_ROLE_READ, j ? y : x, BYTES);
			builder_operand(&made, TFS_ROLE_WRITE, y, BYTES);
			scene_make(scene, &made, 30000);
		}
		scene_gemm(scene, 13, y, x, BYTES, false, 50000);
	}
	scene_judge(scene, NULL);
	expect(scene, manner, "TFS301",
		manner == OLDER ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_VIOLATED);
	if (manner != OLDER)
		TEST_EQ(strstr(scene_finding(scene, "TFS301", 11)->advice,
				"cudnnConvolutionBiasActivationForward") != NULL,
			convolution);
	scene_destroy(scene);
}

/* Launches that only go into a graph are not missed; `late`: it began before what was recorded. */
static void captures(enum manner manner, bool late)
{
	struct scene *scene = start(manner);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);

	scene_watch(scene);
	for (unsigned i = 0; i < STEPS; i++) {
		const bool capture = late ? i == 0 : i == STEPS / 2;

		scene_step(scene);
		if (capture && !late)
			call(scene, 14, TFS_LIBRARY_cudart, TFS_FAMILY_capture,
				"cudaStreamBeginCapture");
		for (unsigned j = 0; j < 10 && capture; j++)
			scene_launch(scene, 16, SCENE_LEGACY, 0, 1024, 1, &memory);
		if (capture)
			call(scene, 15, TFS_LIBRARY_cudart, TFS_FAMILY_capture_end,
				"cudaStreamEndCapture");
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
	}
	scene_judge(scene, NULL);
	expect(scene, manner, "TFS903", TFS_STATE_PASSED);
	if (manner != OLDER)
		TEST_EQ(scene_judgement(scene)->visibility.pairs->launches, STEPS);
	scene_destroy(scene);
}

/* Copies that no hook saw are no reason to doubt what is said of waits. */
static void hidden(enum manner manner)
{
	struct scene *scene = start(manner);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 4096);

	scene_watch(scene);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
		scene_unseen(scene, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy", 77, false);
	}
	scene_judge(scene, NULL);
	const enum tfs_state waits = manner == OLDER ? TFS_STATE_NOT_MEASURABLE : TFS_STATE_PASSED;

	TEST_EQ(scene_state(scene, "TFS101"), TFS_STATE_NOT_MEASURABLE);
	TEST_EQ(scene_state(scene, "TFS201"), waits);
	TEST_STR(scene_judgement(scene)->visibility.runtimes,
		manner == OLDER ? "inside no call that a hook saw: 30 calls"
				: "inside no call that a hook saw: 30 copies");
	looked += 2;
	scene_destroy(scene);
}

int main(void)
{
	for (enum manner manner = PLAIN; manner < MANNERS; manner++) {
		churn(manner);
		brackets(manner, true);
		brackets(manner, false);
		chains(manner, true);
		chains(manner, false);
		captures(manner, true);
		captures(manner, false);
		hidden(manner);
	}
	printf("%u verdicts\n", looked);
	TEST_EQ(looked, MANNERS * 15);
	return test_result();
}
