/* SPDX-License-Identifier: MIT */
#include "shim/resolve/open.h"

#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>

#include "shim/base/env.h"
#include "shim/resolve/deep.h"
#include "shim/resolve/lookup.h"

int tfs_open_flags(const char *file, int flags)
{
	const int saved = errno;

	if (!file)
		return flags;
	if ((flags & RTLD_DEEPBIND) != 0)
		flags = tfs_deep_flags(file, flags);
	if (tfs_lookup_opens_driver(file) && !tfs_env_disabled())
		flags |= RTLD_NODELETE;
	errno = saved;
	return flags;
}
