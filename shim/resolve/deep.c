/* SPDX-License-Identifier: MIT */
#include "shim/resolve/deep.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/base/spin.h"
#include "shim/resolve/lookup.h"
#include "shim/resolve/lookup_object.h"
#include "shim/resolve/lookup_versions.h"

#define NAMES 16u

static struct tfs_spin lock;
static char names[NAMES][64]; /* of files, without their folders */
static _Atomic uint32_t count;

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void keep_name(const char *name)
{
	const uint32_t used = atomic_load(&count);

	for (uint32_t i = 0; i < used; i++)
		if (strncmp(names[i], name, sizeof(names[i]) - 1) == 0)
			return;
	if (used == NAMES)
		return;
	snprintf(names[used], sizeof(names[used]), "%s", name);
	atomic_store(&count, used + 1);
}

int tfs_deep_flags(const char *file, int flags)
{
	static _Atomic bool said;

	if (!tfs_env_deepbind()) {
		if (!atomic_exchange(&said, true))
			tfs_log_say(
				"%s is opened without RTLD_DEEPBIND, so that its calls are seen (deepbind=0)",
				base_name(file));
		flags &= ~RTLD_DEEPBIND;
	} else {
		tfs_spin_lock(&lock);
		keep_name(base_name(file));
		tfs_spin_unlock(&lock);
	}
	return flags;
}

const char *tfs_deep_any(void)
{
	return atomic_load(&count) != 0 ? names[0] : NULL;
}

struct user {
	const char *file;
	bool of_cuda;
};

/* A runtime linked in asks for the driver by name, and needs nothing that tells. */
static int find_user(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct user *user = argument;

	(void)bytes;
	if (!tfs_object_is_named(object, user->file))
		return 0;
	for (uint32_t i = 1; i < TFS_LOOKUP_LIBRARIES; i++)
		user->of_cuda |= tfs_object_needs(object, tfs_lookup_file(i)) != NULL;
	user->of_cuda |= tfs_object_imports(object, "dlsym");
	return 1;
}

const char *tfs_deep_next(uint32_t *place)
{
	const uint32_t now = atomic_load(&count);

	while (*place < now) {
		struct user user = {.file = names[(*place)++]};

		if (dl_iterate_phdr(find_user, &user) != 0 && user.of_cuda)
			return user.file;
	}
	return NULL;
}
