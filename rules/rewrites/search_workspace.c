/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/search_workspace.h"

#include "shim/spin.h"

#define CAPTURES 64u /* the latest; a call of an earlier one just gets another workspace */

static struct captured {
	const struct tfs_search_device *device;
	uint64_t capture;
	CUstream stream;
	void *memory;
	uint64_t bytes;
} captures[CAPTURES];
static uint32_t next;
static struct tfs_spin lock;

static void *find(const struct captured *wanted)
{
	void *memory = NULL;

	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < CAPTURES; i++)
		if (captures[i].device == wanted->device &&
			captures[i].capture == wanted->capture &&
			captures[i].stream == wanted->stream && captures[i].bytes >= wanted->bytes)
			memory = captures[i].memory;
	tfs_spin_unlock(&lock);
	return memory;
}

static void *of_capture(struct tfs_search_device *device, struct captured *wanted)
{
	wanted->memory = find(wanted);
	if (wanted->memory != NULL)
		return wanted->memory;
	wanted->memory = tfs_search_take(device, wanted->bytes);
	if (wanted->memory != NULL) {
		tfs_spin_lock(&lock);
		captures[next++ % CAPTURES] = *wanted;
		tfs_spin_unlock(&lock);
	}
	return wanted->memory;
}

void *tfs_workspace_get(
	struct tfs_search_device *device, CUstream stream, uint64_t capture, uint64_t bytes)
{
	struct captured wanted = {
		.device = device, .capture = capture, .stream = stream, .bytes = bytes};

	if (!tfs_search_device_made(device))
		return NULL;
	return capture == 0 ? tfs_search_borrow(device, bytes, stream)
			    : of_capture(device, &wanted);
}

void tfs_workspace_give_back(void *workspace, CUstream stream)
{
	const CUstreamCaptureMode mode = tfs_search_relax();

	tfs_search_free(workspace, stream);
	tfs_search_unrelax(mode);
}

void tfs_workspace_forget(uint32_t device)
{
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < CAPTURES; i++)
		if (captures[i].device != NULL && captures[i].device->number == (int)device)
			captures[i] = (struct captured){0};
	tfs_spin_unlock(&lock);
}
