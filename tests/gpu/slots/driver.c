/* SPDX-License-Identifier: MIT */
/*
 * A driver with three export tables, to try slots.c on: one that tells its size, one that does not,
 * and one whose size is no size. Function 1 of the first returns a sum of every kind of argument;
 * function 2 (registers.S) writes down every register that it was called with.
 */
#include <stdint.h>
#include <string.h>

#include "tests/gpu/slots/client.h"

static double sum(SUM_PARAMETERS)
{
	return a + 2 * b + 3 * c + 4 * d + 5 * e + 6 * f + 7 * g + 8 * h + x + 2 * y + 3 * z;
}

static uint64_t touched;

static void touch(void)
{
	touched++;
}

static const uint64_t data = 0x123456789;

static const struct {
	uint64_t bytes;
	sum_fn *sum;
	void (*registers)(struct registers *);
	const uint64_t *data;
	void *none;
	void (*unused)(void);
} sized = {sizeof(sized), sum, slots_registers, &data, NULL, touch};

static void (*const unsized[2])(void) = {touch, touch};

static const struct {
	uint64_t bytes;
	void (*touch)(void);
} wrong = {0x7ffffff8, touch};

int cuGetExportTable(const void **out_table, const unsigned char *id);
int cuGetProcAddress_v2(
	const char *name, void **out_function, int version, uint64_t flags, int *out_found);

int cuGetExportTable(const void **out_table, const unsigned char *id)
{
	static const void *const all[] = {&sized, unsized, &wrong};

	if (id[0] >= sizeof(all) / sizeof(*all))
		return 1;
	*out_table = all[id[0]];
	return 0;
}

int cuGetProcAddress_v2(
	const char *name, void **out_function, int version, uint64_t flags, int *out_found)
{
	(void)version, (void)flags;
	*out_function = NULL;
	if (!strcmp(name, "cuGetExportTable"))
		*out_function = (void *)cuGetExportTable;
	else if (!strcmp(name, "cuGetProcAddress"))
		*out_function = (void *)cuGetProcAddress_v2;
	if (out_found)
		*out_found = !*out_function;
	return *out_function ? 0 : 500;
}
