/* SPDX-License-Identifier: MIT */
/* TFS204: two chains of kernels that leave most of the device idle, for all that is seen. */
#include "tests/rules/rule_kernels.h"

/* In other traps they fill it, are of one chain, or get their memory in a struct. */
#ifndef EACH
#define EACH 1024
#endif
#ifndef CHAINS
#define CHAINS 2
#endif
#ifndef HIDDEN
#define HIDDEN 0
#endif

enum { PAIRS = HIDDEN ? 3 : 2 };

static const char ptx[] =
	".version 7.0\n.target sm_75\n.address_size 64\n"
	".visible .entry labour(.param .u64 p0, .param .u32 p1)\n{\n"
	".reg .pred %p<3>;\n.reg .b32 %r<7>;\n.reg .f32 %f<2>;\n.reg .b64 %rd<4>;\n"
	"ld.param.u64 %rd1, [p0];\nld.param.u32 %r1, [p1];\n"
	"mov.u32 %r2, %ctaid.x;\nmov.u32 %r3, %ntid.x;\nmov.u32 %r4, %tid.x;\n"
	"mad.lo.s32 %r5, %r2, %r3, %r4;\nsetp.ge.s32 %p1, %r5, %r1;\n@%p1 ret;\n"
	"cvta.to.global.u64 %rd1, %rd1;\nmul.wide.s32 %rd2, %r5, 4;\nadd.s64 %rd3, %rd1, %rd2;\n"
	"ld.global.f32 %f1, [%rd3];\nmov.u32 %r6, 0;\n$AGAIN:\n"
	"fma.rn.f32 %f1, %f1, 0f3F000000, 0f3F800000;\nadd.s32 %r6, %r6, 1;\n"
	"setp.lt.s32 %p2, %r6, 200000;\n@%p2 bra $AGAIN;\nst.global.f32 [%rd3], %f1;\nret;\n}\n";

/* What so many times a half and 1 come to. */
static void labour_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	float *values = *(float **)args[0];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < *(int *)args[1]; i++)
		values[i] = 2;
}

static cudaKernel_t prepare(void)
{
	static const struct tfsim_kernel labour = {"labour", labour_cpu, {8, 4}, 2, 8, 4e5};
	cudaLibrary_t library;
	cudaKernel_t kernel;

	tfsim_register_kernel(&labour);
	NEED(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	NEED(cudaLibraryGetKernel(&kernel, library, "labour"));
	return kernel;
}

static void launch(struct rule *r, cudaKernel_t kernel, float *values)
{
	struct rule_sum sum = {values, EACH, 1e-6f};
	int n = EACH;
	void *args[] = {HIDDEN ? (void *)&sum : (void *)&values, &n};

	/* Of one of the chains: two kernels, of 82 ms each. */
	/* unsure: TFS204 x1 legacy 0..165ms */
	NEED(cudaLaunchKernel((const void *)kernel, (dim3){EACH / 256, 1, 1}, (dim3){256, 1, 1},
		args, 0, r->stream));
}

int main(void)
{
	float *chains[2];
	cudaEvent_t done[SLOTS];
	cudaKernel_t kernel;
	struct rule r;

	rule_init(&r);
	r.stream = NULL;
	NEED(cublasSetStream(r.blas, NULL));
	kernel = HIDDEN ? rule_kernel("add") : prepare();
	for (int i = 0; i < 2; i++)
		chains[i] = rule_alloc(EACH);
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		rule_forward(&r, step);
		for (int i = 0; i < PAIRS; i++) {
			launch(&r, kernel, chains[0]);
			launch(&r, kernel, chains[CHAINS - 1]);
		}
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_finish(&r);
	return 0;
}
