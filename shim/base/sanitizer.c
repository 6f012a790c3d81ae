/* SPDX-License-Identifier: MIT */
#include "shim/base/sanitizer.h"

#include <dlfcn.h>
#include <stddef.h>

bool tfs_sanitizer_threads(void)
{
	return dlsym(RTLD_DEFAULT, "__tsan_init") != NULL;
}

bool tfs_sanitizer_leaks(void)
{
	return dlsym(RTLD_DEFAULT, "__lsan_do_leak_check") != NULL;
}
