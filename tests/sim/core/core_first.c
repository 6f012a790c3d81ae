/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdlib.h>

#include "tests/sim/core/core_private.h"

/* Kernels that were launched before, by their names' addresses: the first launch loads the code. */
static struct {
	const char **names;
	size_t count, room; /* room is a power of two */
} seen;

static size_t slot_of(const char *const *names, size_t room, const char *name)
{
	size_t at = ((uintptr_t)name >> 4) * 0x9e3779b97f4a7c15u & (room - 1);

	while (names[at] && names[at] != name)
		at = (at + 1) & (room - 1);
	return at;
}

static bool grow(void)
{
	size_t room = seen.room ? seen.room * 2 : 256;
	const char **names = calloc(room, sizeof(*names));

	if (!names)
		return false;
	for (size_t i = 0; i < seen.room; i++)
		if (seen.names[i])
			names[slot_of(names, room, seen.names[i])] = seen.names[i];
	free(seen.names);
	seen.names = names;
	seen.room = room;
	return true;
}

bool sim_first_use(const char *name)
{
	size_t at;

	if (!name || (seen.count * 2 >= seen.room && !grow()))
		return false;
	at = slot_of(seen.names, seen.room, name);
	if (seen.names[at])
		return false;
	seen.names[at] = name;
	seen.count++;
	return true;
}
