/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/common/unseen.h"

#include <link.h>
#include <string.h>

#include "shim/base/cause.h"
#include "shim/base/env.h"
#include "shim/base/spin.h"
#include "shim/resolve/deep.h"
#include "shim/resolve/driver.h"
#include "shim/resolve/harmless.h"
#include "shim/resolve/lookup.h"
#include "shim/resolve/lookup_object.h"

#define LOOK_NS UINT64_C(1000000000)

/* Files by which others come to the device's memory, and NVIDIA's that have no hooks. */
static const char *const users[] = {"libibverbs", "librdmacm", "libfabric", "libucp", "libuct",
	"libmpi", "libgdrapi", "libnvshmem", "libcufile", "libcufft", "libcusolver", "libcusparse",
	"libcutensor", "libcudla", "libnpp", "libnvjpeg", "libnvinfer"};

/* Those of the system that open no libraries in a name space of their own. */
static const char *const ordinary[] = {"ld-linux", "libasan.", "libc.so", "libdl.", "libtsan."};

static struct tfs_spin lock;
static unsigned long long looked_at; /* objects loaded by the last look, 0 = none yet */
static struct tfs_cause work;
static struct tfs_cause user;
static struct tfs_cause name_space;

static bool differs(struct tfs_function *function, void *argument)
{
	const char **name = argument;

	if (strcmp(function->name, *name) != 0)
		return true;
	*name = NULL;
	return false;
}

static bool look_at_import(const char *name, void *file)
{
	const char *sought = name;

	if (!tfs_driver_is_cuda(name) || tfs_is_harmless(name))
		return true;
	tfs_lookup_each(differs, &sought);
	if (sought)
		tfs_cause_name(&work, name, "called by", file);
	return !sought;
}

static void look_for_name_spaces(const struct dl_phdr_info *object, const char *file)
{
	/* An address in this library. */
	if (tfs_object_contains(object, (uint64_t)(uintptr_t)ordinary) ||
		!tfs_object_imports(object, "dlmopen"))
		return;
	for (size_t i = 0; i < sizeof(ordinary) / sizeof(ordinary[0]); i++)
		if (strncmp(file, ordinary[i], strlen(ordinary[i])) == 0)
			return;
	tfs_cause_name(&name_space, "dlmopen", "called by", file);
}

static int look_at(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	unsigned long long *adds = argument;
	const char *file = tfs_object_file(object);

	(void)bytes;
	if (looked_at == object->dlpi_adds)
		return 1;
	*adds = object->dlpi_adds;
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		if (tfs_object_is_named(object, users[i]))
			tfs_cause_name(&user, file, NULL, NULL);
	/* What is not found there is no CUDA's: the kernel's own, and the loader. */
	if (tfs_driver_exempts(file) || tfs_object_is_named(object, "linux-vdso"))
		return 0;
	if (!tfs_object_each_import(object, look_at_import, (void *)(uintptr_t)file))
		tfs_cause_name(&work, "an unreadable library", "called by", file);
	look_for_name_spaces(object, file);
	return 0;
}

/* NULL: everything was looked at. Who has the lock may wait for a constructor that makes calls. */
static const char *look(void)
{
	unsigned long long adds = 0;

	if (!tfs_spin_lock_within(&lock, LOOK_NS))
		return "a library that is being loaded";
	dl_iterate_phdr(look_at, &adds);
	if (adds != 0)
		looked_at = adds;
	tfs_spin_unlock(&lock);
	return NULL;
}

const char *tfs_unseen_work(void)
{
	const char *cause = look();

	if (!cause)
		cause = tfs_cause_text(&work);
	if (!cause)
		cause = tfs_driver_looked_past();
	if (!cause)
		cause = tfs_deep_any();
	return !cause && !tfs_options.driver ? "the option driver=0" : cause;
}

const char *tfs_unseen_users(void)
{
	const char *cause = look();

	return cause ? cause : tfs_cause_text(&user);
}

const char *tfs_unseen_lookups(void)
{
	const char *cause = look();

	if (!cause)
		cause = tfs_driver_looked_up();
	return cause ? cause : tfs_cause_text(&name_space);
}
