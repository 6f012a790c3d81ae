/* SPDX-License-Identifier: MIT */
/*
 * The jumps of shim/dlsym_*.S alone, with stand-ins for what they jump to: which way each lookup
 * takes, and whether its arguments, and the caller's address, arrive. Needs nothing of CUDA, so
 * that it can be built for another processor.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define HANDLE ((void *)(uintptr_t)0x1234560)
#define ELSEWHERE ((void *)(uintptr_t)0x7654320)
#define DEEPBIND 8

void *tfs_next_dlopen, *tfs_next_dlsym, *tfs_next_dlvsym;
void *tfs_driver_find_next(void **which);
void *tfs_driver_dlsym(void *handle, const char *name, const void *caller);
void *tfs_driver_dlvsym(void *handle, const char *name, const char *version, const void *caller);
void *tfs_driver_note_lookup(const char *name, const void *caller, void *handle);
int tfs_open_flags(const char *file, int flags);
void *dlsym(void *handle, const char *name);
void *dlvsym(void *handle, const char *name, const char *version);
void *dlopen(const char *file, int flags);
int main(void);

static struct {
	char way; /* n: the next function; s: the swap */
	void *handle;
	const char *name, *version;
	const void *caller;
	int flags;
} seen;
static int searches, opened, failures, noted;

static void *next_dlsym(void *handle, const char *name)
{
	seen.way = 'n';
	seen.handle = handle;
	seen.name = name;
	return HANDLE;
}

static void *next_dlvsym(void *handle, const char *name, const char *version)
{
	seen.version = version;
	return next_dlsym(handle, name);
}

static void *next_dlopen(const char *file, int flags)
{
	seen.flags = flags;
	return next_dlsym(NULL, file);
}

/* Leaves nothing in the registers as it was. */
void *tfs_driver_find_next(void **which)
{
	char text[64];

	searches++;
	snprintf(text, sizeof(text), "%p %d %s", (void *)which, searches, "which");
	*which = which == &tfs_next_dlsym    ? (void *)next_dlsym
		 : which == &tfs_next_dlvsym ? (void *)next_dlvsym
					     : (void *)next_dlopen;
	return strlen(text) > 0 ? *which : NULL;
}

void *tfs_driver_dlsym(void *handle, const char *name, const void *caller)
{
	next_dlsym(handle, name);
	seen.way = 's';
	seen.caller = caller;
	return &seen;
}

void *tfs_driver_dlvsym(void *handle, const char *name, const char *version, const void *caller)
{
	seen.version = version;
	return tfs_driver_dlsym(handle, name, caller);
}

int tfs_open_flags(const char *file, int flags)
{
	opened += strcmp(file, "lib") == 0;
	return flags & ~DEEPBIND;
}

/* As above; one name is to be looked for elsewhere. */
void *tfs_driver_note_lookup(const char *name, const void *caller, void *handle)
{
	char text[64];

	noted++;
	snprintf(text, sizeof(text), "%s %p", name, handle);
	seen.caller = caller;
	return strcmp(name, "cudaFree") == 0 ? ELSEWHERE : handle;
}

static void check(int line, bool good)
{
	if (!good)
		printf("%s:%d: not so\n", __FILE__, line);
	failures += !good;
}
#define CHECK(condition) check(__LINE__, condition)

/* Lies in main? The callers' address is that of the instruction after the call. */
static bool from_main(void)
{
	const uintptr_t at = (uintptr_t)seen.caller, start = (uintptr_t)main;

	return at > start && at < start + 4096;
}

int main(void)
{
	static const struct {
		void *handle;
		const char *name;
		char way;
	} rows[] = {
		{HANDLE, "strlen", 'n'},
		{HANDLE, "strlen", 'n'},
		{NULL, "cuInit", 'n'},
		{(void *)-1, "cuInit", 'n'},
		{HANDLE, "cuInit", 's'},
		{HANDLE, "cuMemAlloc_v2", 's'},
		{HANDLE, "cuZ", 's'},
		{HANDLE, "cuptiSubscribe", 's'},
		{HANDLE, "cublasCreate_v2", 's'},
		{HANDLE, "ncclSend", 's'},
		{(void *)-1, "ncclSend", 'n'},
		{HANDLE, "n", 'n'},
		{NULL, "cudaFree", 'n'}, /* and elsewhere */
		{HANDLE, "cu", 's'},
		{HANDLE, "c", 'n'},
		{HANDLE, "", 'n'},
		{HANDLE, NULL, 'n'},
		{HANDLE, "cv", 'n'},
		{HANDLE, "nd", 'n'},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const void *want = rows[i].way == 's' ? (void *)&seen : HANDLE;
		const bool moved = rows[i].name && strcmp(rows[i].name, "cudaFree") == 0;
		void *handle = moved ? ELSEWHERE : rows[i].handle;

		memset(&seen, 0, sizeof(seen));
		CHECK(dlsym(rows[i].handle, rows[i].name) == want);
		CHECK(seen.way == rows[i].way && seen.handle == handle &&
			seen.name == rows[i].name && (!seen.caller || from_main()));
		memset(&seen, 0, sizeof(seen));
		CHECK(dlvsym(rows[i].handle, rows[i].name, "V") == want);
		CHECK(seen.way == rows[i].way && seen.handle == handle &&
			seen.name == rows[i].name && strcmp(seen.version, "V") == 0 &&
			(!seen.caller || from_main()));
	}
	CHECK(noted == 2 * 4);
	for (int flags = 0; flags < 512; flags++) {
		CHECK(dlopen("lib", flags) == HANDLE);
		CHECK(strcmp(seen.name, "lib") == 0 && seen.flags == (flags & ~DEEPBIND));
	}
	CHECK(opened == 512 && searches == 3);
	printf("%d lookups in %d ways, %d failed\n", 2 * (int)(sizeof(rows) / sizeof(rows[0])), 2,
		failures);
	return failures != 0;
}
