/* SPDX-License-Identifier: MIT */
/* TFS603: a kernel of the program's own has a name as cuBLAS gives them; nothing that a library is
 * told would change it. */
#include "tests/rules/rule_products.h"
#include "tests/sim/tfsim.h"

#define NAME "cutlass_80_simt_sgemm_own"

static const char ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry " NAME "(.param .u64 p0, .param .u32 p1)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .f32 %f<2>;\n.reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [p0];\nld.param.u32 %r1, [p1];\n"
	"mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
	"mad.lo.s32 %r5, %r2, %r3, %r4;\nsetp.ge.s32 %p1, %r5, %r1;\n@%p1 bra $L;\n"
	"cvta.to.global.u64 %rd1, %rd1;\nmul.wide.s32 %rd2, %r5, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"ld.global.f32 %f1, [%rd3];\nadd.f32 %f1, %f1, %f1;\nst.global.f32 [%rd3], %f1;\n"
	"$L:\nret;\n}\n";

static cudaKernel_t own;

static void own_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	float *x = *(float **)args[0];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < *(int *)args[1]; i++)
		x[i] += x[i];
}

static void prepare(const struct rule *r)
{
	static const struct tfsim_kernel kernel = {NAME, own_cpu, {8, 4}, 2, 8, 1};
	cudaLibrary_t library;

	(void)r;
	tfsim_register_kernel(&kernel);
	NEED(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	NEED(cudaLibraryGetKernel(&own, library, NAME));
}

static void multiply(const struct rule *r, const void *a, const void *b, void *c)
{
	static unsigned turn;
	const void *matrices[] = {a, b, c};
	int count = SIDE * SIDE;
	void *args[] = {&matrices[turn / 4 % 3], &count};

	/* Few enough to be no update of parameters. */
	if (turn++ % 4)
		return;
	/* trap: TFS603 TFS604 */
	NEED(cudaLaunchKernel((const void *)own, (dim3){(unsigned)count / 256, 1, 1},
		(dim3){256, 1, 1}, args, 0, r->stream));
}

int main(void)
{
	rule_products(prepare, multiply);
	return 0;
}
