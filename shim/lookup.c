/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <elf.h>
#include <limits.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "shim/hook.h"
#include "shim/log.h"

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
 * away with it what it brought, and pointers into that must not be kept. */
static _Atomic uint32_t steady = 1u << TFS_LIBRARY_cuda;

/* Libraries of which several versions are mapped: nothing of them is kept. */
static _Atomic uint32_t mixed;

struct search {
	const char *name;
	uint32_t hash;
	const char *file; /* only in objects whose file name begins so; NULL = any */
	uint64_t self;    /* an address inside this library, which is passed over */
	bool behind;      /* only in objects behind this library; then turned off there */
	void *found;
	bool elsewhere; /* in an object with another name */
};

struct tables {
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;
};

static bool read_tables(const struct dl_phdr_info *object, struct tables *out)
{
	const ElfW(Dyn) *dynamic = NULL;

	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	*out = (struct tables){0};
	for (; dynamic != NULL && dynamic->d_tag != DT_NULL; dynamic++) {
		/* The loader relocates these entries in place, but not in every object. */
		uint64_t address = dynamic->d_un.d_ptr;
		if (address < object->dlpi_addr)
			address += object->dlpi_addr;
		if (dynamic->d_tag == DT_SYMTAB)
			out->symbols = (const void *)address;
		else if (dynamic->d_tag == DT_STRTAB)
			out->strings = (const void *)address;
		else if (dynamic->d_tag == DT_GNU_HASH)
			out->gnu_hash = (const void *)address;
	}
	return out->symbols != NULL && out->strings != NULL && out->gnu_hash != NULL;
}

/* https://sourceware.org/gnu-gabi/program-loading-and-dynamic-linking.txt, section DT_GNU_HASH */
static uint32_t hash_name(const char *name)
{
	uint32_t hash = 5381;

	for (; *name != '\0'; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

static const ElfW(Sym) * find_symbol(const struct tables *tables, const struct search *search)
{
	const uint32_t bucket_count = tables->gnu_hash[0];
	const uint32_t first = tables->gnu_hash[1];
	const uint32_t *buckets = tables->gnu_hash + 4 +
				  tables->gnu_hash[2] * (sizeof(ElfW(Addr)) / sizeof(uint32_t));
	const uint32_t *chain = buckets + bucket_count;

	if (bucket_count == 0)
		return NULL;
	for (uint32_t i = buckets[search->hash % bucket_count]; i >= first; i++) {
		const ElfW(Sym) *symbol = &tables->symbols[i];

		if ((chain[i - first] | 1) == (search->hash | 1) && symbol->st_shndx != SHN_UNDEF &&
			ELF64_ST_TYPE(symbol->st_info) == STT_FUNC &&
			strcmp(tables->strings + symbol->st_name, search->name) == 0)
			return symbol;
		if ((chain[i - first] & 1) != 0)
			break;
	}
	return NULL;
}

static bool contains(const struct dl_phdr_info *object, uint64_t address)
{
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &object->dlpi_phdr[i];
		const uint64_t start = object->dlpi_addr + segment->p_vaddr;

		if (segment->p_type == PT_LOAD && address >= start &&
			address < start + segment->p_memsz)
			return true;
	}
	return false;
}

static bool is_named(const struct dl_phdr_info *object, const char *file)
{
	const char *slash = strrchr(object->dlpi_name, '/');
	const char *name = slash != NULL ? slash + 1 : object->dlpi_name;

	return strncmp(name, file, strlen(file)) == 0;
}

static int search_object(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct search *search = argument;
	struct tables tables;

	(void)bytes;
	if (contains(object, search->self)) {
		search->behind = false;
		return 0;
	}
	if (search->behind || (search->file != NULL && !is_named(object, search->file)) ||
		!read_tables(object, &tables))
		return 0;
	const ElfW(Sym) *symbol = find_symbol(&tables, search);
	if (symbol == NULL)
		return 0;
	search->found = (void *)(object->dlpi_addr + symbol->st_value);
	return 1;
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
		.hash = hash_name(name),
		.self = (uint64_t)&files,
		.file = files[library],
	};

	/* The library itself first: a plugin may define a function of the same name for its own
	 * use. */
	dl_iterate_phdr(search_object, &search);
	if (search.found == NULL) {
		search.file = NULL;
		search.elsewhere = true;
		dl_iterate_phdr(search_object, &search);
	}
	return search;
}

void *tfs_lookup_named(enum tfs_library library, const char *name)
{
	return look_for(library, name).found;
}

bool tfs_lookup_steady(enum tfs_library library)
{
	return (atomic_load(&steady) >> library & 1) != 0;
}

void *tfs_lookup_next(const char *name)
{
	struct search search = {
		.name = name, .hash = hash_name(name), .self = (uint64_t)&files, .behind = true};

	dl_iterate_phdr(search_object, &search);
	return search.found;
}

struct locate {
	uint64_t address;
	struct tfs_object *out;
};

static int locate_object(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	const struct locate *locate = argument;
	const char *slash = strrchr(object->dlpi_name, '/');
	const char *name = slash != NULL ? slash + 1 : object->dlpi_name;
	const size_t length = strnlen(name, sizeof(locate->out->file) - 1);

	(void)bytes;
	if (!contains(object, locate->address))
		return 0;
	memcpy(locate->out->file, name, length);
	locate->out->file[length] = '\0';
	locate->out->start = object->dlpi_addr;
	locate->out->own = contains(object, (uint64_t)&files);
	return 1;
}

bool tfs_lookup_object(const void *address, struct tfs_object *out_object)
{
	struct locate locate = {(uint64_t)(uintptr_t)address, out_object};

	return dl_iterate_phdr(locate_object, &locate) != 0;
}

static bool is_mixed(enum tfs_library library)
{
	return (atomic_load(&mixed) >> library & 1) != 0;
}

struct link {
	uint64_t caller;
	const char *file;
	char name[64]; /* of the library that the caller is linked to */
};

static int read_link(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct link *link = argument;
	const ElfW(Dyn) *dynamic = NULL;
	struct tables tables;

	(void)bytes;
	if (!contains(object, link->caller))
		return 0;
	for (int i = 0; i < object->dlpi_phnum; i++)
		if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
			dynamic = (const void *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr);
	read_tables(object, &tables);
	for (; dynamic != NULL && dynamic->d_tag != DT_NULL && tables.strings != NULL; dynamic++) {
		const char *name = tables.strings + dynamic->d_un.d_val;

		if (dynamic->d_tag == DT_NEEDED &&
			strncmp(name, link->file, strlen(link->file)) == 0)
			snprintf(link->name, sizeof(link->name), "%s", name);
	}
	return 1;
}

/* In the version of the library that the caller is linked to. */
static void *look_for_caller(
	const struct tfs_function *function, const char *name, const void *caller)
{
	struct link link = {
		.caller = (uint64_t)(uintptr_t)caller - 1, .file = files[function->library]};
	struct search search = {
		.name = name, .hash = hash_name(name), .self = (uint64_t)&files, .file = link.name};

	if (dl_iterate_phdr(read_link, &link) != 0 && link.name[0] != '\0')
		dl_iterate_phdr(search_object, &search);
	return search.found;
}

static bool forget_real(struct tfs_function *function, void *argument)
{
	const uint32_t *which = argument;

	if ((*which >> function->library & 1) != 0)
		__atomic_store_n(&function->real, NULL, __ATOMIC_RELAXED);
	return true;
}

struct census {
	uint32_t once;
	uint32_t twice;
};

static int count_object(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct census *census = argument;

	(void)bytes;
	for (uint32_t i = 1; i < LIBRARY_COUNT; i++) {
		if (i == TFS_LIBRARY_cuda || !is_named(object, files[i]))
			continue;
		census->twice |= census->once & 1u << i;
		census->once |= 1u << i;
	}
	return 0;
}

static int read_adds(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	if (bytes >= offsetof(struct dl_phdr_info, dlpi_subs))
		*(unsigned long long *)argument = object->dlpi_adds;
	return 1;
}

void tfs_lookup_recheck(void)
{
	static _Atomic unsigned long long last;
	struct census census = {0};
	unsigned long long adds = 0; /* objects mapped so far */

	dl_iterate_phdr(read_adds, &adds);
	if (atomic_exchange(&last, adds) == adds)
		return;
	dl_iterate_phdr(count_object, &census);
	uint32_t fresh = census.twice & ~atomic_fetch_or(&mixed, census.twice);
	if (fresh == 0)
		return;
	atomic_fetch_and(&steady, ~fresh);
	tfs_hook_each(forget_real, &fresh);
	for (uint32_t i = 1; i < LIBRARY_COUNT; i++)
		if ((fresh >> i & 1) != 0)
			tfs_recorder_fact("several versions", files[i], i);
}

void *tfs_lookup_real(struct tfs_function *function, const void *caller)
{
	char buffer[128];
	const bool keep = tfs_lookup_steady(function->library);
	const char *name = real_name(function, buffer);

	if (is_mixed(function->library)) {
		void *own = look_for_caller(function, name, caller);

		if (own != NULL)
			return own;
	}
	const struct search search = look_for(function->library, name);

	if (search.found == NULL) {
		tfs_log(TFS_LOG_WARN, "%s was called but no library has it", function->name);
		return missing(function);
	}
	if ((keep || search.elsewhere) && !is_mixed(function->library))
		__atomic_store_n(&function->real, search.found, __ATOMIC_RELAXED);
	return search.found;
}

struct mapped {
	const char *file;
	char path[PATH_MAX];
};

static int find_path(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct mapped *mapped = argument;

	(void)bytes;
	if (!is_named(object, mapped->file))
		return 0;
	snprintf(mapped->path, sizeof(mapped->path), "%s", object->dlpi_name);
	return 1;
}

void tfs_lookup_keep(void)
{
	struct mapped mapped;

	for (uint32_t i = 1; i < LIBRARY_COUNT; i++) {
		mapped.file = files[i];
		if (!tfs_lookup_steady((enum tfs_library)i) && !is_mixed((enum tfs_library)i) &&
			dl_iterate_phdr(find_path, &mapped) != 0 &&
			dlopen(mapped.path, RTLD_LAZY | RTLD_NOLOAD | RTLD_NODELETE) != NULL)
			atomic_fetch_or(&steady, 1u << i);
	}
}

static int note_library(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	uint32_t *mapped = argument;

	(void)bytes;
	for (uint32_t i = 1; i < LIBRARY_COUNT; i++)
		if (is_named(object, files[i]))
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

static bool give_number(struct tfs_function *function, void *argument)
{
	uint16_t *last = argument;

	function->id = ++*last;
	return true;
}

void tfs_lookup_number(void)
{
	static _Atomic bool numbered;
	uint16_t last = 0;

	if (!atomic_exchange(&numbered, true))
		tfs_hook_each(give_number, &last);
}

void tfs_lookup_all(void)
{
	uint32_t mapped = 0;

	tfs_lookup_number();
	dl_iterate_phdr(note_library, &mapped);
	atomic_fetch_or(&steady, mapped);
	if (mapped != 0)
		tfs_hook_each(find_next, &mapped);
}
