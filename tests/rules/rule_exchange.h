/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_RULE_EXCHANGE_H
#define TFS_TESTS_PROGRAMS_RULE_EXCHANGE_H

/*
 * Kernels with the arguments of elementwise ones, whose threads read or write what others work on,
 * as PTX text and for the simulated device. With (float *out, const float *in, int n), though it is
 * not said that `in` is constant: smooth takes the mean of neighbours; turn_tiles writes columns as
 * rows; scatter adds to another element; row_sums has what comes before in a row of 32; total adds
 * all up in out[0]. With (float *x, int n): soften, as softmax does, makes each of a block's row a
 * share of it, in memory that the launch gives the block, soften_fixed in memory that the kernel
 * declares, and soften_warp, of rows of 32, without memory; soften_half, with (out, in, n), as
 * soften, writes halves; halve, which is elementwise, and so is
 * twice, with (out, in, n).
 */

#include <stdbool.h>

#include "tests/rules/rule_step.h"
#include "tests/sim/cublas/cublas_half.h"
#include "tests/sim/tfsim.h"

enum { EXCHANGE_SIDE = 256 };

#define EXCHANGE_ENTRY(name, first, body)                                                          \
	".visible .entry " #name "(" first ".param .u32 n)\n{\n"                                   \
	".reg .pred %p<4>;\n.reg .b32 %r<16>;\n.reg .f32 %f<8>;\n.reg .b64 %rd<12>;\n"             \
	"ld.param.u32 %r1, [n];\nmov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\n"                  \
	"mov.u32 %r4, %tid.x;\nmad.lo.s32 %r5, %r2, %r3, %r4;\nsetp.ge.s32 %p1, %r5, %r1;\n"       \
	"@%p1 ret;\nmul.wide.s32 %rd4, %r5, 4;\n" body "ret;\n}\n"
/* %rd3 is where the thread writes, %rd6 where it reads. */
#define EXCHANGE_TWO(name, body)                                                                   \
	EXCHANGE_ENTRY(name, ".param .u64 out, .param .u64 in, ",                                  \
		"ld.param.u64 %rd1, [out];\nld.param.u64 %rd2, [in];\n"                            \
		"add.s64 %rd3, %rd1, %rd4;\nadd.s64 %rd6, %rd2, %rd4;\n" body)
/* In place; %f1 is what the thread has read, and will write. */
#define EXCHANGE_ONE(name, body)                                                                   \
	EXCHANGE_ENTRY(name, ".param .u64 x, ",                                                    \
		"ld.param.u64 %rd1, [x];\nadd.s64 %rd3, %rd1, %rd4;\nld.global.f32 %f1, "          \
		"[%rd3];\n" body "st.global.f32 [%rd3], %f1;\n")
#define EXCHANGE_POWER "mul.f32 %f1, %f1, 0f3FB8AA3B;\nex2.approx.f32 %f1, %f1;\n"
/* The sum of what the threads of a block put in memory that they share. */
#define EXCHANGE_ROW(name, memory)                                                                 \
	EXCHANGE_ONE(name, EXCHANGE_POWER "mov.u32 %r9, " memory                                   \
					  ";\nshl.b32 %r10, %r4, 2;\nadd.s32 %r10, %r9, %r10;\n"   \
					  "st.shared.f32 [%r10], %f1;\nbar.sync 0;\n"              \
					  "mov.f32 %f2, 0f00000000;\nmov.u32 %r6, 0;\n$ROW:\n"     \
					  "ld.shared.f32 %f3, [%r9];\nadd.f32 %f2, %f2, %f3;\n"    \
					  "add.s32 %r9, %r9, 4;\nadd.s32 %r6, %r6, 1;\n"           \
					  "setp.lt.s32 %p2, %r6, 256;\n@%p2 bra $ROW;\n"           \
					  "div.approx.f32 %f1, %f1, %f2;\n")
#define EXCHANGE_WITH(lanes)                                                                       \
	"shfl.sync.bfly.b32 %f3, %f2, " #lanes ", 31, 0xffffffff;\nadd.f32 %f2, %f2, %f3;\n"

#define EXCHANGE_HALVE EXCHANGE_ONE(halve, "mul.f32 %f1, %f1, 0f3F000000;\n")
#define EXCHANGE_TWICE                                                                             \
	EXCHANGE_TWO(twice, "ld.global.f32 %f1, [%rd6];\nadd.f32 %f1, %f1, %f1;\n"                 \
			    "st.global.f32 [%rd3], %f1;\n")
#define EXCHANGE_SMOOTH                                                                            \
	EXCHANGE_TWO(smooth, "sub.s32 %r6, %r5, 1;\nmax.s32 %r6, %r6, 0;\nadd.s32 %r7, %r5, 1;\n"  \
			     "sub.s32 %r8, %r1, 1;\nmin.s32 %r7, %r7, %r8;\n"                      \
			     "mul.wide.s32 %rd7, %r6, 4;\nmul.wide.s32 %rd8, %r7, 4;\n"            \
			     "add.s64 %rd7, %rd2, %rd7;\nadd.s64 %rd8, %rd2, %rd8;\n"              \
			     "ld.global.f32 %f1, [%rd7];\nld.global.f32 %f2, [%rd8];\n"            \
			     "add.f32 %f1, %f1, %f2;\nmul.f32 %f1, %f1, 0f3F000000;\n"             \
			     "st.global.f32 [%rd3], %f1;\n")
#define EXCHANGE_TURN                                                                              \
	EXCHANGE_TWO(turn_tiles, "and.b32 %r6, %r5, 255;\nshr.u32 %r7, %r5, 8;\n"                  \
				 "mad.lo.s32 %r6, %r6, 256, %r7;\nmul.wide.s32 %rd7, %r6, 4;\n"    \
				 "add.s64 %rd7, %rd1, %rd7;\nld.global.f32 %f1, [%rd6];\n"         \
				 "st.global.f32 [%rd7], %f1;\n")
#define EXCHANGE_SCATTER                                                                           \
	EXCHANGE_TWO(scatter, "mad.lo.s32 %r6, %r5, 7, 3;\nrem.u32 %r6, %r6, %r1;\n"               \
			      "mul.wide.s32 %rd7, %r6, 4;\nadd.s64 %rd7, %rd1, %rd7;\n"            \
			      "ld.global.f32 %f1, [%rd6];\nst.global.f32 [%rd7], %f1;\n")
#define EXCHANGE_SUMS                                                                              \
	EXCHANGE_TWO(row_sums, "and.b32 %r6, %r5, 31;\nmov.f32 %f1, 0f00000000;\n$SUM:\n"          \
			       "ld.global.f32 %f2, [%rd6];\nadd.f32 %f1, %f1, %f2;\n"              \
			       "sub.s64 %rd6, %rd6, 4;\nsub.s32 %r6, %r6, 1;\n"                    \
			       "setp.ge.s32 %p2, %r6, 0;\n@%p2 bra $SUM;\n"                        \
			       "st.global.f32 [%rd3], %f1;\n")
#define EXCHANGE_TOTAL                                                                             \
	EXCHANGE_TWO(total, "ld.global.f32 %f1, [%rd6];\nred.global.add.f32 [%rd1], %f1;\n")
#define EXCHANGE_WARP                                                                              \
	EXCHANGE_ONE(soften_warp, EXCHANGE_POWER                                                   \
		"mov.f32 %f2, %f1;\n" EXCHANGE_WITH(16) EXCHANGE_WITH(8) EXCHANGE_WITH(4)          \
			EXCHANGE_WITH(2) EXCHANGE_WITH(1) "div.approx.f32 %f1, %f1, %f2;\n")

/* The same of another memory, to halves. */
#define EXCHANGE_HALVES                                                                            \
	EXCHANGE_TWO(soften_half, "ld.global.f32 %f1, [%rd6];\n" EXCHANGE_POWER                    \
				  "mov.u32 %r9, row;\nshl.b32 %r10, %r4, 2;\n"                     \
				  "add.s32 %r10, %r9, %r10;\nst.shared.f32 [%r10], %f1;\n"         \
				  "bar.sync 0;\nmov.f32 %f2, 0f00000000;\nmov.u32 %r6, 0;\n"       \
				  "$ROW:\nld.shared.f32 %f3, [%r9];\nadd.f32 %f2, %f2, %f3;\n"     \
				  "add.s32 %r9, %r9, 4;\nadd.s32 %r6, %r6, 1;\n"                   \
				  "setp.lt.s32 %p2, %r6, 256;\n@%p2 bra $ROW;\n"                   \
				  "div.approx.f32 %f1, %f1, %f2;\nmul.wide.s32 %rd7, %r5, 2;\n"    \
				  "add.s64 %rd7, %rd1, %rd7;\n{\n.reg .b16 %h1;\n"                 \
				  "cvt.rn.f16.f32 %h1, %f1;\nst.global.b16 [%rd7], %h1;\n}\n")

static const char exchange_ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".extern .shared .align 4 .b8 row[];\n.shared .align 4 .b8 fixed_row[1024];\n" EXCHANGE_HALVE
		EXCHANGE_TWICE EXCHANGE_SMOOTH EXCHANGE_TURN EXCHANGE_SCATTER EXCHANGE_SUMS
			EXCHANGE_TOTAL EXCHANGE_ROW(soften, "row")
				EXCHANGE_ROW(soften_fixed, "fixed_row")
					EXCHANGE_WARP EXCHANGE_HALVES;

struct exchange_args {
	float *out, *in;
	int n;
};

static struct exchange_args exchange_two(dim3 grid, dim3 block, size_t shared, void **args)
{
	(void)grid, (void)block, (void)shared;
	return (struct exchange_args){*(float **)args[0], *(float **)args[1], *(int *)args[2]};
}

#define EXCHANGE_CPU(name, value)                                                                  \
	static void name##_cpu(dim3 grid, dim3 block, size_t shared, void **args)                  \
	{                                                                                          \
		struct exchange_args a = exchange_two(grid, block, shared, args);                  \
                                                                                                   \
		for (int i = 0; i < a.n; i++)                                                      \
			value;                                                                     \
	}

EXCHANGE_CPU(twice, a.out[i] = 2 * a.in[i])
EXCHANGE_CPU(smooth, a.out[i] = (a.in[i ? i - 1 : 0] + a.in[i + 1 < a.n ? i + 1 : i]) / 2)
EXCHANGE_CPU(turn_tiles, a.out[i % EXCHANGE_SIDE * EXCHANGE_SIDE + i / EXCHANGE_SIDE] = a.in[i])
EXCHANGE_CPU(scatter, a.out[(i * 7 + 3) % a.n] = a.in[i])
EXCHANGE_CPU(row_sums, a.out[i] = a.in[i] + (i % 32 ? a.out[i - 1] : 0))
EXCHANGE_CPU(total, a.out[0] += a.in[i])

static void halve_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	float *x = *(float **)args[0];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < *(int *)args[1]; i++)
		x[i] /= 2;
}

/* Each value becomes its share of so many. */
static void exchange_soften(float *x, int count, int row)
{
	for (int i = 0; i < count; i += row) {
		float sum = 0;

		for (int j = i; j < i + row; j++)
			sum += 1 + x[j] * x[j];
		for (int j = i; j < i + row; j++)
			x[j] = (1 + x[j] * x[j]) / sum;
	}
}

static void soften_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	(void)grid, (void)shared;
	exchange_soften(*(float **)args[0], *(int *)args[1], (int)block.x);
}

static void soften_half_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	const struct exchange_args a = exchange_two(grid, block, shared, args);
	uint16_t *out = (uint16_t *)(void *)a.out;

	for (int i = 0; i < a.n; i += (int)block.x) {
		float row[EXCHANGE_SIDE];

		memcpy(row, a.in + i, block.x * sizeof(*row));
		exchange_soften(row, (int)block.x, (int)block.x);
		for (unsigned j = 0; j < block.x; j++)
			out[i + (int)j] = tfs_half_of_float(row[j]);
	}
}

static void soften_warp_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	(void)grid, (void)block, (void)shared;
	exchange_soften(*(float **)args[0], *(int *)args[1], 32);
}

static inline cudaKernel_t exchange_kernel(const char *name)
{
	/* Memory's traffic in lines of 32 bytes, as far as a cache does not hold what others read.
	 */
	static const struct tfsim_kernel kernels[] = {
		{"halve", halve_cpu, {8, 4}, 2, 8, 1},
		{"twice", twice_cpu, {8, 8, 4}, 3, 8, 1},
		{"smooth", smooth_cpu, {8, 8, 4}, 3, 8, 2},
		{"turn_tiles", turn_tiles_cpu, {8, 8, 4}, 3, 8, 0},
		{"scatter", scatter_cpu, {8, 8, 4}, 3, 36, 0},
		{"row_sums", row_sums_cpu, {8, 8, 4}, 3, 8, 16},
		{"total", total_cpu, {8, 8, 4}, 3, 4, 1},
		{"soften", soften_cpu, {8, 4}, 2, 8, 20},
		{"soften_fixed", soften_cpu, {8, 4}, 2, 8, 20},
		{"soften_half", soften_half_cpu, {8, 8, 4}, 3, 6, 20},
		{"soften_warp", soften_warp_cpu, {8, 4}, 2, 8, 20},
	};
	enum { KERNELS = sizeof(kernels) / sizeof(*kernels) };
	static cudaLibrary_t library;
	cudaKernel_t kernel;

	for (int i = 0; i < KERNELS && !library; i++) {
		tfsim_register_kernel(&kernels[i]);
		if (!strcmp(kernels[i].name, "soften_fixed"))
			tfsim_kernel_declares(&kernels[i], 256 * sizeof(float));
	}
	if (!library)
		NEED(cudaLibraryLoadData(&library, exchange_ptx, NULL, NULL, 0, NULL, NULL, 0));
	NEED(cudaLibraryGetKernel(&kernel, library, name));
	return kernel;
}

/* A step with the kernel `name` behind an elementwise one and before another; what comes out of it
 * is what the weights learn from. */
static inline void exchange_train(const char *name, bool in_place, size_t shared)
{
	const dim3 grid = {WEIGHTS / 256, 1, 1}, block = {256, 1, 1};
	const float rate = -0.01f;
	cudaKernel_t halve, other;
	float *result, *learned;
	struct rule r;
	int n = WEIGHTS;

	rule_init(&r);
	halve = exchange_kernel("halve");
	other = exchange_kernel(name);
	result = in_place ? r.grad : rule_alloc(WEIGHTS);
	learned = rule_alloc(WEIGHTS);
	for (unsigned step = 0; step < STEPS; step++) {
		void *before[] = {&r.grad, &n}, *behind[] = {&result, &n};
		void *between[] = {&result, &r.grad, &n};

		rule_upload(&r, step);
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		NEED(cudaLaunchKernel((const void *)halve, grid, block, before, 0, r.stream));
		NEED(cudaLaunchKernel((const void *)other, grid, block, in_place ? before : between,
			shared, r.stream));
		NEED(cudaLaunchKernel((const void *)halve, grid, block, behind, 0, r.stream));
		NEED(cudaMemcpyAsync(learned, result, WEIGHTS * sizeof(float),
			cudaMemcpyDeviceToDevice, r.stream));
		NEED(cublasSaxpy(r.blas, WEIGHTS, &rate, learned, 1, r.weight, 1));
	}
	rule_finish(&r);
}

#endif
