/* SPDX-License-Identifier: MIT */
/* cuDNN's shape: a front library that finds functions of the same names in its parts (PART), which
 * call others by the front's names, and looks the driver up for itself. */
#include <dlfcn.h>
#include <stdlib.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int cudnnCreate(void **out);
EXPORT int cudnnSetTensor4dDescriptor(void *tensor, int, int, int, int, int, int);

#ifdef PART
EXPORT int cudnnCreate(void **out)
{
	static int calls;

	*out = &calls;
	if (cudnnSetTensor4dDescriptor(NULL, 0, 0, 1, 2, 3, 4) != 10)
		return 101;
	return calls++;
}
#else
EXPORT int cudnnCreate(void **out)
{
	void *part = dlopen("libcudnn_part.so", RTLD_NOW);
	int (*create)(void **) = part ? (int (*)(void **))dlsym(part, "cudnnCreate") : NULL;

	return create ? create(out) : 100;
}

EXPORT int cudnnSetTensor4dDescriptor(
	void *tensor, int format, int type, int n, int c, int h, int w)
{
	(void)tensor, (void)format, (void)type;
	return n + c + h + w;
}

/* 1: the front was given the driver's own functions. */
EXPORT int front_is_left_alone(const char *path);
EXPORT int front_is_left_alone(const char *path)
{
	void *library = dlopen(path, RTLD_NOW);
	void *found = library ? dlsym(library, "cuMemAlloc_v2") : NULL;
	Dl_info info;

	return found && dladdr(found, &info) && dladdr(dlsym(library, "fake_calls"), &info) &&
	       found > info.dli_fbase && (char *)found < (char *)info.dli_fbase + (1 << 20);
}
#endif
