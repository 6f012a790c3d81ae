/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_RULE_KERNELS_H
#define TFS_TESTS_PROGRAMS_RULE_KERNELS_H

/*
 * Kernels whose arguments do not tell what they do, as PTX text and for the simulated device:
 * decay(float *x, float rate, int n) takes rate * x from x; fill(float *x, float value, int n,
 * int stride) writes every stride-th number; add(struct rule_sum sum), by value, adds to n numbers;
 * turn(float *x, int n) turns their order round. What these add to is known to the device alone:
 * add_kept(int n), the memory that keep(float *x) was given; add_table(float **table, int n), what
 * the first pointer of a table leads to; add_nested(struct rule_sum *sum), what a struct of the
 * device's says. decide(const float *norm, float most, float rate, float *out) gives the rate where
 * the norm is no more than that, else 0. dwell(int clocks) takes its time, and does nothing.
 * nothing(int) takes none.
 */

#include "tests/rules/rule_step.h"
#include "tests/sim/tfsim.h"

struct rule_sum {
	float *to;
	int n;
	float number;
};

static const char rule_ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry decay(.param .u64 p0, .param .f32 p1, .param .u32 p2)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .f32 %f<4>;\n.reg .b64 %rd<5>;\n"
	"ld.param.u64 %rd1, [p0];\nld.param.f32 %f1, [p1];\nld.param.u32 %r1, [p2];\n"
	"mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
	"mad.lo.s32 %r6, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r6, %r1;\n@%p1 bra $L;\n"
	"cvta.to.global.u64 %rd2, %rd1;\nmul.wide.s32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
	"ld.global.f32 %f2, [%rd4];\nmul.f32 %f3, %f1, %f2;\nsub.f32 %f2, %f2, %f3;\n"
	"st.global.f32 [%rd4], %f2;\n$L:\nret;\n}\n"
	".visible .entry fill(.param .u64 p0, .param .f32 p1, .param .u32 p2, .param .u32 p3)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<9>;\n.reg .f32 %f<2>;\n.reg .b64 %rd<5>;\n"
	"ld.param.u64 %rd1, [p0];\nld.param.f32 %f1, [p1];\nld.param.u32 %r1, [p2];\n"
	"ld.param.u32 %r7, [p3];\n"
	"mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
	"mad.lo.s32 %r6, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r6, %r1;\n@%p1 bra $M;\n"
	"mul.lo.s32 %r8, %r6, %r7;\n"
	"cvta.to.global.u64 %rd2, %rd1;\nmul.wide.s32 %rd3, %r8, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
	"st.global.f32 [%rd4], %f1;\n$M:\nret;\n}\n"
	".visible .entry add(.param .align 8 .b8 p0[16])\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<5>;\n"
	"ld.param.u64 %rd1, [p0];\nld.param.u32 %r1, [p0+8];\nld.param.f32 %f1, [p0+12];\n"
	"mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
	"mad.lo.s32 %r6, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r6, %r1;\n@%p1 bra $N;\n"
	"cvta.to.global.u64 %rd2, %rd1;\nmul.wide.s32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
	"ld.global.f32 %f2, [%rd4];\nadd.f32 %f2, %f2, %f1;\n"
	"st.global.f32 [%rd4], %f2;\n$N:\nret;\n}\n"
	".visible .entry turn(.param .u64 p0, .param .u32 p1)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<10>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<7>;\n"
	"ld.param.u64 %rd1, [p0];\nld.param.u32 %r1, [p1];\n"
	"mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
	"mad.lo.s32 %r6, %r3, %r4, %r5;\nsub.s32 %r7, %r1, %r6;\nsub.s32 %r7, %r7, 1;\n"
	"setp.ge.s32 %p1, %r6, %r7;\n@%p1 bra $O;\n"
	"cvta.to.global.u64 %rd2, %rd1;\nmul.wide.s32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
	"mul.wide.s32 %rd5, %r7, 4;\nadd.s64 %rd6, %rd2, %rd5;\n"
	"ld.global.f32 %f1, [%rd4];\nld.global.f32 %f2, [%rd6];\n"
	"st.global.f32 [%rd4], %f2;\nst.global.f32 [%rd6], %f1;\n$O:\nret;\n}\n"
	".global .align 8 .u64 kept;\n"
	".visible .entry keep(.param .u64 p0)\n{\n"
	".reg .b64 %rd<2>;\n"
	"ld.param.u64 %rd1, [p0];\nst.global.u64 [kept], %rd1;\nret;\n}\n"
	".visible .entry add_kept(.param .u32 p0)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<5>;\n"
	"ld.param.u32 %r1, [p0];\nld.global.u64 %rd1, [kept];\n"
	"mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
	"mad.lo.s32 %r6, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r6, %r1;\n@%p1 bra $P;\n"
	"cvta.to.global.u64 %rd2, %rd1;\nmul.wide.s32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
	"ld.global.f32 %f2, [%rd4];\nadd.f32 %f2, %f2, 0f358637BD;\n"
	"st.global.f32 [%rd4], %f2;\n$P:\nret;\n}\n"
	".visible .entry add_table(.param .u64 p0, .param .u32 p1)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<7>;\n"
	"ld.param.u64 %rd5, [p0];\nld.param.u32 %r1, [p1];\n"
	"cvta.to.global.u64 %rd6, %rd5;\nld.global.u64 %rd1, [%rd6];\n"
	"mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
	"mad.lo.s32 %r6, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r6, %r1;\n@%p1 bra $Q;\n"
	"cvta.to.global.u64 %rd2, %rd1;\nmul.wide.s32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
	"ld.global.f32 %f2, [%rd4];\nadd.f32 %f2, %f2, 0f358637BD;\n"
	"st.global.f32 [%rd4], %f2;\n$Q:\nret;\n}\n"
	".visible .entry add_nested(.param .u64 p0)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .f32 %f<3>;\n.reg .b64 %rd<7>;\n"
	"ld.param.u64 %rd5, [p0];\ncvta.to.global.u64 %rd6, %rd5;\n"
	"ld.global.u64 %rd1, [%rd6];\nld.global.u32 %r1, [%rd6+8];\n"
	"ld.global.f32 %f1, [%rd6+12];\n"
	"mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
	"mad.lo.s32 %r6, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r6, %r1;\n@%p1 bra $R;\n"
	"cvta.to.global.u64 %rd2, %rd1;\nmul.wide.s32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
	"ld.global.f32 %f2, [%rd4];\nadd.f32 %f2, %f2, %f1;\n"
	"st.global.f32 [%rd4], %f2;\n$R:\nret;\n}\n"
	".visible .entry decide(.param .u64 p0, .param .f32 p1, .param .f32 p2, .param .u64 p3)\n"
	"{\n"
	".reg .pred %p<2>;\n.reg .f32 %f<5>;\n.reg .b64 %rd<5>;\n"
	"ld.param.u64 %rd1, [p0];\nld.param.f32 %f1, [p1];\nld.param.f32 %f2, [p2];\n"
	"ld.param.u64 %rd2, [p3];\n"
	"cvta.to.global.u64 %rd3, %rd1;\ncvta.to.global.u64 %rd4, %rd2;\n"
	"ld.global.f32 %f3, [%rd3];\nsetp.le.f32 %p1, %f3, %f1;\n"
	"selp.f32 %f4, %f2, 0f00000000, %p1;\nst.global.f32 [%rd4], %f4;\nret;\n}\n"
	".visible .entry dwell(.param .u32 p0)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<5>;\n"
	"ld.param.u32 %r1, [p0];\nmov.u32 %r2, %clock;\n"
	"$S:\nmov.u32 %r3, %clock;\nsub.u32 %r4, %r3, %r2;\n"
	"setp.lt.u32 %p1, %r4, %r1;\n@%p1 bra $S;\nret;\n}\n"
	".visible .entry nothing(.param .u32 p0)\n{\nret;\n}\n";

static void rule_decay_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	float *x = *(float **)args[0], rate = *(float *)args[1];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < *(int *)args[2]; i++)
		x[i] -= rate * x[i];
}

static void rule_fill_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	float *x = *(float **)args[0], value = *(float *)args[1];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < *(int *)args[2]; i++)
		x[i * *(int *)args[3]] = value;
}

static void rule_add_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	struct rule_sum sum = *(struct rule_sum *)args[0];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < sum.n; i++)
		sum.to[i] += sum.number;
}

static void rule_turn_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	float *x = *(float **)args[0];
	int n = *(int *)args[1];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < n / 2; i++) {
		float other = x[i];

		x[i] = x[n - 1 - i];
		x[n - 1 - i] = other;
	}
}

static float *rule_kept;

static void rule_keep_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	(void)grid, (void)block, (void)shared;
	rule_kept = *(float **)args[0];
}

static void rule_add_kept_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < *(int *)args[0]; i++)
		rule_kept[i] += 1e-6f;
}

static void rule_add_table_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	float *x = **(float ***)args[0];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < *(int *)args[1]; i++)
		x[i] += 1e-6f;
}

static void rule_add_nested_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	struct rule_sum sum = **(struct rule_sum **)args[0];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < sum.n; i++)
		sum.to[i] += sum.number;
}

static void rule_decide_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	const float *norm = *(const float **)args[0];
	const float most = *(float *)args[1], rate = *(float *)args[2];

	(void)grid, (void)block, (void)shared;
	**(float **)args[3] = *norm <= most ? rate : 0;
}

static void rule_dwell_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	(void)grid, (void)block, (void)shared, (void)args;
}

static inline cudaKernel_t rule_kernel(const char *name)
{
	static const struct tfsim_kernel kernels[] = {
		{"decay", rule_decay_cpu, {8, 4, 4}, 3, 8, 2},
		{"fill", rule_fill_cpu, {8, 4, 4, 4}, 4, 4, 0},
		{"add", rule_add_cpu, {16}, 1, 8, 1},
		{"turn", rule_turn_cpu, {8, 4}, 2, 8, 0},
		{"keep", rule_keep_cpu, {8}, 1, 8, 0},
		{"add_kept", rule_add_kept_cpu, {4}, 1, 8, 1},
		{"add_table", rule_add_table_cpu, {8, 4}, 2, 8, 1},
		{"add_nested", rule_add_nested_cpu, {8}, 1, 8, 1},
		{"decide", rule_decide_cpu, {8, 4, 4, 8}, 4, 8, 1},
		{"dwell", rule_dwell_cpu, {4}, 1, 0, 4e6},
		{"nothing", rule_dwell_cpu, {4}, 1, 0, 1},
	};
	enum { KERNELS = sizeof(kernels) / sizeof(*kernels) };
	static cudaLibrary_t library;
	cudaKernel_t kernel;

	for (int i = 0; i < KERNELS && !library; i++)
		tfsim_register_kernel(&kernels[i]);
	if (!library)
		NEED(cudaLibraryLoadData(&library, rule_ptx, NULL, NULL, 0, NULL, NULL, 0));
	NEED(cudaLibraryGetKernel(&kernel, library, name));
	return kernel;
}

static inline void rule_launch(struct rule *r, cudaKernel_t kernel, int n, void **args)
{
	const dim3 grid = {(unsigned)(n + 255) / 256, 1, 1}, block = {256, 1, 1};

	NEED(cudaLaunchKernel((const void *)kernel, grid, block, args, 0, r->stream));
}

#endif
