/* SPDX-License-Identifier: MIT */
#include "reports/symbols/demangle.h"

#include <stddef.h>

char *tfs_demangle(const char *name, bool parameters)
{
	(void)name;
	(void)parameters;
	return NULL;
}
