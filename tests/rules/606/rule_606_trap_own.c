/* SPDX-License-Identifier: MIT */
/* TFS606, a trap: a kernel of the program's own has a name as cuDNN gives them to what changes a
 * layout. */
#include "tests/rules/rule_step.h"
#include "tests/sim/tfsim.h"

/* In another trap it is in a graph, where it is not seen whose it is. */
#ifndef GRAPH
#define GRAPH 0
#endif
#define NAME "own_nchwToNhwcKernel"

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

static void own_cpu(dim3 grid, dim3 block, size_t shared, void **args)
{
	float *x = *(float **)args[0];

	(void)grid, (void)block, (void)shared;
	for (int i = 0; i < *(int *)args[1]; i++)
		x[i] += x[i];
}

static cudaKernel_t prepare(void)
{
	static const struct tfsim_kernel kernel = {NAME, own_cpu, {8, 4}, 2, 8, 1};
	cudaLibrary_t library;
	cudaKernel_t own;

	tfsim_register_kernel(&kernel);
	NEED(cudaLibraryLoadData(&library, ptx, NULL, NULL, 0, NULL, NULL, 0));
	NEED(cudaLibraryGetKernel(&own, library, NAME));
	return own;
}

static void launch(const struct rule *r, float *values)
{
	int count = BATCH_FLOATS;
	void *args[] = {&values, &count};
	static cudaKernel_t own;

	if (!own)
		own = prepare();
	NEED(cudaLaunchKernel(/* trap: TFS606 */ (const void *)own,
		(dim3){(unsigned)count / 256, 1, 1}, (dim3){256, 1, 1}, args, 0, r->stream));
}

static cudaGraphExec_t capture(const struct rule *r, float *values)
{
	cudaGraphExec_t executable;
	cudaGraph_t graph;

	NEED(cudaStreamBeginCapture(r->stream, cudaStreamCaptureModeThreadLocal));
	launch(r, values);
	NEED(cudaStreamEndCapture(r->stream, &graph));
	NEED(cudaGraphInstantiate(&executable, graph, 0));
	NEED(cudaGraphDestroy(graph));
	return executable;
}

int main(void)
{
	cudaGraphExec_t executable = NULL;
	float *values;
	struct rule r;

	rule_init(&r);
	values = rule_alloc(BATCH_FLOATS);
	launch(&r, values);
	if (GRAPH)
		executable = capture(&r, values);
	for (unsigned step = 0; step < STEPS; step++) {
		rule_upload(&r, step);
		rule_forward(&r, step);
		if (GRAPH)
			NEED(cudaGraphLaunch(executable, r.stream));
		else
			launch(&r, values);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
