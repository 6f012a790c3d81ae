/* SPDX-License-Identifier: MIT */
/* TFS306: attention whose scores go through memory: what is said of each form of it. */
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define MIB (UINT64_C(1) << 20)
#define HEADS 8u
#define KEYS 512u
#define HEAD 64u

enum between {
	SOFTMAX,
	OWN,    /* a kernel of the program with a block for each row */
	OTHERS, /* a softmax, and a kernel that works on other memory */
};

struct form {
	enum between between;
	unsigned bytes;   /* of an element */
	unsigned queries; /* for each key */
	uint64_t order;   /* TFS_PRODUCT_* of the products */
	bool read_later;
	bool launches; /* a kernel of the program in each step, before */
	bool lists;    /* a product whose matrices are in lists, in each step */
	bool graph;
	bool stepless;
	uint64_t cache, other_ns; /* of the device; what it does besides */
	enum tfs_state state;
	const char *says, *advice; /* the beginning */
};

static uint64_t memory_of[6]; /* queries, keys, scores, shares, values, results */

static void product(struct scene *scene, unsigned line, const struct form *form, bool second)
{
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cublas,
		TFS_FAMILY_gemm, "cublasGemmStridedBatchedEx");
	const uint64_t scores = (uint64_t)HEADS * KEYS * form->queries * form->bytes;
	const uint64_t values = (uint64_t)HEADS * KEYS * HEAD * form->bytes;

	builder_operand(&call, TFS_ROLE_READ, memory_of[second ? 4 : 1], values);
	builder_operand(&call, TFS_ROLE_READ, memory_of[second ? 3 : 0], second ? scores : values);
	builder_operand(&call, TFS_ROLE_WRITE, memory_of[second ? 5 : 2], second ? values : scores);
	builder_attribute(&call, TFS_ATTRIBUTE_count, HEADS);
	builder_attribute(&call, TFS_ATTRIBUTE_shape_m, second ? HEAD : KEYS);
	builder_attribute(&call, TFS_ATTRIBUTE_shape_n, form->queries);
	builder_attribute(&call, TFS_ATTRIBUTE_shape_k, second ? KEYS : HEAD);
	builder_attribute(&call, TFS_ATTRIBUTE_alignment,
		TFS_ALIGNMENT(16, form->bytes) | form->order |
			(second ? 0 : TFS_PRODUCT_FIRST_TRANSPOSED));
	scene_make(scene, &call, 100000);
}

static void soften(struct scene *scene, const struct form *form)
{
	const uint64_t scores = (uint64_t)HEADS * KEYS * form->queries * form->bytes;
	const bool own = form->between == OWN;
	struct builder_call call =
		scene_call(scene, 11, SCENE_LEGACY, own ? TFS_LIBRARY_cudart : TFS_LIBRARY_cudnn,
			own ? TFS_FAMILY_launch : TFS_FAMILY_softmax,
			own ? "__cudaLaunchKernel" : "cudnnSoftmaxForward");

	if (own) {
		builder_operand(&call, TFS_ROLE_READ, memory_of[2], 0);
		builder_operand(&call, TFS_ROLE_MAYBE, memory_of[3], 0);
		builder_attribute(&call, TFS_ATTRIBUTE_grid,
			(uint64_t)HEADS * form->queries | UINT64_C(1) << 32);
		builder_attribute(&call, TFS_ATTRIBUTE_block, 128 | UINT64_C(1) << 32);
	} else {
		builder_operand(&call, TFS_ROLE_READ, memory_of[2], scores);
		builder_operand(&call, TFS_ROLE_WRITE, memory_of[3], scores);
		builder_attribute(&call, TFS_ATTRIBUTE_row, KEYS);
	}
	scene_make(scene, &call, 60000);
}

static void attend(struct scene *scene, const struct form *form, uint64_t aside)
{
	struct builder_call call = scene_call(scene, 13, SCENE_LEGACY, TFS_LIBRARY_cudart,
		TFS_FAMILY_graph_launch, "cudaGraphLaunch");

	if (form->launches)
		scene_launch(scene, 14, SCENE_LEGACY, 20000, 1024, 1, &aside);
	if (form->graph)
		scene_make(scene, &call, 100000);
	if (form->lists) {
		call = scene_call(scene, 15, SCENE_LEGACY, TFS_LIBRARY_cublas, TFS_FAMILY_gemm,
			"cublasSgemmBatched");
		scene_make(scene, &call, 100000);
	}
	if (form->bytes) {
		product(scene, 10, form, false);
		soften(scene, form);
		if (form->between == OTHERS)
			scene_launch(scene, 16, SCENE_LEGACY, 20000, 1024, 1, &aside);
		product(scene, 12, form, true);
	}
	if (form->read_later)
		scene_gemm(scene, 17, memory_of[3], aside, MIB, false, 20000);
	scene_gemm(scene, 18, aside, aside, MIB, true, form->other_ns);
}

static struct scene *make(const struct form *form)
{
	struct scene *scene = scene_create_sized(0, form->cache);
	const uint64_t aside = scene_memory(scene, TFS_MEMORY_DEVICE, MIB);

	for (unsigned i = 0; i < 6; i++)
		memory_of[i] = scene_memory(scene, TFS_MEMORY_DEVICE, 8 * MIB);
	if (form->stepless)
		builder_window(scene_builder(scene), true, 1, scene_now(scene) - 100, 3);
	for (unsigned i = 0; i < (form->stepless ? 5 : STEPS); i++) {
		if (!form->stepless)
			scene_step(scene);
		attend(scene, form, aside);
	}
	scene_judge(scene, NULL);
	return scene;
}

static void check(const struct form *form)
{
	struct scene *scene = make(form);
	const struct tfs_finding *finding = scene_finding(scene, "TFS306", 10);
	bool held = TEST_EQ(scene_state(scene, "TFS306"), form->state);

	held &= TEST_EQ(finding != NULL, form->state == TFS_STATE_VIOLATED);
	held &= TEST_STR(finding ? finding->message : scene_reason(scene, "TFS306"), form->says);
	if (finding && form->advice)
		held &= TEST_EQ(strncmp(finding->advice, form->advice, strlen(form->advice)), 0);
	if (!held)
		printf("  %s\n", finding ? finding->advice : scene_reason(scene, "TFS306"));
	scene_destroy(scene);
}

#define KEPT_ON_CHIP "ompute attention in one kernel that keeps the scores on the chip: "
#define IN_HALVES                                                                                  \
	"cuDNN (scaled dot product attention, in its graph API) and FlashAttention have such kernels; check which head sizes your version supports. "
#define IN_FLOATS "one of your own, as those of cuDNN and FlashAttention take FP16 and BF16 only. "

int main(void)
{
	static const struct form forms[] = {
		/* It writes scores and shares once, and reads each once. */
		{.bytes = 4,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.state = TFS_STATE_VIOLATED,
			.says = "computes attention in 3 calls, which pass 32.0 MiB per step through memory from one to the next and take 50 % of the GPU's time",
			.advice = "C" KEPT_ON_CHIP IN_FLOATS "Results differ"},
		{.bytes = 2,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.state = TFS_STATE_VIOLATED,
			.says = "computes attention in 3 calls, which pass 16.0 MiB per step through memory from one to the next and take 50 % of the GPU's time",
			.advice = "C" KEPT_ON_CHIP IN_HALVES "Results differ"},
		{.bytes = 4,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.read_later = true,
			.state = TFS_STATE_VIOLATED,
			.says = "computes attention in 3 calls, which pass 24.0 MiB per step through memory from one to the next and take 48 % of the GPU's time; something reads scores or probabilities later",
			.advice = "C" KEPT_ON_CHIP IN_FLOATS
				  "Something reads scores or probabilities later: have it"},
		/* A kernel may read more than it names. */
		{.bytes = 4,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.launches = true,
			.state = TFS_STATE_VIOLATED,
			.says = "computes attention in 3 calls, which pass 32.0 MiB per step through memory from one to the next and take 48 % of the GPU's time",
			.advice = "C" KEPT_ON_CHIP IN_FLOATS
				  "If something reads scores or probabilities later, as"},
		{.bytes = 4,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.between = OWN,
			.state = TFS_STATE_VIOLATED,
			.says = "computes what looks like attention in 3 calls, which pass 32.0 MiB per step through memory from one to the next and take 50 % of the GPU's time",
			.advice =
				"If the kernels between the two GEMMs are a softmax of each row, with scaling, masking or dropout at most, c" KEPT_ON_CHIP},
		/* With fewer queries than keys an MLP of experts looks the same. */
		{.bytes = 4,
			.queries = KEYS / 2,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.between = OWN,
			.state = TFS_STATE_NOT_MEASURABLE,
			.says = "batched GEMMs with a kernel of the program between them, which works row by row, take 50 % of the GPU's time; whether that is a softmax was not seen"},
		{.bytes = 4,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.between = OTHERS,
			.state = TFS_STATE_NOT_MEASURABLE,
			.says = "between calls that look like attention, a call of __cudaLaunchKernel may use what they pass on: what it works on was not seen"},
		{.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.lists = true,
			.state = TFS_STATE_NOT_MEASURABLE,
			.says = "GEMMs of matrices in lists take 28 % of the GPU's time; what they read and write was not recorded"},
		{.bytes = 4,
			.queries = KEYS,
			.cache = MIB,
			.other_ns = 260000,
			.state = TFS_STATE_NOT_MEASURABLE,
			.says = "batched GEMMs take 38 % of the GPU's time; in which order their matrices lie was not recorded"},
		{.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.graph = true,
			.state = TFS_STATE_NOT_MEASURABLE,
			.says = "graphs take 28 % of the GPU's time; which GEMMs are in them was not recorded"},
		/* Scores and shares are half of what it holds, or a little more. */
		{.bytes = 4,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = 32 * MIB,
			.other_ns = 260000,
			.state = TFS_STATE_PASSED,
			.says = "the scores of attention stay in the second-level cache"},
		{.bytes = 4,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = 31 * MIB,
			.other_ns = 260000,
			.state = TFS_STATE_VIOLATED,
			.says = "computes attention in 3 calls, which pass 32.0 MiB per step through memory from one to the next and take 50 % of the GPU's time"},
		{.bytes = 4,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 20000000,
			.state = TFS_STATE_PASSED,
			.says = "attention that passes scores through memory takes less than 5 % of the step, or is not in usual ones"},
		{.bytes = 4,
			.queries = KEYS,
			.order = TFS_PRODUCT_ORDERED,
			.cache = MIB,
			.other_ns = 260000,
			.stepless = true,
			.state = TFS_STATE_NOT_MEASURABLE,
			.says = "there is attention that passes scores through memory, but no training steps were found"},
	};

	for (size_t i = 0; i < sizeof(forms) / sizeof(*forms); i++)
		check(&forms[i]);
	return test_result();
}
