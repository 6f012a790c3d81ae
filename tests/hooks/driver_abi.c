/* SPDX-License-Identifier: MIT */
/*
 * Calls every hooked function of the driver with arguments that differ in each byte, and compares
 * what arrives: driver_abi LIBCUDA. The driver is this file as well, built with DRIVER; it refuses
 * every call, so no argument is looked into. Prints the functions' names.
 */
#define __CUDA_API_VERSION_INTERNAL
#include <cuda.h>
#include <cudaTypedefs.h>
#include <dlfcn.h>
#include <string.h>

#include "driver_abi.h"
#include "tests/test.h"

#define ROOM 1024

#ifdef DRIVER
#define EXPORT __attribute__((visibility("default")))

EXPORT unsigned char abi_bytes[ROOM];
EXPORT size_t abi_used;

static void keep(const void *argument, size_t bytes)
{
	memcpy(abi_bytes + abi_used, argument, bytes);
	abi_used += bytes;
}

#define P(type, name) keep(&name, sizeof(name));
#define X(name, parameters, arguments, each)                                                       \
	EXPORT CUresult name parameters;                                                           \
	EXPORT CUresult name parameters                                                            \
	{                                                                                          \
		abi_used = 0;                                                                      \
		each return CUDA_ERROR_NOT_PERMITTED;                                              \
	}
DRIVER_FUNCTIONS(X)
#else
static unsigned char sent[ROOM];
static size_t sent_bytes;
static unsigned char next;

static void make(void *argument, size_t bytes)
{
	unsigned char *byte = argument;

	for (size_t i = 0; i < bytes; i++)
		byte[i] = ++next;
	memcpy(sent + sent_bytes, argument, bytes);
	sent_bytes += bytes;
}

#define P(type, name)                                                                              \
	type name;                                                                                 \
	make(&name, sizeof(name));
#define X(name, parameters, arguments, each)                                                       \
	static CUresult call_##name(void *function)                                                \
	{                                                                                          \
		each return ((CUresult(*) parameters)function)arguments;                           \
	}
DRIVER_FUNCTIONS(X)
#undef X

static const struct {
	const char *name;
	CUresult (*call)(void *);
} functions[] = {
#define X(name, parameters, arguments, each) {#name, call_##name},
	DRIVER_FUNCTIONS(X)
#undef X
};

int main(int count, char **words)
{
	TEST_NEED(count == 2);
	void *library = dlopen(words[1], RTLD_NOW);
	TEST_NEED(library);
	const unsigned char *bytes = dlsym(library, "abi_bytes");
	const size_t *used = dlsym(library, "abi_used");
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		void *function = dlsym(library, functions[i].name);

		TEST_NEED(function);
		sent_bytes = 0;
		next = (unsigned char)i;
		if (!TEST_EQ(functions[i].call(function), CUDA_ERROR_NOT_PERMITTED) ||
			!TEST_EQ(*used, sent_bytes) ||
			!TEST_TRUE(memcmp(bytes, sent, sent_bytes) == 0))
			printf("so for %s\n", functions[i].name);
		else
			printf("%s\n", functions[i].name);
	}
	return test_result();
}
#endif
