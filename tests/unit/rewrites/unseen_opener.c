/* SPDX-License-Identifier: MIT */
/* For unseen.c: a library that may open others where no preload is. */
#include <dlfcn.h>

void *unseen_open(const char *file);

void *unseen_open(const char *file)
{
	return dlmopen(LM_ID_NEWLM, file, RTLD_NOW);
}
