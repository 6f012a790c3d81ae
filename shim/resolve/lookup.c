/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "shim/base/log.h"
#include "shim/resolve/lookup.h"
#include "shim/resolve/lookup_object.h"
#include "shim/resolve/lookup_versions.h"

/*
 * Where the real functions are. In the constructor, dlsym(RTLD_NEXT) is safe and gives what the
 * program itself would have got. Later it is not: a library's constructor may hold the loader's
 * lock while it waits for the very thread whose hook asks. From then on the loaded objects' symbol
 * tables are read directly, which takes no lock that is ever held while foreign code runs.
 */

/* How the file name of each library begins. */
static const char *const files[] = {
	[TFS_LIBRARY_cudart] = "libcudart.so",
	[TFS_LIBRARY_cuda] = "libcuda.so",
	[TFS_LIBRARY_cudnn] = "libcudnn.so",
	[TFS_LIBRARY_cublas] = "libcublas.so",
	[TFS_LIBRARY_cublaslt] = "libcublasLt.so",
	[TFS_LIBRARY_curand] = "libcurand.so",
	[TFS_LIBRARY_nccl] = "libnccl.so",
	[TFS_LIBRARY_cupti] = "libcupti.so",
};
#define LIBRARY_COUNT (sizeof(files) / sizeof(files[0]))
_Static_assert(LIBRARY_COUNT == TFS_LOOKUP_LIBRARIES, "as many as it says elsewhere");

/* What a hook calls when no library has the function. */
static int missing_cuda(void)
{
	return 801; /* cudaErrorNotSupported, CUDA_ERROR_NOT_SUPPORTED */
}

static int missing_cudnn(void)
{
	return 3000; /* CUDNN_STATUS_NOT_SUPPORTED */
}

static int missing_cublas(void)
{
	return 15; /* CUBLAS_STATUS_NOT_SUPPORTED */
}

static int missing_curand(void)
{
	return 204; /* CURAND_STATUS_ARCH_MISMATCH: cuRAND has no "not supported" */
}

static int missing_nccl(void)
{
	return 3; /* ncclInternalError */
}

static int missing_cupti(void)
{
	return 15; /* CUPTI_ERROR_NOT_INITIALIZED */
}

static void *missing(const struct tfs_function *function)
{
	switch (function->library) {
	case TFS_LIBRARY_cudnn:
		return (void *)missing_cudnn;
	case TFS_LIBRARY_cublas:
	case TFS_LIBRARY_cublaslt:
		return (void *)missing_cublas;
	case TFS_LIBRARY_curand:
		return (void *)missing_curand;
	case TFS_LIBRARY_nccl:
		return (void *)missing_nccl;
	case TFS_LIBRARY_cupti:
		return (void *)missing_cupti;
	default:
		return (void *)missing_cuda;
	}
}

/* Libraries that are there for good: mapped with the program, or kept by us. A plugin may take
 * away with it what it brought, and pointers into that must not be kept. The driver stays once
 * somebody opened it, but he has it mapped some time before it can be called. */
static _Atomic uint32_t steady;
static _Atomic bool driver_stays;

/* Libraries that the program has called. */
static _Atomic uint32_t called;

/* Has the constructor found what lies behind us? */
static _Atomic bool begun;

const char *tfs_lookup_file(uint32_t library)
{
	return files[library];
}

void tfs_lookup_unsteady(uint32_t libraries)
{
	atomic_fetch_and(&steady, ~libraries);
}

struct search {
	const char *name;
	uint32_t hash;
	const char *file; /* only in objects whose file name begins so; NULL = any */
	uint64_t self;    /* an address inside this library, which is passed over */
	void *found;
	bool elsewhere; /* in an object with another name */
};

static int search_object(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct search *search = argument;

	(void)bytes;
	if (tfs_object_contains(object, search->self) ||
		(search->file && !tfs_object_is_named(object, search->file)))
		return 0;
	search->found = tfs_object_symbol(object, search->name, search->hash);
	return search->found != NULL;
}

/* NCCL offers every function under a second, strong name for the use of interposers. */
static const char *real_name(const struct tfs_function *function, char *buffer)
{
	if (function->library != TFS_LIBRARY_nccl)
		return function->name;
	buffer[0] = 'p';
	strcpy(buffer + 1, function->name);
	return buffer;
}

static struct search look_for(enum tfs_library library, const char *name)
{
	struct search search = {
		.name = name,
		.hash = tfs_object_hash(name),
		.self = (uint64_t)&files,
		.file = files[library],
	};

	/* The library itself first: a plugin may define a function of the same name for its own
	 * use. */
	dl_iterate_phdr(search_object, &search);
	if (!search.found) {
		search.file = NULL;
		search.elsewhere = true;
		dl_iterate_phdr(search_object, &search);
	}
	return search;
}

void *tfs_lookup_named(enum tfs_library library, const char *name)
{
	if (library == TFS_LIBRARY_cuda && !tfs_lookup_steady(library))
		return NULL;
	return look_for(library, name).found;
}

static int look_elsewhere(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	const struct search *search = argument;

	(void)bytes;
	return !tfs_object_contains(object, search->self) &&
	       tfs_object_may_define(object, search->name, search->hash);
}

bool tfs_lookup_elsewhere(const char *name)
{
	struct search search = {
		.name = name, .hash = tfs_object_hash(name), .self = (uint64_t)&files};

	return dl_iterate_phdr(look_elsewhere, &search) != 0;
}

void tfs_lookup_called(enum tfs_library library)
{
	atomic_fetch_or(&called, 1u << library);
	if (library == TFS_LIBRARY_cuda && atomic_load(&driver_stays))
		atomic_fetch_or(&steady, 1u << TFS_LIBRARY_cuda);
}

bool tfs_lookup_opens_driver(const char *file)
{
	const char *name = strrchr(file, '/');
	const char *driver = files[TFS_LIBRARY_cuda];

	name = name ? name + 1 : file;
	if (strncmp(name, driver, strlen(driver)) != 0)
		return false;
	atomic_store(&driver_stays, true);
	return true;
}

bool tfs_lookup_ready(enum tfs_library library)
{
	return ((atomic_load(&steady) | atomic_load(&called)) >> library & 1) != 0;
}

bool tfs_lookup_steady(enum tfs_library library)
{
	return (atomic_load(&steady) >> library & 1) != 0;
}

/* In the version of the library that the caller is linked to. */
static void *look_for_caller(
	const struct tfs_function *function, const char *name, const void *caller)
{
	char file[64];
	struct search search = {.name = name,
		.hash = tfs_object_hash(name),
		.self = (uint64_t)&files,
		.file = file};

	if (tfs_lookup_link(function->library, caller, file, sizeof(file)))
		dl_iterate_phdr(search_object, &search);
	return search.found;
}

void *tfs_lookup_real(struct tfs_function *function, const void *caller)
{
	char buffer[128];
	const char *name = real_name(function, buffer);

	if (tfs_lookup_mixed(function->library)) {
		void *own = look_for_caller(function, name, caller);

		if (own)
			return own;
	}
	const struct search search = look_for(function->library, name);

	if (!search.found) {
		tfs_log(TFS_LOG_WARN, "%s was called, but no loaded library defines it",
			function->name);
		return missing(function);
	}
	if ((tfs_lookup_steady(function->library) || search.elsewhere) &&
		!tfs_lookup_mixed(function->library))
		__atomic_store_n(&function->real, search.found, __ATOMIC_RELAXED);
	return search.found;
}

bool tfs_lookup_reaches(struct tfs_function *function, const void *answer, const void *caller)
{
	const void *real = __atomic_load_n(&function->real, __ATOMIC_RELAXED);
	const void *own = look_for_caller(function, function->name, caller);

	if (!atomic_load(&begun))
		return false;
	if (own && own != answer)
		return false;
	if (real && function->library != TFS_LIBRARY_nccl)
		return real == answer;
	return look_for(function->library, function->name).found == answer;
}

struct mapped {
	const char *file;
	char path[PATH_MAX];
};

static int find_path(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct mapped *mapped = argument;

	(void)bytes;
	if (!tfs_object_is_named(object, mapped->file))
		return 0;
	snprintf(mapped->path, sizeof(mapped->path), "%s", object->dlpi_name);
	return 1;
}

/* Returns when it is loaded, whoever loads it. */
static bool keep(const char *path)
{
	return dlopen(path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL;
}

void tfs_lookup_keep(void)
{
	struct mapped mapped;

	for (uint32_t i = 1; i < LIBRARY_COUNT; i++) {
		mapped.file = files[i];
		if (!tfs_lookup_steady((enum tfs_library)i) &&
			!tfs_lookup_mixed((enum tfs_library)i) &&
			dl_iterate_phdr(find_path, &mapped) != 0 && keep(mapped.path))
			atomic_fetch_or(&steady, 1u << i);
	}
}

static int note_library(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	uint32_t *mapped = argument;

	(void)bytes;
	for (uint32_t i = 1; i < LIBRARY_COUNT; i++)
		if (tfs_object_is_named(object, files[i]))
			*mapped |= 1u << i;
	return 0;
}

static bool find_next(struct tfs_function *function, void *argument)
{
	const uint32_t mapped = *(const uint32_t *)argument;
	char buffer[128];

	if ((mapped >> function->library & 1) != 0)
		function->real = dlsym(RTLD_NEXT, real_name(function, buffer));
	return true;
}

void tfs_lookup_all(void)
{
	uint32_t mapped = 0;

	dl_iterate_phdr(note_library, &mapped);
	atomic_fetch_or(&steady, mapped);
	if (mapped != 0)
		tfs_lookup_each(find_next, &mapped);
	atomic_store(&begun, true);
}
