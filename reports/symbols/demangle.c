/* SPDX-License-Identifier: MIT */
#include "reports/symbols/demangle.h"

#include <string.h>

#include <libiberty/demangle.h>

/* Nesting in a hostile name must not exhaust the stack. */
#define LONGEST 8192

char *tfs_demangle(const char *name, bool parameters)
{
	if (strncmp(name, "_Z", 2) != 0 || strnlen(name, LONGEST) == LONGEST)
		return NULL;
	return cplus_demangle(name, DMGL_GNU_V3 | (parameters ? DMGL_PARAMS | DMGL_ANSI : 0));
}
