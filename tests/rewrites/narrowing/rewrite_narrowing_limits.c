/* SPDX-License-Identifier: MIT */
/*
 * One case per named check of sync-narrowing: the case breaks that precondition, so that it must
 * refuse by that name; nothing goes wrong. With UNSEEN, the program also calls what no hook sees;
 * with HARMLESS such functions of which that does not matter.
 */
#include <dlfcn.h>
#ifdef HARMLESS
#include <cublasLt.h>
#include <cudnn.h>
#include <nccl.h>
#endif

#include "tests/rewrites/narrowing/rewrite_narrowing.h"
#include "tests/rewrites/rewrite_case.h"

/* Never enough to have evidence. */
static void few(void)
{
	for (int i = 1; i <= 6; i++) {
		quiet(one, i);
		visible(other);
		OK(cudaDeviceSynchronize());
	}
}

/* Waits for a stream that is idle at first, and then is not. */
static void late_work(void)
{
	const volatile int half = ROUNDS / 2; /* no loop is split there */

	for (int i = 1; i <= ROUNDS; i++) {
		if (i > half) {
			quiet(one, i);
			OK(cudaMemcpyAsync(pinned, big, BYTES, cudaMemcpyDeviceToHost, one));
		}
		OK(cudaStreamSynchronize(one));
		if (i > half)
			TEST_EQ(wrong_bytes(pinned, i, BYTES), 0);
	}
}

static void nothing_visible(void)
{
	for (int i = 1; i <= ROUNDS; i++) {
		quiet(one, i);
		OK(cudaDeviceSynchronize());
	}
}

static void nothing_quiet(void)
{
	for (int i = 1; i <= ROUNDS; i++) {
		visible(one);
		visible(other);
		OK(cudaDeviceSynchronize());
	}
}

static void per_thread(void)
{
	for (int i = 1; i <= ROUNDS; i++) {
		quiet(one, i);
		visible(cudaStreamPerThread);
		OK(cudaDeviceSynchronize());
	}
}

static void destroyed_stream(void)
{
	OK(cudaStreamDestroy(third));
	rounds();
}

static void capture(void)
{
	cudaGraph_t graph;

	for (int i = 1; i <= ROUNDS; i++) {
		quiet(one, i);
		visible(other);
		OK(cudaStreamBeginCapture(third, cudaStreamCaptureModeRelaxed));
		OK(cudaMemsetAsync(small, i, 64, third));
		OK(cudaStreamSynchronize(other));
		OK(cudaStreamEndCapture(third, &graph));
		OK(cudaGraphDestroy(graph));
	}
}

/* What waits for the program stays for it. */
static void error_waits(void)
{
	void *memory;

	for (int i = 1; i <= ROUNDS; i++) {
		quiet(one, i);
		visible(other);
		TEST_EQ(cudaMalloc(&memory, (size_t)1 << 50), cudaErrorMemoryAllocation);
		OK(cudaDeviceSynchronize());
		TEST_EQ(cudaGetLastError(), cudaErrorMemoryAllocation);
	}
}

static void shared(void)
{
	cudaIpcMemHandle_t handle;

	rounds();
	cudaIpcGetMemHandle(&handle, big);
	cudaGetLastError();
	rounds();
}

static void elsewhere(void)
{
	OK(cudaSetDevice(1));
	OK(cudaDeviceSynchronize());
	OK(cudaSetDevice(0));
	rounds();
}

/* Found by name, as a plugin finds it: no hook sees its calls. */
static void looked_up(void)
{
	TEST_TRUE(dlsym(RTLD_DEFAULT, "cudaGraphicsMapResources"));
	rounds();
}

/* The same of the driver, by the runtime's way to ask for it. */
static void asked_for(void)
{
	enum cudaDriverEntryPointQueryResult result;
	void *function;

	OK(cudaGetDriverEntryPointByVersion(
		"cuGraphicsMapResources", &function, 3000, cudaEnableDefault, &result));
	TEST_TRUE(function);
	rounds();
}

/* What gives the device nothing to do may be found by name. */
static void harmless_looked_up(void)
{
	TEST_TRUE(dlsym(RTLD_DEFAULT, "cudaGetErrorName"));
	TEST_TRUE(dlsym(RTLD_DEFAULT, "cudaGraphGetNodes"));
	rounds();
}

#ifdef HARMLESS
/* What has no hook, and gives the device nothing to do. */
static void harmless(void)
{
	const struct cudaChannelFormatDesc kind =
		cudaCreateChannelDesc(8, 0, 0, 0, cudaChannelFormatKindUnsigned);
	size_t count = 0;
	cudaGraph_t graph;
	int version = 0;

	TEST_EQ(kind.x, 8);
	OK(cudaGraphCreate(&graph, 0));
	OK(cudaGraphGetNodes(graph, NULL, &count));
	OK(cudaGraphDestroy(graph));
	TEST_TRUE(*ncclGetErrorString(ncclSuccess) != '\0');
	TEST_EQ(ncclGetVersion(&version), ncclSuccess);
	TEST_TRUE(cudnnGetVersion() > 0);
	cublasLtGetVersion();
	rounds();
}
#endif

#ifdef UNSEEN
static void unseen(void)
{
	for (int i = 1; i <= ROUNDS; i++) {
		quiet(one, i);
		if (!third)
			cudaGraphicsMapResources(0, NULL, third);
		visible(other);
		OK(cudaDeviceSynchronize());
	}
}
#endif

static const struct rewrite_case cases[] = {
	{"few", few},
	{"late-work", late_work},
	{"nothing-visible", nothing_visible},
	{"nothing-quiet", nothing_quiet},
	{"per-thread", per_thread},
	{"destroyed-stream", destroyed_stream},
	{"capture", capture},
	{"error-waits", error_waits},
	{"shared", shared},
	{"elsewhere", elsewhere},
	{"looked-up", looked_up},
	{"asked-for", asked_for},
	{"harmless-looked-up", harmless_looked_up},
#ifdef HARMLESS
	{"harmless", harmless},
#endif
#ifdef UNSEEN
	{"unseen", unseen},
#endif
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	set_up();
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
