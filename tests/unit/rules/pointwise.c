/* SPDX-License-Identifier: MIT */
/* TFS301: chains of elementwise operations, of libraries and of the program. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define COUNT (UINT64_C(1) << 21)
#define BYTES (COUNT * 4)
/* To read and write all of it at 900 GB/s. */
#define PASS_NS ((double)BYTES * 2 / 900)

struct memory {
	uint64_t x, y, z, bias;
};

static struct scene *start(struct memory *memory)
{
	struct scene *scene = scene_create(false);

	memory->x = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	memory->y = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	memory->z = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
	memory->bias = scene_memory(scene, TFS_MEMORY_DEVICE, 512);
	return scene;
}

static const struct tfs_finding *expect(struct scene *scene, enum tfs_state state, unsigned line)
{
	bool held;

	scene_judge(scene, NULL);
	held = TEST_EQ(scene_state(scene, "TFS301"), state);
	if (!TEST_EQ(scene_findings(scene, "TFS301"), state == TFS_STATE_VIOLATED) || !held)
		scene_print(scene);
	if (line)
		TEST_NEED(scene_finding(scene, "TFS301", line));
	return scene_finding(scene, "TFS301", line);
}

static void pointwise(
	struct scene *scene, unsigned line, unsigned stream, uint64_t from, uint64_t to)
{
	struct builder_call call = scene_call(scene, line, stream, TFS_LIBRARY_cudnn,
		TFS_FAMILY_activation, "cudnnActivationForward");

	builder_operand(&call, TFS_ROLE_READ, from, BYTES);
	builder_operand(&call, TFS_ROLE_WRITE, to, BYTES);
	scene_make(scene, &call, 30000);
}

static void add_bias(struct scene *scene, unsigned line, const struct memory *memory, uint64_t to)
{
	struct builder_call call = scene_call(
		scene, line, SCENE_LEGACY, TFS_LIBRARY_cudnn, TFS_FAMILY_bias, "cudnnAddTensor");

	builder_operand(&call, TFS_ROLE_READ, memory->bias, 512);
	builder_operand(&call, TFS_ROLE_READ | TFS_ROLE_WRITE, to, BYTES);
	scene_make(scene, &call, 30000);
}

static void convolve(struct scene *scene, unsigned line, const struct memory *memory, uint64_t to)
{
	struct builder_call call = scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cudnn,
		TFS_FAMILY_conv_forward, "cudnnConvolutionForward");

	builder_operand(&call, TFS_ROLE_READ, memory->x, BYTES);
	builder_operand(&call, TFS_ROLE_WRITE, to, BYTES);
	scene_make(scene, &call, 100000);
}

static void bias_and_activation(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		convolve(scene, 10, &memory, memory.y);
		add_bias(scene, 11, &memory, memory.y);
		pointwise(scene, 12, SCENE_LEGACY, memory.y, memory.y);
		scene_gemm(scene, 13, memory.y, memory.z, BYTES, false, 50000);
		scene_device_sync(scene, 14);
	}
	finding = expect(scene, TFS_STATE_VIOLATED, 11);
	TEST_EQ(finding->level, TFS_LEVEL_NOTE);
	TEST_TRUE(strstr(finding->message, " MiB per step through memory needlessly"));
	TEST_TRUE(strstr(finding->advice, "cudnnConvolutionBiasActivationForward"));
	/* Half of the traffic of two operations of 30 us, and a gap. */
	TEST_IN(finding->cost.ns, 28000, 34000);
	scene_destroy(scene);
}

/* What backward reads later must be written anyway: only its reading back is saved. */
static void kept_values_count_half(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		convolve(scene, 10, &memory, memory.y);
		add_bias(scene, 11, &memory, memory.y);
		pointwise(scene, 12, SCENE_LEGACY, memory.y, memory.z);
		scene_gemm(scene, 13, memory.y, memory.x, BYTES, false, 50000);
		scene_gemm(scene, 14, memory.z, memory.x, BYTES, false, 50000);
		scene_device_sync(scene, 15);
	}
	finding = expect(scene, TFS_STATE_VIOLATED, 11);
	TEST_IN(finding->cost.ns, 13000, 19000);
	scene_destroy(scene);
}

static void no_chains(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);
	unsigned other = scene_stream(scene, 4);

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call;

		scene_step(scene);
		convolve(scene, 10, &memory, memory.y);
		add_bias(scene, 11, &memory, memory.y);
		/* A reduction ends it, and one elementwise call is no chain. */
		call = scene_call(scene, 12, SCENE_LEGACY, TFS_LIBRARY_cudnn, TFS_FAMILY_softmax,
			"cudnnSoftmaxForward");
		builder_operand(&call, TFS_ROLE_READ, memory.y, BYTES);
		builder_operand(&call, TFS_ROLE_WRITE, memory.z, BYTES);
		scene_make(scene, &call, 30000);
		pointwise(scene, 13, SCENE_LEGACY, memory.z, memory.z);
		/* A product in between. */
		scene_gemm(scene, 17, memory.z, memory.z, BYTES, false, 50000);
		pointwise(scene, 18, SCENE_LEGACY, memory.z, memory.z);
		/* Another stream, and another buffer. */
		pointwise(scene, 14, other, memory.z, memory.z);
		pointwise(scene, 15, SCENE_LEGACY, memory.x, memory.x);
		/* One update per parameter: each works on its own. */
		for (unsigned j = 0; j < 3; j++) {
			call = scene_call(scene, 16, SCENE_LEGACY, TFS_LIBRARY_cublas,
				TFS_FAMILY_blas_pointwise, "cublasSaxpy_v2");
			builder_operand(&call, TFS_ROLE_READ, memory.x + j * 1024, 1024);
			builder_operand(
				&call, TFS_ROLE_READ | TFS_ROLE_WRITE, memory.y + j * 1024, 1024);
			scene_make(scene, &call, 3000);
		}
	}
	expect(scene, TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

/* Three kernels on the same memory, in so many nanoseconds each. */
static struct scene *in_place(double each_ns)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_gemm(scene, 10, memory.x, memory.y, BYTES, false, 100000);
		for (unsigned line = 11; line <= 13; line++)
			scene_launch(
				scene, line, SCENE_LEGACY, (uint64_t)each_ns, COUNT, 1, &memory.y);
		scene_gemm(scene, 14, memory.y, memory.z, BYTES, false, 100000);
		scene_device_sync(scene, 15);
	}
	return scene;
}

static void own_kernels_in_place(void)
{
	struct scene *scene = in_place(25000);
	const struct tfs_finding *finding = expect(scene, TFS_STATE_VIOLATED, 11);

	/* One pass instead of three, where they are elementwise: nothing else is promised. */
	TEST_IN(finding->cost.ns, 48000, 56000);
	TEST_EQ((int)finding->cost.low_ns, 0);
	TEST_EQ(scene_judgement(scene)->joint_findings, 1); /* the wait */
	TEST_TRUE(strstr(finding->message, "look elementwise"));
	TEST_TRUE(!strstr(finding->message, "needless"));
	scene_destroy(scene);
}

/* Reading and writing all of it takes 18.6 us at 900 GB/s. What takes much longer, or less than a
 * cache could do it in, does something else. */
static void own_kernels_of_other_times(void)
{
	static const struct {
		double ns;
		enum tfs_state state;
	} cases[] = {
		{PASS_NS / 4 - 100, TFS_STATE_PASSED},
		{PASS_NS / 4 + 100, TFS_STATE_VIOLATED},
		{PASS_NS * 1.6 + 4900, TFS_STATE_VIOLATED},
		{PASS_NS * 1.6 + 5100, TFS_STATE_PASSED},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		struct scene *scene = in_place(cases[i].ns);

		expect(scene, cases[i].state, cases[i].state == TFS_STATE_VIOLATED ? 11 : 0);
		scene_destroy(scene);
	}
}

/* Two kernels on the same memory, with a thread for each so many elements, and so many blocks that
 * have none. */
static void own_kernels_of_vectors(uint64_t each, uint64_t empty, enum tfs_state state)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_gemm(scene, 10, memory.x, memory.y, BYTES, false, 100000);
		for (unsigned line = 11; line <= 12; line++) {
			struct builder_call call = scene_call(scene, line, SCENE_LEGACY,
				TFS_LIBRARY_cudart, TFS_FAMILY_launch, "__cudaLaunchKernel");

			builder_operand(&call, TFS_ROLE_MAYBE, memory.y, 0);
			builder_attribute(&call, TFS_ATTRIBUTE_grid,
				(COUNT / each / 256 + empty) | UINT64_C(1) << 32);
			builder_attribute(&call, TFS_ATTRIBUTE_block, 256 | UINT64_C(1) << 32);
			builder_attribute(&call, TFS_ATTRIBUTE_argument, COUNT);
			scene_make(scene, &call, 25000);
		}
		scene_gemm(scene, 13, memory.y, memory.z, BYTES, false, 100000);
		scene_device_sync(scene, 14);
	}
	expect(scene, state, state == TFS_STATE_VIOLATED ? 11 : 0);
	scene_destroy(scene);
}

/* From buffer to buffer: they may read their neighbours' values. */
static void own_kernels_between_buffers(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 10, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, memory.x, BYTES,
			90000);
		scene_launch(scene, 11, SCENE_LEGACY, 25000, COUNT, 2,
			(const uint64_t[]){memory.y, memory.x});
		scene_launch(scene, 12, SCENE_LEGACY, 25000, COUNT, 2,
			(const uint64_t[]){memory.z, memory.y});
		scene_gemm(scene, 13, memory.z, memory.x, BYTES, false, 50000);
	}
	expect(scene, TFS_STATE_NOT_MEASURABLE, 0);
	scene_destroy(scene);
}

/* Recorded as hooks do it, without how much a kernel touches: that is what its threads reach. The
 * value is written anew behind the chain: all of it, or a part, so that the rest must be kept. */
static void own_kernels_value(uint64_t written_anew, uint64_t low_ns, uint64_t high_ns)
{
	struct memory memory;
	struct scene *scene = start(&memory);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call;

		scene_step(scene);
		scene_gemm(scene, 10, memory.x, memory.y, BYTES, false, 100000);
		call = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudart, TFS_FAMILY_launch,
			"__cudaLaunchKernel");
		builder_operand(&call, TFS_ROLE_MAYBE, memory.y, 0);
		builder_attribute(&call, TFS_ATTRIBUTE_grid, COUNT / 256 | UINT64_C(1) << 32);
		builder_attribute(&call, TFS_ATTRIBUTE_block, 256 | UINT64_C(1) << 32);
		builder_attribute(&call, TFS_ATTRIBUTE_argument, COUNT);
		scene_make(scene, &call, 25000);
		pointwise(scene, 12, SCENE_LEGACY, memory.y, memory.z);
		scene_set(scene, 13, memory.y, written_anew, 1);
		scene_gemm(scene, 14, memory.z, memory.x, BYTES, false, 100000);
		scene_device_sync(scene, 15);
	}
	finding = expect(scene, TFS_STATE_VIOLATED, 11);
	TEST_IN(finding->cost.ns, low_ns, high_ns);
	scene_destroy(scene);
}

/* One update kernel per parameter, a per-row kernel, fills: none is a chain. */
static void own_kernels_that_are_none(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_gemm(scene, 10, memory.x, memory.y, BYTES, false, 100000);
		scene_launch(scene, 11, SCENE_LEGACY, 30000, COUNT, 1, &memory.y);
		scene_launch(scene, 12, SCENE_LEGACY, 30000, COUNT / 64, 1, &memory.y);
		scene_gemm(scene, 13, memory.y, memory.x, BYTES, false, 100000);
		for (unsigned j = 0; j < 2; j++)
			scene_launch(scene, 14, SCENE_LEGACY, 3000, 1024, 2,
				(const uint64_t[]){memory.z + j * 8192, memory.x + j * 8192});
	}
	expect(scene, TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

/* Both have held values since earlier: either may be what is written. */
static void own_kernels_of_unknown_flow(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_copy(scene, 10, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, memory.x, BYTES,
			90000);
		scene_copy(scene, 11, SCENE_LEGACY, true, true, TFS_MEMORY_PINNED, memory.y, BYTES,
			90000);
		for (unsigned j = 0; j < 2; j++)
			scene_launch(scene, 12 + j, SCENE_LEGACY, 25000, COUNT, 2,
				(const uint64_t[]){memory.y, memory.x});
	}
	expect(scene, TFS_STATE_NOT_MEASURABLE, 0);
	scene_destroy(scene);
}

static void small_chains_pass(void)
{
	struct memory memory;
	struct scene *scene = start(&memory);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_gemm(scene, 10, memory.x, memory.y, BYTES, false, 20000000);
		add_bias(scene, 11, &memory, memory.y);
		pointwise(scene, 12, SCENE_LEGACY, memory.y, memory.y);
		scene_device_sync(scene, 13);
	}
	expect(scene, TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

int main(void)
{
	bias_and_activation();
	kept_values_count_half();
	no_chains();
	own_kernels_in_place();
	own_kernels_of_other_times();
	for (uint64_t each = 1; each <= 8; each *= 2) {
		own_kernels_of_vectors(each, 0, TFS_STATE_VIOLATED);
		own_kernels_of_vectors(each, 1, TFS_STATE_PASSED);
	}
	own_kernels_of_vectors(16, 0, TFS_STATE_PASSED);
	own_kernels_between_buffers();
	own_kernels_value(BYTES, 28000, 34000);
	own_kernels_value(BYTES / 2, 13000, 19000);
	own_kernels_that_are_none();
	own_kernels_of_unknown_flow();
	small_chains_pass();
	return test_result();
}
