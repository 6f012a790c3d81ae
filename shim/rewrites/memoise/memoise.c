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
#include "shim/resolve/direct.h"
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

static const uint8_t needed[] = {TFS_DIRECT_cudaRuntimeGetVersion, TFS_DIRECT_cudaPeekAtLastError,
	TFS_DIRECT_cudaGetDeviceProperties, TFS_DIRECT_cudaDeviceGetAttribute};

/* Which runtime there is shows with the first question: 1 = another version, 2 = ours. */
static int layout(void)
{
	static _Atomic int there, known;
	int state = atomic_load_explicit(&known, memory_order_acquire);
	int version = 0;

	if (state == 0) {
		state = TFS_DIRECT_THERE(needed, &there) &&
					TFS_DIRECT(cudaRuntimeGetVersion)(&version) ==
						cudaSuccess &&
					version / 1000 == CUDART_VERSION / 1000
				? 2
				: 1;
		atomic_store_explicit(&known, state, memory_order_release);
	}
	return state;
}

static bool is_constant(const struct tfs_op *op)
{
	return op->query.what != TFS_QUERY_ATTRIBUTE ||
	       (op->query.attribute != cudaDevAttrClockRate &&
		       op->query.attribute != cudaDevAttrMemoryClockRate &&
		       op->query.attribute != cudaDevAttrComputeMode &&
		       op->query.attribute != cudaDevAttrKernelExecTimeout);
}

static int device_of(const struct tfs_op *op)
{
	return TFS_MUTANT(NAIVE_ANY_DEVICE) ? 0 : op->query.device;
}

static bool all_hold(const struct tfs_op *op)
{
	const uint32_t site = op->site;

	return tfs_rewrite_check(
		       SELF, CHECK_RUNTIME, tfs_lookup_steady(TFS_LIBRARY_cudart), site) &&
	       tfs_rewrite_check(SELF, CHECK_LAYOUT, layout() == 2, site) &&
	       tfs_rewrite_check(SELF, CHECK_KNOWN,
		       op->query.answer && op->query.device >= 0 && op->query.device < DEVICES &&
			       op->query.attribute >= 0 && op->query.attribute < ATTRIBUTES,
		       site) &&
	       tfs_rewrite_check(SELF, CHECK_CONSTANT, is_constant(op), site) &&
	       tfs_rewrite_check(SELF, CHECK_ERROR,
		       TFS_MUTANT(NAIVE_NO_ERRORS) ||
			       TFS_DIRECT(cudaPeekAtLastError)() == cudaSuccess,
		       site);
}

static _Atomic int *state_of(const struct tfs_op *op)
{
	return op->query.what == TFS_QUERY_PROPERTIES
		       ? &properties[device_of(op)].state
		       : &attributes[device_of(op)][op->query.attribute].state;
}

static enum tfs_answer before(struct tfs_op *op)
{
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);

	if (!all_hold(op))
		return TFS_LEAVES;
	if (atomic_load_explicit(state_of(op), memory_order_acquire) != KNOWN ||
		!tfs_rewrite_apply(SELF, 0))
		return TFS_MINDS;
	if (op->query.what == TFS_QUERY_PROPERTIES)
		memcpy(op->query.answer, &properties[device_of(op)].value,
			sizeof(struct cudaDeviceProp));
	else
		*(int *)op->query.answer = attributes[device_of(op)][op->query.attribute].value;
	tfs_rewrite_predict_call(SELF, (double)atomic_load(&least_ns[op->query.what]) -
					       (double)(tfs_clock_ns(CLOCK_MONOTONIC) - start_ns));
	op->status = cudaSuccess;
	return TFS_DONE;
}

static bool ask(const struct tfs_op *op, void *out)
{
	return op->query.what == TFS_QUERY_PROPERTIES
		       ? TFS_DIRECT(cudaGetDeviceProperties)(out, op->query.device) == cudaSuccess
		       : TFS_DIRECT(cudaDeviceGetAttribute)(out,
				 (enum cudaDeviceAttr)op->query.attribute,
				 op->query.device) == cudaSuccess;
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
static void remember(const struct tfs_op *op)
{
	_Atomic int *state = state_of(op);
	int *attribute = &attributes[device_of(op)][op->query.attribute].value;
	struct cudaDeviceProp *all = &properties[device_of(op)].value;
	int empty = EMPTY;

	if (!atomic_compare_exchange_strong(state, &empty, FILLING))
		return;
	const uint64_t start_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const bool good =
		ask(op, op->query.what == TFS_QUERY_PROPERTIES ? (void *)all : (void *)attribute);
	note_time(op->query.what, tfs_clock_ns(CLOCK_MONOTONIC) - start_ns);
	if (TFS_MUTANT(NAIVE_WRONG) && op->query.what == TFS_QUERY_PROPERTIES)
		all->warpSize++;
	else if (TFS_MUTANT(NAIVE_WRONG))
		++*attribute;
	atomic_store_explicit(state, good ? KNOWN : EMPTY, memory_order_release);
}

static void compare(const struct tfs_op *op)
{
	struct cudaDeviceProp fresh = {0};
	const bool all = op->query.what == TFS_QUERY_PROPERTIES;
	bool same;

	tfs_rewrite_shadow(SELF, 0);
	if (all)
		same = !ask(op, &fresh) ||
		       memcmp(&fresh, &properties[device_of(op)].value, sizeof(fresh)) == 0;
	else
		same = *(const int *)op->query.answer ==
		       attributes[device_of(op)][op->query.attribute].value;
	if (same)
		return;
	const struct tfs_reason evidence =
		all ? (struct tfs_reason){.code = TFS_REASON_properties_changed,
			      .numbers = {(uint64_t)op->query.device}}
		    : (struct tfs_reason){.code = TFS_REASON_attribute_changed,
			      .numbers = {
				      (uint64_t)op->query.attribute, (uint64_t)op->query.device}};
	tfs_rewrite_differs(SELF, op->site, &evidence);
}

static bool after(struct tfs_op *op)
{
	if (op->status != cudaSuccess)
		return false;
	if (atomic_load_explicit(state_of(op), memory_order_acquire) != KNOWN)
		remember(op);
	else if (tfs_rewrite_mode(SELF) == TFS_MODE_SHADOW)
		compare(op);
	return false;
}

static void reset(const struct tfs_op *op)
{
	const uint32_t device = op->device;

	if (device >= DEVICES)
		return;
	atomic_store(&properties[device].state, EMPTY);
	for (int i = 0; i < ATTRIBUTES; i++)
		atomic_store(&attributes[device][i].state, EMPTY);
}

const struct tfs_rewrite tfs_rewrite_memoise = {
	.name = "memoise",
	.class = TFS_CLASS_EXACT,
	.rules = "TFS608",
	.switchable = true,
	.compares = true,
	.priority = 0,
	.acts = TFS_OP_BIT(TFS_OP_QUERY),
	.follows = TFS_OP_BIT(TFS_OP_RESET),
	.before = before,
	.after = after,
	.event = reset,
};
