/* SPDX-License-Identifier: MIT */
/*
 * memoise: what a program asks about a device again and again, its properties and attributes, is
 * asked of the runtime once. cudaGetDeviceProperties alone may take a millisecond or two.
 * (Repeated searches of one convolution are remembered by cudnn-search.)
 *
 * Contract (exact: the same answers):
 * - Only what cannot change while the process runs. Clocks, the compute mode and the time limit on
 *   kernels can, and are asked for each time; so is free memory, which is no part of this.
 * - An answer is the device's and the attribute's own; errors are never remembered, and while an
 *   error waits for the program the runtime is asked, so that it can say so.
 * - The layout of the properties must be the one this was built with: another version of the
 *   runtime writes fewer bytes, and is left alone.
 * - After a reset of a device everything is asked anew.
 *
 * In shadow every answer is compared with the remembered one. Its own model of the gain per call:
 * the least time that the runtime took for the same kind of question, less what the answer took.
 */
#include <cuda_runtime_api.h>
#include <math.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/mutant.h"
#include "shim/resolve/lookup.h"
#include "shim/rewrites/query.h"
#include "shim/rewrites/rewrite.h"

#define DEVICES 16
#define ATTRIBUTES 256

/* Mutants: what the contract forbids. */
#define NAIVE_ANY_DEVICE (1u << 13) /* one answer for all devices */
#define NAIVE_NO_ERRORS (1u << 14)  /* answers whatever has happened */
#define NAIVE_WRONG (1u << 15)      /* remembers something else */

enum check {
	CHECK_RUNTIME = TFS_CHECK_runtime_stays,
	CHECK_LAYOUT = TFS_CHECK_known_layout,
	CHECK_KNOWN = TFS_CHECK_known_number,
	CHECK_CONSTANT = TFS_CHECK_constant,
	CHECK_ERROR = TFS_CHECK_no_error_waiting,
};

extern const struct tfs_rewrite tfs_rewrite_memoise;
#define SELF (&tfs_rewrite_memoise)

enum { EMPTY, FILLING, KNOWN };

static struct {
	_Atomic int state;
	struct cudaDeviceProp value;
} properties[DEVICES];

static struct {
	_Atomic int state;
	int value;
} attributes[DEVICES][ATTRIBUTES];

static _Atomic uint64_t least_ns[2]; /* by enum tfs_query; 0 = not known */

static struct {
	__typeof__(&cudaRuntimeGetVersion) version;
	__typeof__(&cudaPeekAtLastError) peek_error;
	cudaError_t (*properties)(struct cudaDeviceProp *, int);
	__typeof__(&cudaDeviceGetAttribute) attribute;
} runtime;

#define LOOK_UP(field, name)                                                                       \
	(runtime.field = (__typeof__(runtime.field))tfs_lookup_named(TFS_LIBRARY_cudart, name))

/* Which runtime there is shows with the first question: 1 = another version, 2 = ours. */
static int layout(void)
{
	static _Atomic int known;
	int state = atomic_load_explicit(&known, memory_order_acquire);
	int version = 0;

	if (state == 0) {
		state = LOOK_UP(version, "cudaRuntimeGetVersion") &&
					LOOK_UP(peek_error, "cudaPeekAtLastError") &&
					LOOK_UP(properties, "cudaGetDeviceProperties") &&
					LOOK_UP(attribute, "cudaDeviceGetAttribute") &&
					runtime.version(&version) == cudaSuccess &&
					version / 1000 == CUDART_VERSION / 1000
				? 2
				: 1;
		atomic_store_explicit(&known, state, memory_order_release);
	}
	return state;
}

static bool is_constant(const struct tfs_query_call *call)
{
	return call->what != TFS_QUERY_ATTRIBUTE ||
	       (call->attribute != cudaDevAttrClockRate &&
		       call->attribute != cudaDevAttrMemoryClockRate &&
		       call->attribute != cudaDevAttrComputeMode &&
		       call->attribute != cudaDevAttrKernelExecTimeout);
}

static int device_of(const struct tfs_query_call *call)
{
	return TFS_MUTANT(NAIVE_ANY_DEVICE) ? 0 : call->device;
}

static bool all_hold(const struct tfs_query_call *call)
{
	const uint32_t site = call->site;

	return tfs_rewrite_check(
		       SELF, CHECK_RUNTIME, tfs_lookup_steady(TFS_LIBRARY_cudart), site) &&
	       tfs_rewrite_check(SELF, CHECK_LAYOUT, layout() == 2, site) &&
	       tfs_rewrite_check(SELF, CHECK_KNOWN,
		       call->answer != NULL && call->device >= 0 && call->device < DEVICES &&
			       call->attribute >= 0 && call->attribute < ATTRIBUTES,
		       site) &&
	       tfs_rewrite_check(SELF, CHECK_CONSTANT, is_constant(call), site) &&
	       tfs_rewrite_check(SELF, CHECK_ERROR,
		       TFS_MUTANT(NAIVE_NO_ERRORS) || runtime.peek_error() == cudaSuccess, site);
}

static _Atomic int *state_of(const struct tfs_query_call *call)
{
	return call->what == TFS_QUERY_PROPERTIES
		       ? &properties[device_of(call)].state
		       : &attributes[device_of(call)][call->attribute].state;
}

static bool query(struct tfs_query_call *call)
{
	call->start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	if (!all_hold(call)) {
		call->start_ns = 0;
		return false;
	}
	if (atomic_load_explicit(state_of(call), memory_order_acquire) != KNOWN ||
		!tfs_rewrite_apply(SELF, 0))
		return false;
	if (call->what == TFS_QUERY_PROPERTIES)
		memcpy(call->answer, &properties[device_of(call)].value,
			sizeof(struct cudaDeviceProp));
	else
		*(int *)call->answer = attributes[device_of(call)][call->attribute].value;
	tfs_rewrite_predict_call(
		SELF, (double)atomic_load(&least_ns[call->what]) -
			      (double)(tfs_clock_ns(CLOCK_MONOTONIC) - call->start_ns));
	return true;
}

static bool ask(const struct tfs_query_call *call, void *out)
{
	return call->what == TFS_QUERY_PROPERTIES
		       ? runtime.properties(out, call->device) == cudaSuccess
		       : runtime.attribute(out, (enum cudaDeviceAttr)call->attribute,
				 call->device) == cudaSuccess;
}

static void note_time(enum tfs_query what, uint64_t ns)
{
	uint64_t least = atomic_load(&least_ns[what]);

	while ((least == 0 || ns < least) &&
		!atomic_compare_exchange_weak(&least_ns[what], &least, ns))
		continue;
}

/* Asks once more: the first time may have started the driver; and into clean memory: what lies
 * between the fields of the program's own is not to be handed out. */
static void remember(const struct tfs_query_call *call)
{
	_Atomic int *state = state_of(call);
	int *attribute = &attributes[device_of(call)][call->attribute].value;
	struct cudaDeviceProp *all = &properties[device_of(call)].value;
	int empty = EMPTY;

	if (!atomic_compare_exchange_strong(state, &empty, FILLING))
		return;
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const bool good =
		ask(call, call->what == TFS_QUERY_PROPERTIES ? (void *)all : (void *)attribute);
	note_time(call->what, tfs_clock_ns(CLOCK_MONOTONIC) - start_ns);
	if (TFS_MUTANT(NAIVE_WRONG) && call->what == TFS_QUERY_PROPERTIES)
		all->warpSize++;
	else if (TFS_MUTANT(NAIVE_WRONG))
		++*attribute;
	atomic_store_explicit(state, good ? KNOWN : EMPTY, memory_order_release);
}

static void compare(const struct tfs_query_call *call)
{
	struct cudaDeviceProp fresh = {0};
	const bool all = call->what == TFS_QUERY_PROPERTIES;
	bool same;

	tfs_rewrite_shadow(SELF, 0);
	if (all)
		same = !ask(call, &fresh) ||
		       memcmp(&fresh, &properties[device_of(call)].value, sizeof(fresh)) == 0;
	else
		same = *(const int *)call->answer ==
		       attributes[device_of(call)][call->attribute].value;
	if (same)
		return;
	const struct tfs_reason evidence =
		all ? (struct tfs_reason){.code = TFS_REASON_properties_changed,
			      .numbers = {(uint64_t)call->device}}
		    : (struct tfs_reason){.code = TFS_REASON_attribute_changed,
			      .numbers = {(uint64_t)call->attribute, (uint64_t)call->device}};
	tfs_rewrite_differs(SELF, call->site, &evidence);
}

static void answered(const struct tfs_query_call *call)
{
	if (call->start_ns == 0)
		return;
	if (atomic_load_explicit(state_of(call), memory_order_acquire) != KNOWN)
		remember(call);
	else if (tfs_rewrite_mode(SELF) == TFS_MODE_SHADOW)
		compare(call);
}

static void reset(uint32_t device)
{
	if (device >= DEVICES)
		return;
	atomic_store(&properties[device].state, EMPTY);
	for (int i = 0; i < ATTRIBUTES; i++)
		atomic_store(&attributes[device][i].state, EMPTY);
}

const struct tfs_rewrite tfs_rewrite_memoise = {
	.name = "memoise",
	.rank = TFS_CLASS_EXACT,
	.rules = "TFS608",
	.switchable = true,
	.compares = true,
	.query = query,
	.answered = answered,
	.reset = reset,
};
