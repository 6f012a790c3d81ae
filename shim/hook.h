/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_HOOK_H
#define TFS_SHIM_HOOK_H

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
 * lookup and report all read that row. A new family is a new file with a TFS_FAMILY line, and its
 * name in `hook_families` of shim/meson.build.
 *
 * A hook calls the real function exactly once, returns its result, and touches neither errno nor
 * the library's last error. Only calls of the program itself are seen: inside a hook, TFS_ENTER
 * gives an inactive frame, for which every other macro does nothing.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/callsite.h"
#include "shim/clock.h"
#include "shim/recorder.h"
#include "shim/trace/format.h"

/* A hooked function. `real` is NULL until it is looked up. */
struct tfs_function {
	const char *name;
	void *real;
	uint16_t id; /* in the recording, from 1 */
	uint8_t library;
	uint8_t family;
	/* Of a driver function only; see driver.h. */
	bool per_thread;
	uint16_t since;
	const char *entry;
	void *hook;
};

/* The functions of one file, ended by NULL. */
struct tfs_hook_family {
	struct tfs_function *const *functions;
};

/* A call in flight; lives in the hook's stack frame. */
struct tfs_frame {
	struct tfs_thread *thread; /* NULL: this call is not recorded */
	struct tfs_cache_entry *entry;
	uint64_t start_ticks;
	uint64_t end_ticks;
	uint64_t amount;
	uint32_t status;
	uint32_t wanted;
};

/* The details of a call, for the recording, the step search and the rewrites. */
struct tfs_details {
	uint32_t count;
	uint16_t stream;
	struct tfs_item items[24];
};

#define TFS_EXPORT __attribute__((visibility("default")))
#define TFS_LIKELY(x) __builtin_expect(!!(x), 1)
#define TFS_UNLIKELY(x) __builtin_expect(!!(x), 0)

#define TFS_HOOK(type, name, parameters)                                                           \
	static struct tfs_function tfs_fn_##name;                                                  \
	TFS_EXPORT type name parameters;                                                           \
	type name parameters

/*
 * The same for a function that has a twin for the per-thread default stream: one block serves both.
 * `arguments` repeats the parameters' names. In the block, `frame`, `per_thread` and
 * TFS_TWIN_REAL(name) take the place of TFS_ENTER, and of TFS_REAL.
 */
#define TFS_TWIN_HOOKS(type, name, suffix, parameters, arguments)                                  \
	static inline __attribute__((always_inline)) type tfs_twin_##name(                         \
		struct tfs_frame frame, void *real, bool per_thread, TFS_LIST parameters);         \
	TFS_HOOK(type, name, parameters)                                                           \
	{                                                                                          \
		const struct tfs_frame frame = TFS_ENTER(name);                                    \
                                                                                                   \
		return tfs_twin_##name(frame, (void *)TFS_REAL(name), false, TFS_LIST arguments);  \
	}                                                                                          \
	TFS_HOOK(type, name##suffix, parameters)                                                   \
	{                                                                                          \
		const struct tfs_frame frame = TFS_ENTER(name##suffix);                            \
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

/* At the file's end: TFS_FAMILY(cudart_memory, FUNCTIONS); TFS_THIS_LIBRARY says whose they are. */
#define TFS_FUNCTION_ROW(function, kind)                                                           \
	static struct tfs_function tfs_fn_##function = {                                           \
		.name = #function, .library = TFS_THIS_LIBRARY, .family = TFS_FAMILY_##kind};
#define TFS_FUNCTION_POINTER(function, kind) &tfs_fn_##function,
#define TFS_FAMILY(name, functions)                                                                \
	functions(TFS_FUNCTION_ROW) static struct tfs_function *const rows[] = {                   \
		functions(TFS_FUNCTION_POINTER) NULL};                                             \
	const struct tfs_hook_family tfs_family_##name = {rows}

/* Finds the real function, without the loader's lock; never NULL: where there is none, a function
 * that returns the library's own "not supported". `caller` is the address that it returns to: where
 * several versions of the library are mapped, each caller gets the one it was linked to. Cold. */
void *tfs_lookup_real(struct tfs_function *function, const void *caller);

/* Looks whether libraries came in a second version. At each new call site. */
void tfs_lookup_recheck(void);

/* A function that the shim itself calls, hooked or not; NULL when no mapped library has it. Cold:
 * keep the result. */
void *tfs_lookup_named(enum tfs_library library, const char *name);

/* The object that an address lies in: its file's name without the folder, cut if need be (empty for
 * the program itself), and where it starts. False when it lies in none. Cold. */
struct tfs_object {
	char file[64];
	uint64_t start;
	bool own; /* this library */
};
bool tfs_lookup_object(const void *address, struct tfs_object *out_object);

/* What is found for a name in the objects behind this library, as dlsym(RTLD_NEXT) would; usable
 * before any constructor ran. NULL when there is none. */
void *tfs_lookup_next(const char *name);

/* Gives all functions their ids; once. */
void tfs_lookup_number(void);

/* Is the library there for good? If not, no pointer into it may be kept. */
bool tfs_lookup_steady(enum tfs_library library);

/* Makes mapped CUDA libraries stay. Only from the helper thread: it may wait for the loader. */
void tfs_lookup_keep(void);

/* At start: numbers all functions and finds those whose libraries are mapped already. */
void tfs_lookup_all(void);

/* Writes the function's definition into the recording; all of them, once. */
void tfs_hook_define_all(void);

/* For each hooked function, in a fixed order; `visit` returns false to stop. */
void tfs_hook_each(bool (*visit)(struct tfs_function *function, void *argument), void *argument);

static inline __attribute__((always_inline)) void *tfs_real(struct tfs_function *function)
{
	void *real = __atomic_load_n(&function->real, __ATOMIC_RELAXED);

	return TFS_LIKELY(real != NULL) ? real
					: tfs_lookup_real(function, __builtin_return_address(0));
}
#define TFS_REAL(name) ((__typeof__(&name))tfs_real(&tfs_fn_##name))

/* The uncommon half of entering: step marks, device correlation, a stack to be unwound again.
 * Returns what is wanted of the call. */
uint32_t tfs_hook_enter_slowly(struct tfs_thread *thread, struct tfs_cache_entry *entry,
	const struct tfs_function *function, uint64_t address, uint64_t stack);

/* The clock is read first: the rest of entering runs in the time that reading it takes. What takes
 * longer is not the call's, and the clock is read anew. */
static inline __attribute__((always_inline)) struct tfs_frame tfs_hook_enter(
	const struct tfs_function *function, uint64_t address, uint64_t stack)
{
	struct tfs_frame frame = {.thread = tfs_self.active};

	if (TFS_UNLIKELY(frame.thread == NULL)) {
		frame.thread = tfs_recorder_thread();
		if (frame.thread == NULL)
			return frame;
	}
	frame.start_ticks = tfs_clock_ticks();
	tfs_self.active = NULL;
	frame.entry = tfs_callsite_slot(&frame.thread->cache, address, stack);
	if (TFS_UNLIKELY(!tfs_callsite_is(frame.entry, address, stack, function))) {
		if (!tfs_callsite_resolve(frame.thread, frame.entry, address, stack, function)) {
			frame.thread = NULL;
			return frame;
		}
		frame.start_ticks = tfs_clock_ticks();
	}
	frame.wanted = __atomic_load_n(&tfs_wanted, __ATOMIC_RELAXED);
	if (TFS_UNLIKELY((frame.entry->flags | (frame.wanted & TFS_WANT_DEVICE)) != 0)) {
		frame.wanted =
			tfs_hook_enter_slowly(frame.thread, frame.entry, function, address, stack);
		frame.start_ticks = tfs_clock_ticks();
	}
	return frame;
}
#define TFS_ENTER(name)                                                                            \
	tfs_hook_enter(&tfs_fn_##name, (uint64_t)__builtin_return_address(0),                      \
		(uint64_t)__builtin_dwarf_cfa())

/* A call without totals; false when it is not to be recorded at all. */
bool tfs_hook_count_loss(struct tfs_frame *frame);

/* Counts the call; true when its details are wanted. */
static inline __attribute__((always_inline)) bool tfs_hook_end(
	struct tfs_frame *frame, uint32_t status, uint64_t amount)
{
	if (TFS_UNLIKELY(frame->thread == NULL))
		return false;
	frame->end_ticks = tfs_clock_ticks();
	struct tfs_aggregate *total = frame->entry->aggregate;
	const uint64_t ticks = frame->end_ticks - frame->start_ticks;

	if (TFS_LIKELY(total != NULL)) {
		if (TFS_UNLIKELY(total->count == 0))
			total->first_ticks = frame->start_ticks;
		if (ticks > total->longest_ticks)
			total->longest_ticks = ticks;
		total->ticks += ticks;
		total->amount += amount;
		if (TFS_UNLIKELY(status != 0))
			total->failures++;
		total->latest_ticks = frame->start_ticks;
		__atomic_store_n(&total->count, total->count + 1, __ATOMIC_RELAXED);
	} else if (!tfs_hook_count_loss(frame)) {
		return false;
	}
	frame->status = status;
	frame->amount = amount;
	return TFS_UNLIKELY(frame->wanted != 0);
}
#define TFS_END(frame, status, amount) tfs_hook_end(frame, (uint32_t)(status), amount)

static inline __attribute__((always_inline)) void tfs_hook_leave(struct tfs_frame *frame)
{
	if (TFS_UNLIKELY(frame->thread == NULL))
		return;
	frame->thread->latest = frame->entry;
	tfs_self.active = frame->thread;
}
#define TFS_LEAVE(frame) tfs_hook_leave(frame)

/* Hands the details to whoever wants them: the recording, the step search. */
void tfs_hook_details(struct tfs_frame *frame, const struct tfs_details *details);

/* Records the call whatever the window: for calls that change what later records mean. */
void tfs_hook_details_always(struct tfs_frame *frame, const struct tfs_details *details);

static inline void tfs_details_init(struct tfs_details *details, uint16_t stream)
{
	details->count = 0;
	details->stream = stream;
}

static inline __attribute__((always_inline)) void tfs_hook_plain(
	struct tfs_frame *frame, uint32_t status)
{
	if (TFS_END(frame, status, 0)) {
		struct tfs_details details;

		tfs_details_init(&details, TFS_NO_STREAM);
		tfs_hook_details(frame, &details);
	}
	TFS_LEAVE(frame);
}

/* Building blocks of details. */
static inline void tfs_put(struct tfs_details *details, uint64_t value, uint64_t tagged)
{
	if (details->count < sizeof(details->items) / sizeof(details->items[0]))
		details->items[details->count++] = (struct tfs_item){value, tagged};
}

static inline void tfs_put_attribute(
	struct tfs_details *details, enum tfs_attribute key, uint64_t value)
{
	tfs_put(details, value, (uint64_t)key);
}

static inline void tfs_put_operand(
	struct tfs_details *details, const void *address, uint64_t bytes, uint32_t role)
{
	if (address != NULL)
		tfs_put(details, (uint64_t)(uintptr_t)address, TFS_ITEM(role, bytes));
}

#endif
