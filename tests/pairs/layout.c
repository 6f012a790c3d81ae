/* SPDX-License-Identifier: MIT */
#include "tests/pairs/layout.h"

#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *name;
	size_t offset;
	uint64_t value;
} numbers[] = {
#define X(name, value) {#name, offsetof(struct layout, name), value},
	LAYOUT(X)
#undef X
};

enum { NUMBERS = sizeof(numbers) / sizeof(numbers[0]) };

static uint64_t *number_at(struct layout *layout, unsigned i)
{
	return (uint64_t *)(void *)((char *)layout + numbers[i].offset);
}

static void set(struct layout *layout, char *argument)
{
	char *value = strchr(argument, '=');

	for (unsigned i = 0; value && i < NUMBERS; i++) {
		if (strlen(numbers[i].name) != (size_t)(value - argument) ||
			strncmp(numbers[i].name, argument, (size_t)(value - argument)) != 0)
			continue;
		*number_at(layout, i) = strtoull(value + 1, NULL, 10);
		return;
	}
	fprintf(stderr, "unknown argument '%s'\n", argument);
	exit(2);
}

struct layout layout_read(int count, char **arguments)
{
	struct layout layout = {.habit = count > 1 ? arguments[1] : ""};

	for (unsigned i = 0; i < NUMBERS; i++)
		*number_at(&layout, i) = numbers[i].value;
	for (int i = 2; i < count; i++)
		set(&layout, arguments[i]);
	return layout;
}

/* SplitMix64. */
uint64_t layout_draw(uint64_t *sequence, uint64_t low, uint64_t high)
{
	uint64_t mixed = *sequence += UINT64_C(0x9e3779b97f4a7c15);

	mixed = (mixed ^ (mixed >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	mixed = (mixed ^ (mixed >> 27)) * UINT64_C(0x94d049bb133111eb);
	return low + (mixed ^ (mixed >> 31)) % (high - low + 1);
}
