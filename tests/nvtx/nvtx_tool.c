/* SPDX-License-Identifier: MIT */
/* An NVTX tool that takes two functions only, and adds 100 to the levels; with TOOL_REFUSES set it
 * does not start. */
#include <stddef.h>
#include <stdlib.h>

typedef const void *export_function(unsigned table);

struct callbacks {
	size_t bytes;
	int (*table)(int module, void (****out_table)(void), unsigned *out_size);
};

static __thread int depth;

static int push(const char *text)
{
	(void)text;
	return 100 + depth++;
}

static int pop(void)
{
	return 100 + --depth;
}

#define EXPORT __attribute__((visibility("default")))

EXPORT int InitializeInjectionNvtx(export_function *exports);
EXPORT int InitializeInjectionNvtx2(export_function *exports);

/* As NVTX 2 calls it. */
int InitializeInjectionNvtx(export_function *exports)
{
	return exports ? 0 : 2;
}

int InitializeInjectionNvtx2(export_function *exports)
{
	const struct callbacks *callbacks = exports(1);
	void (***table)(void) = NULL;
	unsigned size = 0;

	if (getenv("TOOL_REFUSES"))
		return 0;
	callbacks->table(1, &table, &size);
	*table[9] = (void (*)(void))push;
	*table[11] = (void (*)(void))pop;
	return 1;
}
