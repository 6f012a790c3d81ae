/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/search_workspace.h"

#include "shim/env.h"
#include "shim/spin.h"

#define MOST_WORKSPACES 64u

struct workspace {
	const struct tfs_search_device *device; /* NULL: the place is free */
	uint16_t stream;
	bool growing; /* a thread allocates for it */
	void *memory;
	uint64_t bytes;
	uint64_t held; /* outgrown ones counted in */
};

static struct workspace workspaces[MOST_WORKSPACES];
static uint64_t total;
static struct tfs_spin lock;

static struct workspace *find(const struct tfs_search_device *device, uint16_t stream)
{
	struct workspace *free = NULL;

	for (uint32_t i = 0; i < MOST_WORKSPACES; i++) {
		if (workspaces[i].device == device && workspaces[i].stream == stream)
			return &workspaces[i];
		if (workspaces[i].device == NULL && free == NULL)
			free = &workspaces[i];
	}
	return free;
}

/* The buffer that is there; else NULL, and *out_growing is the place to allocate for, if any. */
static void *find_or_claim(const struct tfs_search_device *device, uint16_t stream, uint64_t bytes,
	struct workspace **out_growing)
{
	void *memory = NULL;

	*out_growing = NULL;
	tfs_spin_lock(&lock);
	struct workspace *one = find(device, stream);
	if (one != NULL && one->device == device && one->bytes >= bytes) {
		memory = one->memory;
	} else if (one != NULL && !one->growing && bytes <= tfs_options.search_workspace_bytes &&
		   total <= tfs_options.search_workspace_bytes - bytes) {
		one->device = device;
		one->stream = stream;
		one->growing = true;
		total += bytes;
		*out_growing = one;
	}
	tfs_spin_unlock(&lock);
	return memory;
}

void *tfs_search_workspace(
	struct tfs_search_device *device, CUstream handle, uint16_t stream, uint64_t bytes)
{
	struct workspace *growing;
	void *memory = find_or_claim(device, stream, bytes, &growing);

	if (growing == NULL)
		return memory;
	memory = tfs_search_allocate(device, bytes, handle);
	tfs_spin_lock(&lock);
	growing->growing = false;
	if (memory != NULL) {
		growing->memory = memory;
		growing->bytes = bytes;
		growing->held += bytes;
	} else {
		total -= bytes;
	}
	tfs_spin_unlock(&lock);
	return memory;
}

void tfs_search_workspace_forget(uint32_t device)
{
	tfs_spin_lock(&lock);
	for (uint32_t i = 0; i < MOST_WORKSPACES; i++) {
		if (workspaces[i].device == NULL || workspaces[i].growing ||
			workspaces[i].device->number != (int)device)
			continue;
		total -= workspaces[i].held;
		workspaces[i] = (struct workspace){0};
	}
	tfs_spin_unlock(&lock);
}
