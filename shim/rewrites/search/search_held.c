/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/search/search_held.h"

#include <stdatomic.h>
#include <stddef.h>

#include "shim/rewrites/memory/holding.h"
#include "shim/state/capture.h"

static _Atomic(const struct tfs_search_holder *) known;

void tfs_search_hold(const struct tfs_search_holder *holder)
{
	atomic_store(&known, holder);
}

static uint64_t handle_bytes(const struct tfs_search_device *device)
{
	const struct tfs_search_holder *holder = atomic_load(&known);

	return holder ? holder->handle_bytes(device) : 0;
}

static void end_handle(struct tfs_search_device *device)
{
	const struct tfs_search_holder *holder = atomic_load(&known);

	if (holder)
		holder->handle_end(device);
}

uint64_t tfs_search_device_holds(uint32_t number)
{
	const struct tfs_search_holder *holder = atomic_load(&known);
	struct tfs_search_device *device = tfs_search_device_at(number);

	if (!device)
		return 0;
	const CUstreamCaptureMode mode = tfs_search_relax();
	const uint64_t lent = holder ? holder->lent(device) : 0;
	const uint64_t bytes = tfs_search_device_reserved(device);
	tfs_search_unrelax(mode);
	return (bytes > lent ? bytes - lent : 0) + handle_bytes(device);
}

bool tfs_search_device_drop(void)
{
	const struct tfs_search_holder *holder = atomic_load(&known);
	struct tfs_search_device *device = tfs_search_device();
	const uint64_t before = device ? tfs_search_device_holds((uint32_t)device->number) : 0;

	if (before == 0 || tfs_capturing() || !tfs_search_device_take(device))
		return false;
	tfs_search_device_wait(NULL, true);
	end_handle(device);
	if (holder)
		holder->drop(device);
	tfs_search_device_settle(device);
	tfs_search_device_leave(device);
	return tfs_search_device_holds((uint32_t)device->number) < before;
}

void tfs_search_device_drop_handle(void)
{
	struct tfs_search_device *device = tfs_search_device();

	if (!device || handle_bytes(device) == 0 || tfs_capturing() ||
		!tfs_search_device_take(device))
		return;
	end_handle(device);
	tfs_search_device_leave(device);
}

bool tfs_search_device_has_handle(void)
{
	const struct tfs_search_device *device =
		tfs_search_devices_any() ? tfs_search_device() : NULL;

	return device && handle_bytes(device) != 0;
}

bool tfs_search_device_drop_unused(void)
{
	const struct tfs_search_holder *holder = atomic_load(&known);
	struct tfs_search_device *device =
		holder && tfs_search_devices_any() ? tfs_search_device() : NULL;

	return tfs_search_device_made(device) && holder->settle(device);
}

void tfs_search_device_drop_short(uint64_t bytes)
{
	const struct tfs_search_device *device = tfs_search_device();

	if (device && tfs_search_device_holds((uint32_t)device->number) != 0 &&
		!tfs_search_device_spares(bytes))
		tfs_search_device_drop();
}
