/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when they wait for the device, one case each. They hold with and without
 * tfshim, and fail when a wait leaves out what the host or another stream can notice: the script
 * has it do so.
 */
#include <sys/wait.h>

#include "tests/rewrites/narrowing/rewrite_narrowing.h"
#include "tests/rewrites/rewrite_case.h"
#include "tests/sim/tfsim.h"

/* Counterexample 2: the host changes the source of a copy when it has waited for the device. */
static void pinned_source(void)
{
	char *target;

	OK(cudaMalloc((void **)&target, BYTES));
	for (int i = 1; i <= ROUNDS; i++) {
		memset(pinned, i, BYTES);
		quiet(one, i);
		OK(cudaMemcpyAsync(target, pinned, BYTES, cudaMemcpyHostToDevice, other));
		OK(cudaDeviceSynchronize());
		memset(pinned, 0xee, BYTES);
		if (i % 4 == 0)
			check_device(target, i);
	}
}

struct holder {
	int *flag;
};

static void tell_cpu(dim3 grid, dim3 block, size_t shared_bytes, void **args)
{
	(void)grid, (void)block, (void)shared_bytes;
	*(*(struct holder **)args[0])->flag = *(int *)args[1];
}

static const char tell_ptx[] = ".version 7.0\n.target sm_75\n.address_size 64\n"
			       ".visible .entry tell(.param .u64 p0, .param .u32 p1)\n{\n"
			       ".reg .b32 %r<2>;\n.reg .b64 %rd<5>;\n"
			       "ld.param.u64 %rd1, [p0];\nld.param.u32 %r1, [p1];\n"
			       "cvta.to.global.u64 %rd2, %rd1;\nld.global.u64 %rd3, [%rd2];\n"
			       "cvta.to.global.u64 %rd4, %rd3;\nst.global.u32 [%rd4], %r1;\n"
			       "ret;\n}\n";

/* Counterexample 3: a kernel writes pinned memory whose address is in no argument. */
static void hidden_flag(void)
{
	static const struct tfsim_kernel tell = {"tell", tell_cpu, {8, 4}, 2, 8, 1};
	struct holder holder, *on_device;
	cudaLibrary_t library;
	cudaKernel_t kernel;

	tfsim_register_kernel(&tell);
	OK(cudaLibraryLoadData(&library, tell_ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cudaLibraryGetKernel(&kernel, library, "tell"));
	OK(cudaMallocHost((void **)&holder.flag, sizeof(int)));
	OK(cudaMalloc((void **)&on_device, sizeof(holder)));
	OK(cudaMemcpy(on_device, &holder, sizeof(holder), cudaMemcpyHostToDevice));
	for (int i = 1; i <= ROUNDS; i++) {
		void *arguments[] = {&on_device, &i};

		quiet(one, i);
		quiet(third, i);
		OK(cudaLaunchKernel((const void *)kernel, (dim3){1, 1, 1}, (dim3){1, 1, 1},
			arguments, 0, third));
		visible(other);
		OK(cudaDeviceSynchronize());
		TEST_EQ(*(volatile int *)holder.flag, i);
	}
}

/* A wait for the device is an order between streams too. */
static void order(void)
{
	char *target;

	OK(cudaMalloc((void **)&target, BYTES));
	for (int i = 1; i <= ROUNDS; i++) {
		quiet(one, i);
		visible(other);
		OK(cudaDeviceSynchronize());
		OK(cudaMemcpyAsync(target, big, BYTES, cudaMemcpyDeviceToDevice, other));
		OK(cudaStreamSynchronize(other));
		check_device(target, i);
	}
}

static void asks(void)
{
	cudaEvent_t first, last;
	float time;

	OK(cudaEventCreate(&first));
	OK(cudaEventCreate(&last));
	for (int i = 1; i <= ROUNDS; i++) {
		OK(cudaEventRecord(first, one));
		quiet(one, i);
		OK(cudaEventRecord(last, one));
		visible(other);
		OK(cudaDeviceSynchronize());
		if (i % 3 == 0)
			OK(cudaStreamQuery(one));
		else if (i % 3 == 1)
			OK(cudaEventQuery(last));
		else
			OK(cudaEventElapsedTime(&time, first, last));
	}
}

/* A stream that waits for nobody, made late. */
static void late_stream(void)
{
	cudaStream_t late;

	for (int i = 1; i <= 24; i++) {
		quiet(one, i);
		visible(other);
		OK(cudaDeviceSynchronize());
		if (i < 20)
			continue;
		OK(cudaStreamCreateWithFlags(&late, cudaStreamNonBlocking));
		OK(cudaMemcpyAsync(small, big, 64, cudaMemcpyDeviceToDevice, late));
		OK(cudaMemcpyAsync(pinned, small, 64, cudaMemcpyDeviceToHost, late));
		OK(cudaStreamSynchronize(late));
		TEST_EQ(wrong_bytes(pinned, i, 64), 0);
	}
}

/* Waits with nothing left to do, of each kind. */
static void waited_for(void)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	for (int i = 1; i <= ROUNDS; i++) {
		quiet(one, i);
		OK(cudaMemcpyAsync(pinned, big, BYTES, cudaMemcpyDeviceToHost, one));
		OK(cudaEventRecord(event, one));
		if (i % 2 == 0)
			OK(cudaStreamSynchronize(one));
		else
			OK(cudaDeviceSynchronize());
		TEST_EQ(wrong_bytes(pinned, i, BYTES), 0);
		OK(cudaStreamSynchronize(one));
		OK(cudaDeviceSynchronize());
		OK(cudaEventSynchronize(event));
	}
}

static void *work(void *argument)
{
	const int number = (int)(intptr_t)argument;
	char *own, *result;
	cudaStream_t stream, side;

	OK(cudaStreamCreate(&stream));
	OK(cudaStreamCreate(&side));
	OK(cudaMalloc((void **)&own, BYTES));
	OK(cudaMallocHost((void **)&result, 4096));
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < 4; k++)
			OK(cudaMemsetAsync(own, number * 16 + i, BYTES, side));
		OK(cudaDeviceSynchronize());
		OK(cudaMemcpyAsync(result, own, 4096, cudaMemcpyDeviceToHost, stream));
		OK(cudaMemsetAsync(own + BYTES / 2, 0, BYTES / 2, side));
		OK(cudaDeviceSynchronize());
		TEST_EQ(wrong_bytes(result, number * 16 + i, 4096), 0);
	}
	return NULL;
}

/* Eight threads, each with streams of its own. */
static void threads(void)
{
	rewrite_case_threads(work);
}

static void fail_device(void *nothing)
{
	(void)nothing;
	tfsim_kernel_fault(cudaErrorIllegalAddress);
}

static void device_fails(void)
{
	rounds();
	quiet(one, 1);
	OK(cudaLaunchHostFunc(other, fail_device, NULL));
	TEST_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	TEST_EQ(cudaGetLastError(), cudaErrorIllegalAddress);
	TEST_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

static void reset(void)
{
	rounds();
	OK(cudaDeviceReset());
	set_up();
	rounds();
}

static void forks(void)
{
	int status = -1;

	rounds();
	const pid_t child = fork();
	if (child == 0)
		_exit(cudaDeviceSynchronize() == cudaSuccess ? 9 : 0);
	waitpid(child, &status, 0);
	TEST_EQ(status, 0);
	rounds();
}

static const struct rewrite_case cases[] = {
	{"pinned-source", pinned_source},
	{"hidden-flag", hidden_flag},
	{"order", order},
	{"asks", asks},
	{"late-stream", late_stream},
	{"waited-for", waited_for},
	{"threads", threads},
	{"rounds", rounds},
	{"device-fails", device_fails},
	{"reset", reset},
	{"fork", forks},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	set_up();
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
