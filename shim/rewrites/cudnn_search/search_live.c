/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/search_live.h"

#include <stdatomic.h>
#include <stdio.h>

#include "shim/base/env.h"
#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/cudnn_search/search_verify.h"
#include "shim/rewrites/memory/held_fills.h"
#include "shim/state/tensors.h"

enum { STATE_FREE, STATE_FILLING, STATE_WAITING, STATE_COMPARING, STATE_COMPARED };

struct live {
	_Atomic int state;
	struct tfs_search_device *device;
	CUstream stream; /* the program's */
	void *own;       /* a copy of what the program got */
	void *other;     /* what the other algorithm makes of it */
	void *workspace;
	uint64_t workspace_bytes;
	uint64_t bytes; /* of the output */
	int type;
	cudnnMathType_t math;
	int algorithm;       /* of the call as it is to be made */
	int other_algorithm; /* of the other run */
	bool asked_first;    /* the program's own is the call's */
	const struct tfs_known *known;
	uint32_t site;
	bool holds; /* once compared */
	struct tfs_reason evidence;
};

static struct live lives[TFS_SEARCH_DEVICES];
static _Atomic uint32_t pending;
static _Atomic uint64_t compared;

static bool read_output(const struct tfs_convolution_call *call, struct tfs_tensor *out)
{
	return call->family == TFS_FAMILY_conv_forward ? tfs_tensor_read(call->y_descriptor, out)
	       : call->family == TFS_FAMILY_conv_backward_data
		       ? tfs_tensor_read(call->x_descriptor, out)
		       : tfs_filter_read(call->w_descriptor, out);
}

static void give_back(struct live *live, CUstream stream)
{
	tfs_search_free(live->own, stream);
	tfs_search_free(live->other, stream);
	tfs_search_free(live->workspace, stream);
}

static void let_go(struct live *live, int state)
{
	/* Not after a reset. */
	atomic_compare_exchange_strong(&live->state, &state, STATE_FREE);
}

static bool get_memory(struct live *live)
{
	const uint64_t all = 2 * live->bytes + live->workspace_bytes;

	live->own = live->other = live->workspace = NULL;
	if (live->bytes == 0 || all > tfs_options.search_memory_bytes)
		return false;
	live->own = tfs_search_allocate(live->device, live->bytes, live->stream);
	live->other = tfs_search_allocate(live->device, live->bytes, live->stream);
	if (live->workspace_bytes > 0)
		live->workspace =
			tfs_search_allocate(live->device, live->workspace_bytes, live->stream);
	return live->own && live->other && (live->workspace || live->workspace_bytes == 0);
}

void tfs_live_begin(struct tfs_search_device *device, struct tfs_convolution_call *call,
	const struct tfs_known *known, int other, uint64_t workspace_bytes)
{
	struct live *live = &lives[device->number];
	struct tfs_tensor output;
	struct tfs_problem problem;
	int state = STATE_FREE;

	if (!tfs_search_device_made(device) || !read_output(call, &output) ||
		tfs_held_back(*tfs_search_output(call), output.bytes) ||
		!tfs_problem_read(call->family, call->x_descriptor, call->w_descriptor,
			call->convolution, call->y_descriptor, &problem) ||
		!atomic_compare_exchange_strong(&live->state, &state, STATE_FILLING))
		return;
	live->device = device;
	live->stream = (CUstream)tfs_cudnn_stream(call->handle);
	live->workspace_bytes = workspace_bytes;
	live->bytes = output.bytes;
	live->type = output.type;
	live->math = (cudnnMathType_t)problem.fields[TFS_PROBLEM_math];
	live->algorithm = call->algorithm;
	live->other_algorithm = other;
	live->asked_first = call->algorithm == call->asked_algorithm;
	live->known = known;
	live->site = call->site;
	/* The output as it is now: beta may ask for it, and strides may leave parts of it alone. */
	if (get_memory(live) &&
		tfs_search_copy(live->other, *tfs_search_output(call), live->bytes, live->stream)) {
		call->aside = live;
		return;
	}
	give_back(live, live->stream);
	let_go(live, STATE_FILLING);
}

/* The other algorithm, by the program's handle, and so on its stream. */
static bool run_other(struct live *live, const struct tfs_convolution_call *call)
{
	struct tfs_convolution_call other = *call;

	other.algorithm = live->other_algorithm;
	other.workspace = live->workspace;
	other.workspace_bytes = live->workspace_bytes;
	*tfs_search_output(&other) = live->other;
	return tfs_search_execute(&other) == CUDNN_STATUS_SUCCESS;
}

void tfs_live_end(struct tfs_convolution_call *call, bool succeeded)
{
	struct live *live = call->aside;
	bool enqueued = false;

	if (!live)
		return;
	if (succeeded && call->algorithm == live->algorithm &&
		tfs_search_device_take(live->device)) {
		enqueued = tfs_search_copy(live->own, *tfs_search_output(call), live->bytes,
				   live->stream) &&
			   run_other(live, call) && tfs_search_mark(live->device, live->stream);
		tfs_search_device_leave(live->device);
	}
	if (!enqueued) {
		give_back(live, live->stream);
		let_go(live, STATE_FILLING);
		return;
	}
	int state = STATE_FILLING;
	if (atomic_compare_exchange_strong(&live->state, &state, STATE_WAITING))
		atomic_fetch_add(&pending, 1);
}

/* The device's equipment is taken, and the stream has got there. */
static bool compare(const struct live *live, struct tfs_reason *out_evidence)
{
	const void *asked = live->asked_first ? live->own : live->other;
	const void *chosen = live->asked_first ? live->other : live->own;
	struct tfs_difference sum;

	if (!tfs_search_compare(live->device, asked, chosen, live->bytes, live->type, &sum))
		return true;
	atomic_fetch_add(&compared, 1);
	if (!tfs_difference_is_another(&sum, live->type, live->math))
		return true;
	*out_evidence = (struct tfs_reason){
		.code = TFS_REASON_algorithm_differs,
		.numbers = {(uint64_t)(live->asked_first ? live->other_algorithm : live->algorithm),
			(uint64_t)(live->asked_first ? live->algorithm : live->other_algorithm)},
		.values = {sum.most, sum.own_most},
	};
	return false;
}

bool tfs_live_settle(struct tfs_search_device *device)
{
	struct live *live = &lives[device->number];
	int state = STATE_WAITING;

	if (atomic_load_explicit(&pending, memory_order_relaxed) == 0 ||
		tfs_search_capturing(NULL) ||
		!atomic_compare_exchange_strong(&live->state, &state, STATE_COMPARING))
		return false;
	const bool taken = tfs_search_device_take(device);
	const bool reached = taken && tfs_search_reached(device);
	if (reached) {
		live->holds = compare(live, &live->evidence);
		give_back(live, device->stream);
		tfs_search_device_settle(device);
	}
	if (taken)
		tfs_search_device_leave(device);
	state = STATE_COMPARING;
	/* Else the device was reset meanwhile. */
	if (!atomic_compare_exchange_strong(
		    &live->state, &state, reached ? STATE_COMPARED : STATE_WAITING))
		atomic_fetch_sub(&pending, 1);
	return reached;
}

bool tfs_live_holds(
	const struct tfs_known **out_known, uint32_t *out_site, struct tfs_reason *out_evidence)
{
	struct tfs_search_device *device;
	int state = STATE_COMPARED;

	if (atomic_load_explicit(&pending, memory_order_relaxed) == 0 ||
		!(device = tfs_search_cudnn_device()))
		return true;
	struct live *live = &lives[device->number];
	tfs_live_settle(device);
	if (!atomic_compare_exchange_strong(&live->state, &state, STATE_FILLING))
		return true;
	const bool holds = live->holds;
	*out_known = live->known;
	*out_site = live->site;
	*out_evidence = live->evidence;
	atomic_fetch_sub(&pending, 1);
	let_go(live, STATE_FILLING);
	return holds;
}

void tfs_live_drop(struct tfs_search_device *device)
{
	struct live *live = &lives[device->number];
	int state = STATE_WAITING;

	if (!atomic_compare_exchange_strong(&live->state, &state, STATE_COMPARING))
		return;
	give_back(live, device->stream);
	atomic_fetch_sub(&pending, 1);
	let_go(live, STATE_COMPARING);
}

uint64_t tfs_live_count(void)
{
	return atomic_load(&compared);
}

void tfs_live_forget(uint32_t device)
{
	if (device >= TFS_SEARCH_DEVICES)
		return;
	const int state = atomic_exchange(&lives[device].state, STATE_FREE);
	if (state == STATE_WAITING || state == STATE_COMPARED)
		atomic_fetch_sub(&pending, 1);
}
