/* SPDX-License-Identifier: MIT */
/*
 * A driver with little in it and bad manners: it looks its own functions up while it is being
 * initialised, knows an ABI newer than any header, and answers errors. With OLD, it is one from
 * before CUDA 12, which has only the older form of cuGetProcAddress.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
#define NOT_FOUND 500
#define NOT_PERMITTED 800

EXPORT int fake_latest;    /* the function that ran last */
EXPORT int fake_calls;     /* in this copy of the library */
EXPORT int fake_reentered; /* 1: looked itself up and found itself; -1: found something else */

#define FUNCTION(name, number, parameters)                                                         \
	EXPORT int name parameters;                                                                \
	EXPORT int name parameters                                                                 \
	{                                                                                          \
		__atomic_fetch_add(&fake_calls, 1, __ATOMIC_RELAXED);                              \
		fake_latest = number;                                                              \
		return 0;                                                                          \
	}

FUNCTION(cuMemAlloc, 1, (unsigned *out, unsigned bytes))
FUNCTION(cuMemFree_v2, 3, (unsigned long long address))
FUNCTION(cuMemcpyHtoD_v2, 4, (unsigned long long to, const void *from, size_t bytes))
FUNCTION(cuMemcpyHtoD_v2_ptds, 5, (unsigned long long to, const void *from, size_t bytes))
FUNCTION(cuEventElapsedTime, 6, (float *out, void *start, void *end))
FUNCTION(cuEventElapsedTime_v2, 7, (float *out, void *start, void *end))
FUNCTION(cuFakeOnly, 8, (void))
FUNCTION(cuLaunchHostFunc, 10, (void *stream, void *function, void *data))
FUNCTION(cuLaunchHostFunc_v2, 11, (void *stream, void *function, void *data, unsigned mode))
FUNCTION(cuMemcpyWithAttributesAsync_ptsz, 12,
	(unsigned long long to, unsigned long long from, size_t bytes, void *with, void *stream))

EXPORT int cuMemAlloc_v2(unsigned long long *out, size_t bytes);
EXPORT int cuMemAlloc_v2(unsigned long long *out, size_t bytes)
{
	*out = 0x7f0000000000 + bytes;
	__atomic_fetch_add(&fake_calls, 1, __ATOMIC_RELAXED);
	fake_latest = 2;
	return 0;
}

/* Of a version to come; its parameters are its own. */
static int newer_alloc(int first, double second, unsigned long long *out)
{
	*out = (unsigned long long)(first * second);
	fake_latest = 9;
	return 0;
}

static const struct {
	const char *name;
	int version;
	int per_thread;
	void *function;
} table[] = {
	{"cuMemAlloc", 13090, 0, newer_alloc},
	{"cuMemAlloc", 3020, 0, cuMemAlloc_v2},
	{"cuMemAlloc", 2000, 0, cuMemAlloc},
	{"cuMemFree", 3020, 0, cuMemFree_v2},
	{"cuMemcpyHtoD", 7000, 1, cuMemcpyHtoD_v2_ptds},
	{"cuMemcpyHtoD", 3020, 0, cuMemcpyHtoD_v2},
	{"cuEventElapsedTime", 12080, 0, cuEventElapsedTime_v2},
	{"cuEventElapsedTime", 2000, 0, cuEventElapsedTime},
	{"cuFakeOnly", 13000, 0, cuFakeOnly},
	{"cuLaunchHostFunc", 13010, 0, cuLaunchHostFunc_v2},
	{"cuLaunchHostFunc", 10000, 0, cuLaunchHostFunc},
	{"cuMemcpyWithAttributesAsync", 13020, 1, cuMemcpyWithAttributesAsync_ptsz},
};

static int find(const char *name, void **out, int version, unsigned long long flags)
{
	if (getenv("FAKE_REFUSES"))
		return NOT_PERMITTED;
	for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++) {
		if (strcmp(name, table[i].name) || table[i].version > version ||
			(table[i].per_thread && !(flags & 2)))
			continue;
		*out = table[i].function;
		return 0;
	}
	return NOT_FOUND;
}

EXPORT int cuGetProcAddress(const char *name, void **out, int version, unsigned long long flags);
EXPORT int cuGetProcAddress(const char *name, void **out, int version, unsigned long long flags)
{
	if (!strcmp(name, "cuGetProcAddress") && version < 12000) {
		*out = cuGetProcAddress;
		return 0;
	}
	return find(name, out, version, flags);
}

#ifndef OLD
EXPORT int cuGetProcAddress_v2(
	const char *name, void **out, int version, unsigned long long flags, int *result);
EXPORT int cuGetProcAddress_v2(
	const char *name, void **out, int version, unsigned long long flags, int *result)
{
	int status;

	if (!strcmp(name, "cuGetProcAddress")) {
		*out = version < 12000 ? (void *)cuGetProcAddress : (void *)cuGetProcAddress_v2;
		return 0;
	}
	status = find(name, out, version, flags);
	if (result)
		*result = status == 0 ? 0 : 1;
	return status;
}
#define NEWEST cuGetProcAddress_v2
#define NEWEST_NAME "cuGetProcAddress_v2"
#else
#define NEWEST cuGetProcAddress
#define NEWEST_NAME "cuGetProcAddress"
#endif

EXPORT int cuInit(unsigned flags);
EXPORT int cuInit(unsigned flags)
{
	Dl_info info;
	void *self = dladdr((void *)cuInit, &info) ? dlopen(info.dli_fname, RTLD_NOW) : NULL;

	(void)flags;
	if (!self)
		return NOT_FOUND;
	fake_reentered = dlsym(self, NEWEST_NAME) == (void *)NEWEST &&
					 dlsym(self, "cuMemAlloc_v2") == (void *)cuMemAlloc_v2
				 ? 1
				 : -1;
	dlclose(self);
	return 0;
}
