/* SPDX-License-Identifier: MIT */
#include "reports/demangle.h"

#include <stddef.h>

char *tfs_demangle(const char *name, bool parameters)
{
	(void)name;
	(void)parameters;
	return NULL;
}
