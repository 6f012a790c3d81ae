/* SPDX-License-Identifier: MIT */
/* For rewrite_memset: a library that looks functions up by name. */
#include <dlfcn.h>

void *finder_find(const char *name);

void *finder_find(const char *name)
{
	void *volatile found = dlsym(RTLD_DEFAULT, name); /* who called stays to be seen */

	return found;
}
