/* SPDX-License-Identifier: MIT */
/*
 * Calls every hooked function of a library with arguments that differ in each byte, and compares
 * what arrives. The library is this file as well, built with LIBRARY; it refuses every call, so
 * that pointers are followed only to what must be there before it. Prints the functions' names.
 */
#include <stdint.h>
#include <string.h>

#include "tests/test.h"

#include ABI_HEADER

/* Twins are in no header. */
#pragma GCC diagnostic ignored "-Wmissing-prototypes"
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

#define ROOM 1024
#define EXPORT __attribute__((visibility("default")))

#ifdef LIBRARY
EXPORT unsigned char abi_bytes[ROOM];
EXPORT size_t abi_used;

static void keep(const void *argument, size_t bytes)
{
	memcpy(abi_bytes + abi_used, argument, bytes);
	abi_used += bytes;
}

/* Of any type: 1, or nearly nothing. */
static void refuse(void *result, size_t bytes)
{
	memset(result, 0, bytes);
	memset(result, 1, 1);
}

#define P(type, name) keep(&name, sizeof(name));
#define Q P
/* NCCL's hooks call its functions by their second names. */
#define NAMED(type, name, parameters, each, ending)                                                \
	EXPORT type name parameters;                                                               \
	type name parameters                                                                       \
	{                                                                                          \
		abi_used = 0;                                                                      \
		each ending                                                                        \
	}
#define X(type, name, parameters, arguments, each)                                                 \
	NAMED(type, name, parameters, each, type one; refuse(&one, sizeof(one)); return one;)      \
	NAMED(type, p##name, parameters, each, type one; refuse(&one, sizeof(one)); return one;)
ABI_FUNCTIONS(X)
#undef X
#define X(type, name, parameters, arguments, each) NAMED(type, name, parameters, each, )
ABI_VOID(X)
#else
extern unsigned char abi_bytes[ROOM];
extern size_t abi_used;

static unsigned char sent[ROOM];
static size_t sent_bytes;
static unsigned char next;
static uint64_t pointed[ROOM];

static void take(const void *argument, size_t bytes)
{
	memcpy(sent + sent_bytes, argument, bytes);
	sent_bytes += bytes;
}

static void make(void *argument, size_t bytes)
{
	unsigned char *byte = argument;

	for (size_t i = 0; i < bytes; i++)
		byte[i] = ++next;
	take(argument, bytes);
}

static void *point(void)
{
	return &pointed[++next * 4];
}

#define P(type, name)                                                                              \
	type name;                                                                                 \
	make((void *)&name, sizeof(name));
#define Q(type, name)                                                                              \
	type name = point();                                                                       \
	take(&name, sizeof(name));
#define X(type, name, parameters, arguments, each)                                                 \
	type name parameters;                                                                      \
	static void call_##name(void)                                                              \
	{                                                                                          \
		each(void) name arguments;                                                         \
	}
ABI_FUNCTIONS(X)
ABI_VOID(X)
#undef X

static const struct {
	const char *name;
	void (*call)(void);
} functions[] = {
#define X(type, name, parameters, arguments, each) {#name, call_##name},
	ABI_FUNCTIONS(X) ABI_VOID(X)
#undef X
};

int main(void)
{
	for (size_t i = 0; i < sizeof(functions) / sizeof(functions[0]); i++) {
		sent_bytes = 0;
		next = (unsigned char)i;
		functions[i].call();
		if (!TEST_EQ(abi_used, sent_bytes) ||
			!TEST_TRUE(memcmp(abi_bytes, sent, sent_bytes) == 0))
			printf("so for %s\n", functions[i].name);
		else
			printf("%s\n", functions[i].name);
	}
	return test_result();
}
#endif
