/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RESOLVE_LOOKUP_H
#define TFS_SHIM_RESOLVE_LOOKUP_H

/*
 * Hooked functions, and where the real ones are found.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/base/likely.h"
#include "shim/trace/format/format.h"

/* A hooked function. `real` is NULL until it is looked up. */
struct tfs_function {
	char name[55];
	bool aside; /* one of the calls of aside.h; false until it is called */
	void *real;
	uint8_t library;
	uint8_t family;
	/* Of a driver function only; see driver.h. */
	uint16_t since;
	uint8_t base_bytes; /* of its name, without the ABI's suffix and the stream's */
	bool per_thread;
	uint16_t id; /* in the recording, from 1; 0 until it is called: see tfs_hook_id() */
};

/* Finds the real function, without the loader's lock; never NULL: where there is none, a function
 * that returns the library's own "not supported". `caller` is the address that it returns to: where
 * several versions of the library are mapped, each caller gets the one it was linked to. Cold. */
void *tfs_lookup_real(struct tfs_function *function, const void *caller);

/* Looks whether libraries came in a second version. At each new call site. */
void tfs_lookup_recheck(void);

/* Those that did since the last time, by bit: enum tfs_library. */
uint32_t tfs_lookup_came_twice(void);

/* The same where call sites are not kept: once for most addresses that calls return to. */
void tfs_lookup_recheck_at(uint64_t address);

/* A function that the shim itself calls, hooked or not; NULL when no mapped library has it, and of
 * a driver that may not be ready yet. Cold: keep the result, if the library is steady. */
void *tfs_lookup_named(enum tfs_library library, const char *name);

/* Would a call of the hook, by the caller's object, reach that very function? Not told before the
 * constructor has run: another preload that looks the function up may yet turn out to be what lies
 * behind us, and would then be called by the hook that it calls. Cold. */
bool tfs_lookup_reaches(struct tfs_function *function, const void *answer, const void *caller);

/* May any object but this library define that name? Cold. */
bool tfs_lookup_elsewhere(const char *name);

/* The object that an address lies in: its file's name without the folder, cut if need be (empty for
 * the program itself), and where it starts. False when it lies in none. Cold. */
struct tfs_object {
	char file[64];
	uint64_t start;
	bool own; /* this library */
};
bool tfs_lookup_object(const void *address, struct tfs_object *out_object);

/* The function that this library itself exports under a name; NULL when there is none. */
void *tfs_lookup_own(const char *name);

/* This library's file, as the loader was given it; NULL where that is not known. */
const char *tfs_lookup_own_file(void);

/* What is found for a name in the objects behind this library, as dlsym(RTLD_NEXT) would; usable
 * before any constructor ran. NULL when there is none. */
void *tfs_lookup_next(const char *name);

/* Is the library there for good? If not, no pointer into it may be kept. */
bool tfs_lookup_steady(enum tfs_library library);

/* Is it not only mapped but loaded? If not, only the program knows when it may be called. */
bool tfs_lookup_ready(enum tfs_library library);

/* The program has called it, or has made a call that cannot do without it: it is ready. */
void tfs_lookup_called(enum tfs_library library);

/* Is the file that somebody opens the driver? What is opened with RTLD_NODELETE from then on. */
bool tfs_lookup_opens_driver(const char *file);

/* Makes mapped CUDA libraries stay, once they are loaded. Only from the helper thread: it may wait
 * for the loader. */
void tfs_lookup_keep(void);

/* At start: finds the functions whose libraries are mapped already. */
void tfs_lookup_all(void);

static inline __attribute__((always_inline)) void *tfs_real(struct tfs_function *function)
{
	void *real = __atomic_load_n(&function->real, __ATOMIC_RELAXED);

	return TFS_LIKELY(real) ? real : tfs_lookup_real(function, __builtin_return_address(0));
}
#define TFS_REAL(name) ((__typeof__(&name))tfs_real(&tfs_fn_##name))

/* For each hooked function, in a fixed order; `visit` returns false to stop. */
void tfs_lookup_each(bool (*visit)(struct tfs_function *function, void *argument), void *argument);

#endif
