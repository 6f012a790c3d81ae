/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_SIM_PTX_H
#define TFS_TESTS_PROGRAMS_SIM_PTX_H

/*
 * Kernels for C programs: PTX text, which the driver of a real GPU compiles, and CPU versions of
 * the same for the simulated one. add_one(int *x, int n, int step) adds step to n integers; fail()
 * traps; unknown() has no CPU version.
 */

#include "sim_gate.h"
#include "tests/sim/tfsim.h"

static const char sim_ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry add_one(.param .u64 p0, .param .u32 p1, .param .u32 p2)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<8>;\n.reg .b64 %rd<5>;\n"
	"ld.param.u64 %rd1, [p0];\nld.param.u32 %r1, [p1];\nld.param.u32 %r2, [p2];\n"
	"mov.u32 %r3, %ctaid.x;\nmov.u32 %r4, %ntid.x;\nmov.u32 %r5, %tid.x;\n"
	"mad.lo.s32 %r6, %r3, %r4, %r5;\nsetp.ge.s32 %p1, %r6, %r1;\n@%p1 bra $L;\n"
	"cvta.to.global.u64 %rd2, %rd1;\nmul.wide.s32 %rd3, %r6, 4;\nadd.s64 %rd4, %rd2, %rd3;\n"
	"ld.global.u32 %r7, [%rd4];\nadd.s32 %r7, %r7, %r2;\nst.global.u32 [%rd4], %r7;\n"
	"$L:\nret;\n}\n"
	".visible .entry fail()\n{\ntrap;\nret;\n}\n"
	".visible .entry unknown(.param .align 8 .b8 p0[24], .param .f32 p1)\n{\nret;\n}\n";

static void sim_add_one(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	int *x = *(int **)args[0], n = *(int *)args[1], step = *(int *)args[2];

	(void)shared_bytes;
	for (int i = 0; i < n && (unsigned)i < grid.x * block.x; i++)
		x[i] += step;
}

static void sim_fail(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	(void)grid, (void)block, (void)shared_bytes, (void)args;
	tfsim_kernel_fault(cudaErrorLaunchFailure);
}

static inline cudaLibrary_t sim_ptx_load(void)
{
	static const struct tfsim_kernel add_one = {
		"add_one",
		sim_add_one,
		{8, 4, 4},
		3,
		8,
		1,
	};
	static const struct tfsim_kernel fail = {"fail", sim_fail, {0}, 0, 0, 0};
	cudaLibrary_t library = NULL;

	tfsim_register_kernel(&add_one);
	tfsim_register_kernel(&fail);
	OK(cudaLibraryLoadData(&library, sim_ptx, NULL, NULL, 0, NULL, NULL, 0));
	return library;
}

#endif
