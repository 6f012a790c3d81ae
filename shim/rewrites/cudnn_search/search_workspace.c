/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/cudnn_search/search_workspace.h"

#include <stdatomic.h>

#include "shim/base/heap.h"
#include "shim/base/mutant.h"
#include "shim/base/spin.h"

/* Mutants: what the contract forbids. */
#define NAIVE_LEAK (UINT64_C(1) << 47) /* what was lent to a graph never comes back */

/* Of one capture on one stream. */
struct captured {
	struct tfs_search_device *device;
	uint64_t capture;
	CUstream stream;
	void *memory;
	uint64_t bytes;
	_Atomic bool ended; /* no graph has it any more */
	struct captured *next;
};

static struct captured *captures;
static struct tfs_spin lock;

static void *find(const struct captured *wanted)
{
	void *memory = NULL;

	tfs_spin_lock(&lock);
	for (const struct captured *one = captures; one; one = one->next)
		if (one->device == wanted->device && one->capture == wanted->capture &&
			one->stream == wanted->stream && one->bytes >= wanted->bytes)
			memory = one->memory;
	tfs_spin_unlock(&lock);
	return memory;
}

/* Where no call of CUDA's may be made. */
static void ended(void *data)
{
	if (!TFS_MUTANT(NAIVE_LEAK))
		atomic_store(&((struct captured *)data)->ended, true);
}

/* One whose graphs are gone, no longer in the list. */
static struct captured *take_ended(const struct tfs_search_device *device)
{
	struct captured *found = NULL;

	tfs_spin_lock(&lock);
	for (struct captured **link = &captures; *link && !found;) {
		if ((*link)->device == device && atomic_load(&(*link)->ended)) {
			found = *link;
			*link = found->next;
		} else {
			link = &(*link)->next;
		}
	}
	tfs_spin_unlock(&lock);
	return found;
}

/* True: there was something. */
static bool sweep(struct tfs_search_device *device)
{
	struct captured *one = take_ended(device);
	const bool any = one != NULL;

	for (; one; one = take_ended(device)) {
		tfs_search_free(one->memory, device->stream);
		tfs_heap_free(one, sizeof(*one));
	}
	return any;
}

/* Lent only where its end will be told: a program may capture again and again. */
static bool lend(struct captured *one)
{
	one->memory = tfs_search_take(one->device, one->bytes);
	if (!one->memory)
		return false;
	if (tfs_search_tell_end(one->stream, ended, one))
		return true;
	tfs_search_free(one->memory, one->device->stream);
	return false;
}

static void *of_capture(struct tfs_search_device *device, const struct captured *wanted)
{
	void *memory = find(wanted);
	struct captured *one = memory ? NULL : tfs_heap_alloc(sizeof(*one));

	if (!one)
		return memory;
	*one = *wanted;
	const CUstreamCaptureMode mode = tfs_search_relax();
	sweep(device);
	const bool lent = lend(one);
	tfs_search_unrelax(mode);
	if (!lent) {
		tfs_heap_free(one, sizeof(*one));
		return NULL;
	}
	memory = one->memory;
	tfs_spin_lock(&lock);
	one->next = captures;
	captures = one;
	tfs_spin_unlock(&lock);
	return memory;
}

void *tfs_workspace_get(
	struct tfs_search_device *device, CUstream stream, uint64_t capture, uint64_t bytes)
{
	const struct captured wanted = {
		.device = device, .capture = capture, .stream = stream, .bytes = bytes};

	if (!tfs_search_device_made(device))
		return NULL;
	return capture == 0 ? tfs_search_borrow(device, bytes, stream)
			    : of_capture(device, &wanted);
}

uint64_t tfs_workspace_lent(struct tfs_search_device *device)
{
	uint64_t bytes = 0;

	/* Back at once, unless the device's own stream has a search's work before it. */
	if (sweep(device) && tfs_search_device_take(device)) {
		tfs_search_device_settle(device);
		tfs_search_device_leave(device);
	}
	tfs_spin_lock(&lock);
	for (const struct captured *one = captures; one; one = one->next)
		if (one->device == device)
			bytes += one->bytes;
	tfs_spin_unlock(&lock);
	return bytes;
}

void tfs_workspace_give_back(void *workspace, CUstream stream)
{
	const CUstreamCaptureMode mode = tfs_search_relax();

	tfs_search_free(workspace, stream);
	tfs_search_unrelax(mode);
}

/* The end of their graphs may still be told. */
void tfs_workspace_forget(uint32_t device)
{
	tfs_spin_lock(&lock);
	for (struct captured **link = &captures; *link;) {
		if ((*link)->device->number == (int)device)
			*link = (*link)->next;
		else
			link = &(*link)->next;
	}
	tfs_spin_unlock(&lock);
}
