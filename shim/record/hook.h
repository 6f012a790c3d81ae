/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RECORD_HOOK_H
#define TFS_SHIM_RECORD_HOOK_H

/*
 * How a library function is intercepted.
 *
 * To add one: in the file of its library and family under shim/hooks/, write its block
 *
 *	TFS_HOOK(cudaError_t, cudaMemset, (void *target, int value, size_t bytes))
 *	{
 *		struct tfs_frame frame = TFS_ENTER(cudaMemset);
 *		const cudaError_t status = TFS_REAL(cudaMemset)(target, value, bytes);
 *
 *		if (TFS_END(&frame, status, bytes)) {
 *			struct tfs_details details;
 *
 *			tfs_details_init(&details, tfs_stream_id(NULL, 0));
 *			tfs_put_operand(&details, target, bytes, TFS_ROLE_WRITE);
 *			tfs_hook_details(&frame, &details);
 *		}
 *		return TFS_LEAVE(&frame), status;
 *	}
 *
 * and its row X(cudaMemset, set) in the list at the end of the same file. Nothing else: export,
 * lookup and report all read that row. A new family is a new file, and its name in `families`
 * of its folder's meson.build.
 *
 * A hook calls the real function exactly once, returns its result, and touches neither errno nor
 * the library's last error. Only calls of the program itself are seen: inside a hook, TFS_ENTER
 * gives an inactive frame, for which every other macro does nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/base/likely.h"
#include "shim/record/details.h"
#include "shim/record/frame.h"
#include "shim/record/recorder.h"
#include "shim/resolve/lookup.h"
#include "shim/trace/format/format.h"

#define TFS_HOOK(type, name, parameters)                                                           \
	static struct tfs_function tfs_fn_##name TFS_IN_TABLE;                                     \
	TFS_EXPORT type name parameters;                                                           \
	type name parameters

/*
 * The same for a function that has a twin for the per-thread default stream: one block serves both.
 * `arguments` repeats the parameters' names. In the block, `frame`, `per_thread` and
 * TFS_TWIN_REAL(name) take the place of TFS_ENTER, and of TFS_REAL.
 */
#define TFS_TWIN_HOOKS(type, name, suffix, parameters, arguments)                                  \
	TFS_TWIN_HOOKS_BY(TFS_ENTER, type, name, suffix, parameters, arguments)
#define TFS_TELLING_TWIN_HOOKS(type, name, suffix, parameters, arguments)                          \
	TFS_TWIN_HOOKS_BY(TFS_ENTER_TELLING, type, name, suffix, parameters, arguments)
#define TFS_COPYING_TWIN_HOOKS(type, name, suffix, parameters, arguments)                          \
	TFS_TWIN_HOOKS_BY(TFS_ENTER_COPY, type, name, suffix, parameters, arguments)
#define TFS_TWIN_HOOKS_BY(enter, type, name, suffix, parameters, arguments)                        \
	static inline __attribute__((always_inline)) type tfs_twin_##name(                         \
		struct tfs_frame frame, void *real, bool per_thread, TFS_LIST parameters);         \
	TFS_HOOK(type, name, parameters)                                                           \
	{                                                                                          \
		const struct tfs_frame frame = enter(name);                                        \
                                                                                                   \
		return tfs_twin_##name(frame, (void *)TFS_REAL(name), false, TFS_LIST arguments);  \
	}                                                                                          \
	TFS_HOOK(type, name##suffix, parameters)                                                   \
	{                                                                                          \
		const struct tfs_frame frame = enter(name##suffix);                                \
                                                                                                   \
		return tfs_twin_##name(                                                            \
			frame, (void *)TFS_REAL(name##suffix), true, TFS_LIST arguments);          \
	}                                                                                          \
	static inline __attribute__((always_inline)) type tfs_twin_##name(                         \
		struct tfs_frame frame, void *real, bool per_thread, TFS_LIST parameters)
#define TFS_TWIN_REAL(name) ((__typeof__(&name))real)
#define TFS_LIST(...) __VA_ARGS__

/* A call of which only time and result matter. */
#define TFS_PLAIN_HOOK(type, name, parameters, arguments)                                          \
	TFS_HOOK(type, name, parameters)                                                           \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const type status = TFS_REAL(name) arguments;                                      \
                                                                                                   \
		tfs_hook_plain(&frame, (uint32_t)status);                                          \
		return status;                                                                     \
	}

/* At the file's end: FUNCTIONS(TFS_FUNCTION_ROW); TFS_THIS_LIBRARY says whose they are. All rows of
 * all files are one table, in a section of its own. No address is in it that the loader would have
 * to fill in: that would write to every page of it in every process. */
#define TFS_IN_TABLE __attribute__((section("tfs_functions"), aligned(8)))
#define TFS_FUNCTION_ROW(function, kind)                                                           \
	static struct tfs_function tfs_fn_##function TFS_IN_TABLE = {                              \
		.name = #function, .library = TFS_THIS_LIBRARY, .family = TFS_FAMILY_##kind};      \
	TFS_ROW_FITS(function)
#define TFS_ROW_FITS(function)                                                                     \
	_Static_assert(                                                                            \
		sizeof(#function) <= sizeof(tfs_fn_##function.name), #function " is too long");

/* Families that any call of the program's was of, by bit; each from its first call on. */
uint64_t tfs_hook_families(void);
void tfs_hook_seen(const struct tfs_function *function);

/* The function's id in the recording, which defines it when it is first asked for. */
uint16_t tfs_hook_id(struct tfs_function *function);

#endif
