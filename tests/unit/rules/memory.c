/* SPDX-License-Identifier: MIT */
/* TFS401 and TFS402: memory that comes and goes, and zeros that nobody needs. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BYTES (UINT64_C(1) << 20)

struct memory {
	uint64_t input, grad, other;
};

static struct scene *start(struct memory *memory)
{
	struct scene *scene = scene_create(false);

	memory->input = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	memory->grad = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	memory->other = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	return scene;
}

static void expect(struct scene *scene, const char *id, enum tfs_state state, unsigned findings)
{
	bool held;

	scene_judge(scene, NULL);
	held = TEST_EQ(scene_state(scene, id), state);
	if (!TEST_EQ(scene_findings(scene, id), findings) || !held)
		scene_print(scene);
}

static void churn(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);
	const struct tfs_finding *freed;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_malloc(scene, 10, UINT64_C(0x7e0000000000), BYTES);
		scene_launch(scene, 11, SCENE_LEGACY, 100000, 1024, 1, &memory.input);
		scene_free(scene, 12, UINT64_C(0x7e0000000000));
		scene_host(scene, 20000);
	}
	expect(scene, "TFS401", TFS_STATE_VIOLATED, 2);
	freed = scene_finding(scene, "TFS401", 12);
	TEST_NEED(
		freed && scene_finding(scene, "TFS401", 10) && scene_finding(scene, "TFS202", 12));
	TEST_EQ(freed->level, TFS_LEVEL_ERROR);
	TEST_EQ(scene_finding(scene, "TFS401", 10)->level, TFS_LEVEL_ERROR);
	TEST_STR(scene_finding(scene, "TFS401", 10)->message,
		"allocates device memory, 1 call/step");
	/* The free is 202 as well: one group, one cost. */
	TEST_TRUE(freed->group && freed->group == scene_finding(scene, "TFS202", 12)->group);
	TEST_EQ(freed->cost.ns, scene_finding(scene, "TFS202", 12)->cost.ns);
	scene_destroy(scene);
}

static void once_per_epoch_is_a_note(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		if (i == 20)
			scene_malloc(scene, 10, UINT64_C(0x7e0000000000), BYTES);
		scene_launch(scene, 11, SCENE_LEGACY, 100000, 1024, 1, &memory.input);
		if (i == 25)
			scene_free(scene, 12, 0);
	}
	expect(scene, "TFS401", TFS_STATE_VIOLATED, 1);
	TEST_EQ(scene_finding(scene, "TFS401", 10)->level, TFS_LEVEL_NOTE);
	scene_destroy(scene);
}

static void warm_up_and_pools_pass(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call pool;

		scene_phase_step(scene, i < 3 ? TFS_PHASE_WARMUP : TFS_PHASE_TRAINING, 0);
		if (i < 3)
			scene_malloc(scene, 10, UINT64_C(0x7e0000000000) + i * BYTES, BYTES);
		pool = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudart,
			TFS_FAMILY_alloc_async, "cudaMallocAsync");
		pool.amount = BYTES;
		scene_make(scene, &pool, 0);
		scene_launch(scene, 12, SCENE_LEGACY, 100000, 1024, 1, &memory.input);
	}
	expect(scene, "TFS401", TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

enum use {
	ADDED,
	ADDED_TWICE,
	WRITTEN,
	WRITTEN_IN_PART,
	READ,
	OWN_KERNEL,
	FILL_KERNEL,
	TWO_PARTS,
	SUMMED
};

static void use_grad(struct scene *scene, const struct memory *memory, enum use use)
{
	struct builder_call fill;

	switch (use) {
	case FILL_KERNEL:
		fill = scene_call(scene, 9, SCENE_LEGACY, TFS_LIBRARY_cudart, TFS_FAMILY_launch,
			"__cudaLaunchKernel");
		/* As hooks record it: how much a kernel touches they cannot know. */
		builder_operand(&fill, TFS_ROLE_MAYBE, memory->grad, 0);
		builder_attribute(&fill, TFS_ATTRIBUTE_grid, 1024 | UINT64_C(1) << 32);
		builder_attribute(&fill, TFS_ATTRIBUTE_block, 256 | UINT64_C(1) << 32);
		builder_attribute(&fill, TFS_ATTRIBUTE_argument, 0);
		builder_attribute(&fill, TFS_ATTRIBUTE_argument, BYTES / 4);
		scene_make(scene, &fill, 20000);
		scene_gemm(scene, 11, memory->input, memory->grad, BYTES, true, 50000);
		break;
	case ADDED_TWICE:
		scene_gemm(scene, 11, memory->input, memory->grad, BYTES, true, 50000);
		scene_gemm(scene, 11, memory->other, memory->grad, BYTES, true, 50000);
		break;
	case TWO_PARTS:
		scene_gemm(scene, 11, memory->input, memory->grad, BYTES / 2, true, 50000);
		scene_gemm(
			scene, 11, memory->input, memory->grad + BYTES / 2, BYTES / 2, true, 50000);
		break;
	case WRITTEN_IN_PART:
		scene_gemm(scene, 11, memory->input, memory->grad, BYTES / 2, false, 50000);
		break;
	case READ:
		scene_gemm(scene, 11, memory->grad, memory->other, BYTES, false, 50000);
		break;
	case OWN_KERNEL:
		scene_launch(scene, 11, SCENE_LEGACY, 50000, BYTES / 4, 2,
			(const uint64_t[]){memory->grad, memory->input});
		break;
	case ADDED:
	case SUMMED:
	case WRITTEN:
		scene_gemm(scene, 11, memory->input, memory->grad, BYTES, use != WRITTEN, 50000);
		break;
	}
}

static void zeroing(enum use use, enum tfs_state state)
{
	struct memory memory;
	struct scene *scene = start(&memory);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		/* A sum over steps begins anew in every fifth one. */
		if (use != FILL_KERNEL && (use != SUMMED || i % 5 == 0))
			scene_set(scene, 10, memory.grad, BYTES, 0);
		use_grad(scene, &memory, use);
		/* The update reads the gradient. */
		scene_gemm(scene, 13, memory.grad, memory.other, BYTES, true, 30000);
	}
	expect(scene, "TFS402", state, state == TFS_STATE_VIOLATED);
	finding = scene_finding(scene, "TFS402", use == FILL_KERNEL ? 9 : 10);
	TEST_EQ(finding != NULL, state == TFS_STATE_VIOLATED);
	if (finding) {
		TEST_EQ(finding->level, TFS_LEVEL_WARN);
		TEST_EQ(finding->bytes_per_step, BYTES);
		TEST_STR(finding->message,
			use == WRITTEN
				? "zeroes 1.00 MiB per step, which cublasSgemm_v2 then overwrites"
				: "zeroes 1.00 MiB per step, which cublasSgemm_v2 then adds to once, with beta = 1");
		TEST_STR(finding->advice,
			use == WRITTEN
				? finding->rule->advice
				: "Remove this zeroing and call cublasSgemm_v2 and similar calls with beta = 0, which writes without reading.");
		TEST_STR(finding->repair.name, "memset-elision");
	} else if (state == TFS_STATE_PASSED) {
		TEST_STR(scene_reason(scene, "TFS402"),
			"no significant memory is zeroed only to be overwritten; 1 call site's zeros are needed");
	}
	scene_destroy(scene);
}

/* So much is zeroed, in 20 us of a step in which the device has this to do besides. */
static void little_zeroing(uint64_t bytes, uint64_t work_ns, enum tfs_state state)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_set(scene, 10, memory.grad, bytes, 0);
		scene_gemm(scene, 11, memory.input, memory.grad, bytes, false, work_ns);
		scene_gemm(scene, 13, memory.grad, memory.other, bytes, true, 30000);
		scene_device_sync(scene, 14);
	}
	expect(scene, "TFS402", state, state == TFS_STATE_VIOLATED);
	if (state == TFS_STATE_PASSED)
		TEST_STR(scene_reason(scene, "TFS402"),
			"no significant memory is zeroed only to be overwritten; 1 call site zeroes little");
	scene_destroy(scene);
}

static void floor_of_zeroing(void)
{
	little_zeroing(64 << 10, 6000000, TFS_STATE_VIOLATED);
	little_zeroing((64 << 10) - 4, 6000000, TFS_STATE_PASSED);
	/* Half a hundredth is 20 us of 4 ms. */
	little_zeroing(4096, 3850000, TFS_STATE_VIOLATED);
	little_zeroing(4096, 4050000, TFS_STATE_PASSED);
}

/* A vector's product with a number, of so many elements a step apart, is added to. */
static void scaling(double alpha, uint64_t step, enum tfs_state state)
{
	struct memory memory;
	struct scene *scene = start(&memory);
	const struct tfs_finding *finding;
	uint64_t bits;

	memcpy(&bits, &alpha, sizeof(bits));
	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cublas,
			TFS_FAMILY_blas_pointwise, "cublasSscal_v2");

		builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_WRITE, memory.grad, BYTES);
		builder_attribute(&call, TFS_ATTRIBUTE_shape_m, BYTES / 4 / step);
		builder_attribute(&call, TFS_ATTRIBUTE_alpha, bits);
		scene_step(scene);
		scene_make(scene, &call, 20000);
		scene_gemm(scene, 11, memory.input, memory.grad, BYTES, true, 50000);
		scene_gemm(scene, 13, memory.grad, memory.other, BYTES, true, 30000);
	}
	expect(scene, "TFS402", state, state == TFS_STATE_VIOLATED);
	finding = scene_finding(scene, "TFS402", 10);
	if (finding) {
		TEST_STR(finding->message,
			"zeroes 1.00 MiB per step by scaling with 0, which cublasSgemm_v2 then adds to once, with beta = 1");
		/* Which takes memsets away alone. */
		TEST_TRUE(!finding->repair.name);
	}
	scene_destroy(scene);
}

/* A product whose result has so many bytes for each element: what is none's size has holes. */
static void product(uint64_t element, enum tfs_state state)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cublas,
			TFS_FAMILY_gemm, "cublasGemmEx");

		builder_operand(&call, TFS_ROLE_READ, memory.input, BYTES);
		builder_operand(&call, TFS_ROLE_WRITE, memory.grad, BYTES);
		builder_attribute(&call, TFS_ATTRIBUTE_shape_m, BYTES / 4 / element);
		builder_attribute(&call, TFS_ATTRIBUTE_shape_n, 4);
		builder_attribute(&call, TFS_ATTRIBUTE_beta, 0);
		scene_step(scene);
		scene_set(scene, 10, memory.grad, BYTES, 0);
		scene_make(scene, &call, 50000);
		scene_gemm(scene, 13, memory.grad, memory.other, BYTES, true, 30000);
	}
	expect(scene, "TFS402", state, state == TFS_STATE_VIOLATED);
	scene_destroy(scene);
}

/* One line zeroes what is overwritten, and what may be used when nothing is recorded any more. It
 * is to go from the source only where there is no such thing but in the end. */
static void removal(unsigned first_unknown, bool removes)
{
	struct memory memory;
	struct scene *scene = start(&memory);
	uint64_t kept[STEPS];

	for (unsigned i = 0; i < STEPS; i++)
		kept[i] = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_set(scene, 10, memory.grad, BYTES, 0);
		if (i >= first_unknown)
			scene_set(scene, 10, kept[i], BYTES, 0);
		scene_gemm(scene, 11, memory.input, memory.grad, BYTES, false, 50000);
		scene_gemm(scene, 13, memory.grad, memory.other, BYTES, true, 30000);
	}
	expect(scene, "TFS402", TFS_STATE_VIOLATED, 1);
	TEST_EQ(scene_finding(scene, "TFS402", 10)->removes, removes);
	scene_destroy(scene);
}

/* Momentum that lives in the gradient buffer is never zeroed; filling with ones is no zeroing. */
static void other_fills_pass(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_set(scene, 10, memory.other, BYTES, 1);
		scene_gemm(scene, 11, memory.input, memory.grad, BYTES, true, 50000);
		scene_gemm(scene, 12, memory.grad, memory.other, BYTES, false, 50000);
	}
	expect(scene, "TFS402", TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

int main(void)
{
	churn();
	once_per_epoch_is_a_note();
	warm_up_and_pools_pass();
	zeroing(ADDED, TFS_STATE_VIOLATED);
	zeroing(WRITTEN, TFS_STATE_VIOLATED);
	zeroing(TWO_PARTS, TFS_STATE_VIOLATED);
	/* A decay of zero looks the same. */
	zeroing(FILL_KERNEL, TFS_STATE_NOT_MEASURABLE);
	zeroing(ADDED_TWICE, TFS_STATE_PASSED);
	zeroing(SUMMED, TFS_STATE_PASSED);
	zeroing(WRITTEN_IN_PART, TFS_STATE_PASSED);
	zeroing(READ, TFS_STATE_PASSED);
	zeroing(OWN_KERNEL, TFS_STATE_NOT_MEASURABLE);
	other_fills_pass();
	floor_of_zeroing();
	scaling(0, 1, TFS_STATE_VIOLATED);
	scaling(-0.0, 1, TFS_STATE_VIOLATED);
	scaling(0.9, 1, TFS_STATE_PASSED);
	scaling(0, 4, TFS_STATE_PASSED);
	for (uint64_t element = 1; element <= 8; element *= 2)
		product(element, TFS_STATE_VIOLATED);
	product(16, TFS_STATE_PASSED);
	removal(STEPS, true);
	removal(STEPS - 1, true);
	removal(STEPS - 2, false);
	removal(0, false);
	return test_result();
}
