/* SPDX-License-Identifier: MIT */
#include "shim/nvtx/nvtx_attach.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/base/env_flag.h"
#include "shim/base/likely.h"
#include "shim/nvtx/nvtx.h"
#include "shim/nvtx/nvtx_names.h"
#include "shim/record/recorder.h"
#include "shim/resolve/lookup.h"

#define VARIABLE "NVTX_INJECTION64_PATH"
/* Kept in the environment, for programs that this one starts. */
#define NEXT_VARIABLE "TFSHIM_NVTX_NEXT"
#define PASSES_ON "libtfshim_inject.so"
#define CALLBACKS 1u

typedef const void *export_function(uint32_t table);
typedef int initialize_function(export_function *exports);

struct callbacks {
	size_t bytes;
	int (*table)(int module, void (****out_table)(void), unsigned *out_size);
};

struct tfs_nvtx_functions tfs_nvtx_next;
static _Atomic int attached; /* copies of NVTX in the program */
static _Atomic bool chained;

TFS_EXPORT int InitializeInjectionNvtx2(export_function *exports);
/* For libtfshim_inject.so, which NVTX loads. */
TFS_EXPORT int tfshim_nvtx(export_function *exports);

static bool is_unwanted(void)
{
	return tfs_env_disabled() || !tfs_env_flag(getenv("TFSHIM_OPTIONS"), "nvtx", true);
}

/* Of this tfshim or of another that started this program. */
static bool is_own(const char *path)
{
	const char *slash = strrchr(path, '/');

	return strncmp(slash ? slash + 1 : path, "libtfshim", strlen("libtfshim")) == 0;
}

/* The place in NVTX's tables where a function's pointer is; NULL where this NVTX has none. */
static void **place_of(const struct callbacks *callbacks, int module, unsigned index)
{
	void (***table)(void) = NULL;
	unsigned size = 0;

	if (callbacks->table(module, &table, &size) == 0 || !table || index >= size)
		return NULL;
	return (void **)table[index];
}

static initialize_function *find_next(void)
{
	const char *path = getenv(NEXT_VARIABLE);

	if (!path || *path == '\0' || is_own(path))
		return NULL;
	void *library = dlopen(path, RTLD_LAZY);
	if (!library)
		return NULL;
	initialize_function *next =
		(initialize_function *)dlsym(library, "InitializeInjectionNvtx2");
	return next == InitializeInjectionNvtx2 ? NULL : next;
}

static void *read_place(void **place)
{
	return place ? *place : NULL;
}

/*
 * The next tool attaches first; what it left in the table is called from ours. A place that it did
 * not touch holds a function that waits for this very start to be over.
 */
int tfshim_nvtx(export_function *exports)
{
	struct tfs_nvtx_functions before = {0};
	const struct callbacks *callbacks = exports ? exports(CALLBACKS) : NULL;
	initialize_function *next = find_next();

	if (is_unwanted() || !callbacks || callbacks->bytes < sizeof(*callbacks) ||
		(atomic_load(&attached) == 0 && !tfs_nvtx_names_init()))
		return next ? next(exports) : 0;
#define X(module, index, name, result, parameters)                                                 \
	before.name = (result(*) parameters)read_place(place_of(callbacks, module, index));
	TFS_NVTX_FUNCTIONS(X)
#undef X
	if (next && next(exports) != 0)
		atomic_store(&chained, true);
#define X(module, index, name, result, parameters)                                                 \
	{                                                                                          \
		void **place = place_of(callbacks, module, index);                                 \
		result(*theirs) parameters = (result(*) parameters)read_place(place);              \
		if (theirs != before.name && atomic_load(&chained))                                \
			tfs_nvtx_next.name = theirs;                                               \
		if (place)                                                                         \
			*place = (void *)tfs_nvtx_own.name;                                        \
	}
	TFS_NVTX_FUNCTIONS(X)
#undef X
	if (atomic_fetch_add(&attached, 1) == 0 && tfs_recording.header)
		tfs_nvtx_start();
	return 1;
}

int InitializeInjectionNvtx2(export_function *exports)
{
	return tfshim_nvtx(exports);
}

/* What NVTX shall load: processes without libtfshim.so can load the small library only. */
static bool find_library(char path[PATH_MAX])
{
	const char *self = tfs_lookup_own_file();
	char own[PATH_MAX];

	if (!self || (self[0] != '/' && !realpath(self, own)))
		return false;
	if (self[0] == '/')
		snprintf(own, sizeof(own), "%s", self);
	const int folder = (int)(strrchr(own, '/') + 1 - own);
	if (snprintf(path, PATH_MAX, "%.*s" PASSES_ON, folder, own) < PATH_MAX &&
		access(path, R_OK) == 0)
		return true;
	memcpy(path, own, sizeof(own));
	return true;
}

void tfs_nvtx_announce(void)
{
	const char *taken = getenv(VARIABLE);
	char path[PATH_MAX];

	/* Loaded later than the program, the environment may be in use by other threads. */
	if (is_unwanted() || !dlsym(RTLD_DEFAULT, "tfshim_inject") || !find_library(path))
		return;
	if (!taken || *taken == '\0')
		unsetenv(NEXT_VARIABLE);
	else if (!is_own(taken) && setenv(NEXT_VARIABLE, taken, 1) != 0)
		return;
	if (!taken || strcmp(taken, path) != 0)
		setenv(VARIABLE, path, 1);
}

void tfs_nvtx_start(void)
{
	const char *next = getenv(NEXT_VARIABLE);
	const int copies = atomic_load(&attached);
	enum tfs_fact_code fact = TFS_FACT_nvtx_taken;

	if (is_unwanted())
		fact = TFS_FACT_nvtx_off;
	else if (copies == 0)
		fact = TFS_FACT_nvtx_none;
	else if (atomic_load(&chained))
		fact = TFS_FACT_nvtx_passed_on;
	else if (next)
		fact = TFS_FACT_nvtx_not_passed_on;
	tfs_recorder_fact(fact, next, (uint64_t)copies, 0);
}
