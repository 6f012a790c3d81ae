/* SPDX-License-Identifier: MIT */
/*
 * Copies by every form of the driver's functions that a rewrite may take part in, looked up as a
 * CUDA runtime does that is linked into the program: rewrite_driver [CASE]. The source is
 * overwritten as soon as the call has returned.
 *	context   the memory is another context's
 *	none      there is no context yet
 *	reset     the context is reset between the rounds
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <unistd.h>

#include "tests/test.h"

#define BYTES ((size_t)(5 << 20) + 12345) /* several chunks, and a part of one */
#define ROUNDS 3
#define OK(call) TEST_EQ(call, CUDA_SUCCESS)
#define LEGACY CU_GET_PROC_ADDRESS_LEGACY_STREAM
#define OWN CU_GET_PROC_ADDRESS_PER_THREAD_DEFAULT_STREAM

static PFN_cuGetProcAddress_v12000 get;
static char *host, *back;
static CUdeviceptr device;
static CUstream stream;

static void *find(const char *name, int version, cuuint64_t flags)
{
	CUdriverProcAddressQueryResult result;
	void *function = NULL;

	OK(get(name, &function, version, flags, &result));
	TEST_NEED(function);
	return function;
}

/* Both directions, blocking or on the stream given. */
struct form {
	PFN_cuMemcpyHtoD_v3020 upload;
	PFN_cuMemcpyDtoH_v3020 download;
	PFN_cuMemcpyHtoDAsync_v3020 upload_on;
	PFN_cuStreamSynchronize_v2000 wait;
	CUstream stream;
};

static void send(const struct form *form, int value)
{
	memset(host, value, BYTES);
	if (form->upload)
		OK(form->upload(device, host, BYTES));
	else
		OK(form->upload_on(device, host, BYTES, form->stream));
	memset(host, 0x55, BYTES);
	if (form->wait)
		OK(form->wait(form->stream));
	memset(back, 0, BYTES);
	OK(form->download(back, device, BYTES));
	for (size_t i = 0; i < BYTES; i++)
		if (!TEST_EQ(back[i], (char)value))
			return;
}

static void start(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);

	if (!library)
		exit(test_skip("no driver"));
	get = (PFN_cuGetProcAddress_v12000)dlsym(library, "cuGetProcAddress_v2");
	TEST_NEED(get);
	OK(((PFN_cuInit_v2000)find("cuInit", 2000, 0))(0));
}

static void make_context(void)
{
	CUcontext context;

	OK(((PFN_cuDevicePrimaryCtxRetain_v7000)find("cuDevicePrimaryCtxRetain", 7000, 0))(
		&context, 0));
	OK(((PFN_cuCtxSetCurrent_v4000)find("cuCtxSetCurrent", 4000, 0))(context));
	OK(((PFN_cuMemAlloc_v3020)find("cuMemAlloc", 3020, 0))(&device, BYTES));
	OK(((PFN_cuStreamCreate_v2000)find("cuStreamCreate", 2000, 0))(
		&stream, CU_STREAM_NON_BLOCKING));
}

static void run(int first)
{
	const struct form forms[] = {
		{.upload = find("cuMemcpyHtoD", 3020, LEGACY),
			.download = find("cuMemcpyDtoH", 3020, LEGACY)},
		{.upload = find("cuMemcpyHtoD", 7000, OWN),
			.download = find("cuMemcpyDtoH", 7000, OWN)},
		{.upload_on = find("cuMemcpyHtoDAsync", 3020, LEGACY),
			.wait = find("cuStreamSynchronize", 2000, LEGACY),
			.download = find("cuMemcpyDtoH", 3020, LEGACY),
			.stream = stream},
		{.upload_on = find("cuMemcpyHtoDAsync", 7000, OWN),
			.wait = find("cuStreamSynchronize", 7000, OWN),
			.download = find("cuMemcpyDtoH", 3020, LEGACY)},
	};

	for (size_t k = 0; k < sizeof(forms) / sizeof(forms[0]); k++)
		send(&forms[k], first + (int)k);
}

int main(int count, char **words)
{
	const char *test = count == 2 ? words[1] : "";
	CUcontext other;

	alarm(300);
	start();
	host = calloc(1, BYTES);
	back = malloc(BYTES);
	if (strcmp(test, "none") == 0) {
		PFN_cuMemcpyHtoD_v3020 upload = find("cuMemcpyHtoD", 3020, LEGACY);

		TEST_EQ(upload(0x7f0000000040, host, BYTES), CUDA_ERROR_INVALID_CONTEXT);
		return test_result();
	}
	make_context();
	if (strcmp(test, "context") == 0)
		OK(((PFN_cuCtxCreate_v3020)find("cuCtxCreate", 3020, 0))(&other, 0, 0));
	for (int i = 0; i < ROUNDS; i++) {
		run(i * 4 + 1);
		if (strcmp(test, "reset") == 0) {
			OK(((PFN_cuDevicePrimaryCtxReset_v11000)find(
				"cuDevicePrimaryCtxReset", i % 2 == 0 ? 7000 : 11000, 0))(0));
			make_context();
		}
	}
	return test_result();
}
