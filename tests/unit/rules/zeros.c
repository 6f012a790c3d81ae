/* SPDX-License-Identifier: MIT */
/* What becomes of memory that was zeroed, and which calls replace all of what was there. */
#include "rules/device/zeroing.h"

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u
#define BYTES (UINT64_C(1) << 20)
#define HALF (BYTES / 2)
#define PIECE UINT64_C(4096)
#define DEVICE_ROLE TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE)

static struct scene *scene;
static uint64_t grad, other;

static struct builder_call product(enum tfs_family family)
{
	return scene_call(
		scene, 11, SCENE_LEGACY, TFS_LIBRARY_cublas, family, "cublasSomething_v2");
}

static void put_beta(struct builder_call *call, double beta)
{
	uint64_t bits;

	memcpy(&bits, &beta, sizeof(bits));
	builder_attribute(call, TFS_ATTRIBUTE_beta, bits);
}

static void make(struct builder_call *call)
{
	scene_make(scene, call, 20000);
}

/* A product of memory, with such a role and factor. */
static void use(uint32_t role, double beta, uint64_t offset, uint64_t bytes)
{
	struct builder_call call = product(TFS_FAMILY_gemm);

	builder_operand(&call, role | DEVICE_ROLE, grad + offset, bytes);
	put_beta(&call, beta);
	make(&call);
}

static void write_part(uint64_t offset, uint64_t bytes)
{
	use(TFS_ROLE_WRITE, 0, offset, bytes);
}

static void written(void)
{
	write_part(0, BYTES);
}

static void read_by(void)
{
	use(TFS_ROLE_READ, 0, 0, BYTES);
}

static void added(void)
{
	use(TFS_ROLE_READ | TFS_ROLE_WRITE, 1, 0, BYTES);
}

/* Some calls do not say that they read what they add to. */
static void added_silently(void)
{
	use(TFS_ROLE_WRITE, 1, 0, BYTES);
}

static void averaged(void)
{
	use(TFS_ROLE_WRITE, 0.5, 0, BYTES);
}

static void read_and_written(void)
{
	use(TFS_ROLE_READ | TFS_ROLE_WRITE, 0, 0, BYTES);
}

static void failed(void)
{
	struct builder_call call = product(TFS_FAMILY_gemm);

	call.status = 13;
	builder_operand(&call, TFS_ROLE_WRITE | DEVICE_ROLE, grad, BYTES);
	make(&call);
}

/* Part of what is added to is no zeros any more. */
static void added_to_written(void)
{
	write_part(0, HALF);
	added();
}

static void added_to_halves(void)
{
	use(TFS_ROLE_WRITE, 1, 0, HALF);
	use(TFS_ROLE_WRITE, 1, HALF, HALF);
}

/* Neither begins the whole sum anew. */
static void zeroed_in_part_between(void)
{
	added();
	scene_set(scene, 14, grad, HALF, 0);
	added();
}

static void written_in_part_between(void)
{
	added();
	write_part(0, HALF);
	added();
}

static void written_between(void)
{
	added();
	written();
	added();
}

static void in_few_pieces(void)
{
	for (uint64_t i = 0; i < 20; i++)
		write_part(2 * i * PIECE, PIECE);
	written();
}

/* More than are told apart. */
static void in_many_pieces(void)
{
	for (uint64_t i = 0; i < 40; i++)
		write_part(2 * i * PIECE, PIECE);
	written();
}

/* Rows of a copy have room between them. */
static void copied_in_rows(void)
{
	struct builder_call call = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudart,
		TFS_FAMILY_copy_async, "cudaMemcpy2DAsync");

	call.amount = HALF;
	builder_operand(&call, TFS_ROLE_WRITE | DEVICE_ROLE, grad, BYTES);
	builder_operand(&call, TFS_ROLE_READ | DEVICE_ROLE, other, HALF);
	make(&call);
	read_by();
}

static void copied(void)
{
	struct builder_call call = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudart,
		TFS_FAMILY_copy_async, "cudaMemcpyAsync");

	call.amount = BYTES;
	builder_operand(&call, TFS_ROLE_WRITE | DEVICE_ROLE, grad, BYTES);
	builder_operand(&call, TFS_ROLE_READ | DEVICE_ROLE, other, BYTES);
	make(&call);
}

/* Something between that may use the zeros, though it does not say so, and then they are written.
 */
static void behind(enum tfs_library library, enum tfs_family family, uint64_t work_ns,
	uint32_t role, bool host_result)
{
	struct builder_call call = scene_call(scene, 12, SCENE_LEGACY, library, family, "someCall");

	if (role)
		builder_operand(&call, role | DEVICE_ROLE, other, BYTES);
	if (host_result)
		builder_attribute(&call, TFS_ATTRIBUTE_host_result, 1);
	scene_make(scene, &call, work_ns);
	written();
}

static void behind_graph(void)
{
	behind(TFS_LIBRARY_cudart, TFS_FAMILY_graph_launch, 5000, 0, false);
}

static void behind_callback(void)
{
	behind(TFS_LIBRARY_cudart, TFS_FAMILY_host_func, 0, 0, false);
}

static void behind_unknown_work(void)
{
	behind(TFS_LIBRARY_cudart, TFS_FAMILY_other, 5000, 0, false);
}

static void behind_a_question(void)
{
	behind(TFS_LIBRARY_cudart, TFS_FAMILY_other, 0, 0, false);
}

/* As a list of matrices has none. */
static void behind_no_result(void)
{
	behind(TFS_LIBRARY_cublas, TFS_FAMILY_gemm, 5000, TFS_ROLE_READ, false);
}

static void behind_workspace(void)
{
	behind(TFS_LIBRARY_cublas, TFS_FAMILY_gemm, 5000, TFS_ROLE_WRITE | TFS_ROLE_SCRATCH, false);
}

static void behind_result(void)
{
	behind(TFS_LIBRARY_cublas, TFS_FAMILY_gemm, 5000, TFS_ROLE_WRITE, false);
}

static void behind_host_result(void)
{
	behind(TFS_LIBRARY_cublas, TFS_FAMILY_blas, 5000, TFS_ROLE_READ, true);
}

/* What comes behind all uses is none of them. */
static void before_graph(void)
{
	written();
	struct builder_call call = scene_call(scene, 12, SCENE_LEGACY, TFS_LIBRARY_cudart,
		TFS_FAMILY_graph_launch, "cudaGraphLaunch");

	make(&call);
}

/* A convolution of 2 x 3 x 4 x 5 to 2 x 6 x 7 x 8 elements, either of which may have a hole. */
static void convolve(enum tfs_family family, bool x_hole, bool y_hole)
{
	const int32_t x[] = {3 * 4 * 5 + x_hole, 4 * 5, 5, 1};
	const int32_t y[] = {6 * 7 * 8 + y_hole, 7 * 8, 8, 1};
	struct builder_call call = product(family);
	int32_t fields[TFS_PROBLEM_FIELD_COUNT] = {0};

	fields[TFS_PROBLEM_n] = 2;
	fields[TFS_PROBLEM_c] = 3;
	fields[TFS_PROBLEM_h] = 4;
	fields[TFS_PROBLEM_w] = 5;
	fields[TFS_PROBLEM_k] = 6;
	fields[TFS_PROBLEM_out_h] = 7;
	fields[TFS_PROBLEM_out_w] = 8;
	memcpy(&fields[TFS_PROBLEM_x_stride_n], x, sizeof(x));
	memcpy(&fields[TFS_PROBLEM_y_stride_n], y, sizeof(y));
	builder_attribute(&call, TFS_ATTRIBUTE_problem,
		builder_problem(scene_builder(scene), fields, TFS_PROBLEM_FIELD_COUNT));
	builder_operand(&call, TFS_ROLE_WRITE | DEVICE_ROLE, grad, BYTES);
	make(&call);
}

static void conv_dense(void)
{
	convolve(TFS_FAMILY_conv_forward, true, false);
}

static void conv_with_holes(void)
{
	convolve(TFS_FAMILY_conv_forward, false, true);
}

static void fused_dense(void)
{
	convolve(TFS_FAMILY_conv_fused, true, false);
}

static void fused_with_holes(void)
{
	convolve(TFS_FAMILY_conv_fused, false, true);
}

static void data_dense(void)
{
	convolve(TFS_FAMILY_conv_backward_data, false, true);
}

static void data_with_holes(void)
{
	convolve(TFS_FAMILY_conv_backward_data, true, false);
}

static void filter(void)
{
	convolve(TFS_FAMILY_conv_backward_filter, true, true);
}

static const struct scenario {
	const char *name;
	void (*step)(void);
	enum tfs_zeros zeros;
} scenarios[] = {
	{"written", written, TFS_ZEROS_OVERWRITTEN},
	{"read", read_by, TFS_ZEROS_NEEDED},
	{"added", added, TFS_ZEROS_ADDED_TO},
	{"added silently", added_silently, TFS_ZEROS_ADDED_TO},
	{"averaged", averaged, TFS_ZEROS_NEEDED},
	{"read and written", read_and_written, TFS_ZEROS_NEEDED},
	{"failed", failed, TFS_ZEROS_OPAQUE},
	{"added to written", added_to_written, TFS_ZEROS_NEEDED},
	{"added to halves", added_to_halves, TFS_ZEROS_ADDED_TO},
	{"zeroed in part between", zeroed_in_part_between, TFS_ZEROS_NEEDED},
	{"written in part between", written_in_part_between, TFS_ZEROS_NEEDED},
	{"written between", written_between, TFS_ZEROS_ADDED_TO},
	{"in few pieces", in_few_pieces, TFS_ZEROS_OVERWRITTEN},
	{"in many pieces", in_many_pieces, TFS_ZEROS_UNKNOWN},
	{"copied in rows", copied_in_rows, TFS_ZEROS_NEEDED},
	{"copied", copied, TFS_ZEROS_OVERWRITTEN},
	{"behind graph", behind_graph, TFS_ZEROS_OPAQUE},
	{"behind callback", behind_callback, TFS_ZEROS_OPAQUE},
	{"behind unknown work", behind_unknown_work, TFS_ZEROS_OPAQUE},
	{"behind a question", behind_a_question, TFS_ZEROS_OVERWRITTEN},
	{"behind no result", behind_no_result, TFS_ZEROS_OPAQUE},
	{"behind workspace", behind_workspace, TFS_ZEROS_OPAQUE},
	{"behind result", behind_result, TFS_ZEROS_OVERWRITTEN},
	{"behind host result", behind_host_result, TFS_ZEROS_OVERWRITTEN},
	{"before graph", before_graph, TFS_ZEROS_OVERWRITTEN},
	{"conv, dense", conv_dense, TFS_ZEROS_OVERWRITTEN},
	{"conv with holes", conv_with_holes, TFS_ZEROS_NEEDED},
	{"fused, dense", fused_dense, TFS_ZEROS_OVERWRITTEN},
	{"fused with holes", fused_with_holes, TFS_ZEROS_NEEDED},
	{"data, dense", data_dense, TFS_ZEROS_OVERWRITTEN},
	{"data with holes", data_with_holes, TFS_ZEROS_NEEDED},
	{"filter", filter, TFS_ZEROS_OVERWRITTEN},
};

static void begin(enum tfs_memory_kind kind)
{
	scene = scene_create(false);
	grad = scene_memory(scene, kind, BYTES);
	other = scene_memory(scene, TFS_MEMORY_DEVICE, BYTES);
}

/* The nth call of a line in the judged steps, as an index of the timeline. */
static uint32_t call_of(const struct tfs_steady *steady, unsigned line, unsigned nth)
{
	const uint64_t *frames;

	for (uint32_t i = 0; i < steady->call_count; i++) {
		const struct tfs_host_call *call = tfs_steady_call(steady, i);

		TEST_NEED(tfs_trace_frames(steady->timeline->trace, call->record->site, &frames));
		if (frames[0] == 0x401000 + line * 16 && !nth--)
			return steady->calls[i];
	}
	TEST_NEED(!"the line makes so many calls");
	return TFS_NONE;
}

static void check(const struct scenario *scenario, enum tfs_memory_kind kind, enum tfs_zeros zeros)
{
	const struct tfs_timeline *timeline;
	struct tfs_zero_fill fill;
	struct tfs_steady steady;
	uint32_t call, user;

	begin(kind);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_set(scene, 10, grad, BYTES, 0);
		scenario->step();
		scene_host(scene, 100000);
	}
	timeline = scene_judge(scene, NULL)->timeline;
	TEST_EQ(tfs_steady_init(&steady, timeline, 0), 0);
	call = call_of(&steady, 10, STEPS / 2);
	TEST_NEED(tfs_zero_fill_describe(timeline, &timeline->calls[call], &fill));
	if (!TEST_EQ(tfs_zeros_follow(&steady, call, &fill, &user), zeros))
		printf("  %s\n", scenario->name);
	/* The one that decides is told, not the first. */
	if (scenario->step == added_to_written)
		TEST_EQ(user, call_of(&steady, 11, STEPS + 1));
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

static void put_set(uint16_t status, bool valued, uint64_t bytes)
{
	struct builder_call call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudart,
		TFS_FAMILY_set_async, "cudaMemsetAsync");

	call.status = status;
	builder_operand(&call, TFS_ROLE_WRITE | DEVICE_ROLE, grad, bytes);
	if (valued)
		builder_attribute(&call, TFS_ATTRIBUTE_value, 0);
	make(&call);
}

static void put_scaling(uint32_t role, uint64_t count)
{
	struct builder_call call = scene_call(scene, 10, SCENE_LEGACY, TFS_LIBRARY_cublas,
		TFS_FAMILY_blas_pointwise, "cublasScal");

	builder_operand(&call, role | DEVICE_ROLE, grad, BYTES);
	builder_attribute(&call, TFS_ATTRIBUTE_shape_m, count);
	builder_attribute(&call, TFS_ATTRIBUTE_alpha, 0);
	make(&call);
}

/* What fills memory with zeros for certain. */
static void fills(void)
{
	static const bool wants[] = {true, false, false, false, true, true, false, false};
	const struct tfs_timeline *timeline;
	struct tfs_zero_fill fill;
	struct tfs_steady steady;

	begin(TFS_MEMORY_DEVICE);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		put_set(0, true, BYTES);
		put_set(13, true, BYTES);
		put_set(0, false, BYTES);
		put_set(0, true, 0);
		put_scaling(TFS_ROLE_READ | TFS_ROLE_WRITE, BYTES / 4);
		put_scaling(TFS_ROLE_READ | TFS_ROLE_WRITE, BYTES / 8);
		put_scaling(TFS_ROLE_READ | TFS_ROLE_WRITE, BYTES / 16);
		put_scaling(TFS_ROLE_READ, BYTES / 4);
	}
	timeline = scene_judge(scene, NULL)->timeline;
	TEST_EQ(tfs_steady_init(&steady, timeline, 0), 0);
	for (unsigned i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		const struct tfs_host_call *call = &timeline->calls[call_of(&steady, 10, i)];

		if (!TEST_EQ(tfs_zero_fill_describe(timeline, call, &fill), wants[i]))
			printf("  call %u\n", i);
	}
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* A call with two operands, of which the second one may be none. */
static void put_two(enum tfs_family family, uint64_t amount, uint32_t role, uint64_t offset,
	uint64_t bytes, uint32_t second)
{
	const bool sets = family == TFS_FAMILY_set_async;
	struct builder_call call = scene_call(scene, 11, SCENE_LEGACY,
		sets ? TFS_LIBRARY_cudart : TFS_LIBRARY_cublas, family,
		sets                        ? "cudaMemset2DAsync"
		: family == TFS_FAMILY_blas ? "cublasScopy_v2"
					    : "cudnnReduceTensor");

	call.amount = amount;
	builder_operand(&call, role | DEVICE_ROLE, grad + offset, bytes);
	if (second)
		builder_operand(&call, second | DEVICE_ROLE, grad, HALF);
	builder_attribute(&call, TFS_ATTRIBUTE_shape_m, amount / 4);
	builder_attribute(&call, TFS_ATTRIBUTE_value, 1);
	scene_make(scene, &call, 5000);
}

/* Of the second half. */
static void replaced(void)
{
	static const bool wants[] = {
		true, true, false, false, true, false, true, false, true, false};
	const struct tfs_timeline *timeline;
	struct tfs_zero_fill fill;
	struct tfs_steady steady;

	begin(TFS_MEMORY_DEVICE);
	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_set(scene, 10, grad, BYTES, 0);
		put_two(TFS_FAMILY_reduction, 0, TFS_ROLE_WRITE, 0, BYTES, 0);
		put_two(TFS_FAMILY_reduction, 0, TFS_ROLE_WRITE, HALF, HALF, 0);
		put_two(TFS_FAMILY_reduction, 0, TFS_ROLE_WRITE, HALF, HALF - 4, 0);
		put_two(TFS_FAMILY_reduction, 0, TFS_ROLE_READ, 0, BYTES, 0);
		/* What is read is beside it. */
		put_two(TFS_FAMILY_reduction, 0, TFS_ROLE_WRITE, HALF, HALF, TFS_ROLE_READ);
		put_two(TFS_FAMILY_reduction, 0, TFS_ROLE_WRITE, 0, HALF, TFS_ROLE_READ);
		put_two(TFS_FAMILY_set_async, BYTES, TFS_ROLE_WRITE, 0, BYTES, 0);
		put_two(TFS_FAMILY_set_async, HALF, TFS_ROLE_WRITE, 0, BYTES, 0);
		put_two(TFS_FAMILY_blas, BYTES, TFS_ROLE_WRITE, 0, BYTES, 0);
		put_two(TFS_FAMILY_blas, HALF / 2, TFS_ROLE_WRITE, 0, BYTES, 0);
	}
	timeline = scene_judge(scene, NULL)->timeline;
	TEST_EQ(tfs_steady_init(&steady, timeline, 0), 0);
	TEST_NEED(
		tfs_zero_fill_describe(timeline, &timeline->calls[call_of(&steady, 10, 0)], &fill));
	fill.target.address += HALF;
	fill.target.bytes = HALF;
	for (unsigned i = 0; i < sizeof(wants) / sizeof(*wants); i++) {
		const struct tfs_host_call *call = &timeline->calls[call_of(&steady, 11, i)];

		if (!TEST_EQ(tfs_zeros_replaced(timeline, call, &fill.target), wants[i]))
			printf("  call %u\n", i);
	}
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

/* How far a call reaches from an address is not known. */
static void reaches(void)
{
	const struct tfs_timeline *timeline;
	struct tfs_zero_fill fill;
	struct tfs_steady steady;

	begin(TFS_MEMORY_DEVICE);
	for (unsigned i = 0; i < STEPS; i++) {
		struct builder_call call;

		scene_step(scene);
		scene_set(scene, 10, grad, BYTES, 0);
		call = product(TFS_FAMILY_reduction);
		builder_operand(&call, TFS_ROLE_WRITE | DEVICE_ROLE, grad + HALF, HALF);
		builder_operand(&call, TFS_ROLE_READ | DEVICE_ROLE, grad, 0);
		make(&call);
	}
	timeline = scene_judge(scene, NULL)->timeline;
	TEST_EQ(tfs_steady_init(&steady, timeline, 0), 0);
	TEST_NEED(
		tfs_zero_fill_describe(timeline, &timeline->calls[call_of(&steady, 10, 0)], &fill));
	fill.target.address += HALF;
	fill.target.bytes = HALF;
	TEST_TRUE(!tfs_zeros_replaced(
		timeline, &timeline->calls[call_of(&steady, 11, 0)], &fill.target));
	tfs_steady_finish(&steady);
	scene_destroy(scene);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(scenarios) / sizeof(*scenarios); i++)
		check(&scenarios[i], TFS_MEMORY_DEVICE, scenarios[i].zeros);
	/* The host may look at it, too. */
	check(&scenarios[0], TFS_MEMORY_MANAGED, TFS_ZEROS_OPAQUE);
	fills();
	replaced();
	reaches();
	return test_result();
}
