/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/search_held.h"

#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/cudnn_search/search_live.h"
#include "shim/rewrites/cudnn_search/search_workspace.h"
#include "shim/state/capture.h"

_Atomic uint32_t tfs_search_devices_made;

uint64_t tfs_search_device_holds(uint32_t number)
{
	struct tfs_search_device *device = tfs_search_device_at(number);

	if (!device)
		return 0;
	const CUstreamCaptureMode mode = tfs_search_relax();
	const uint64_t lent = tfs_workspace_lent(device);
	const uint64_t bytes = tfs_search_device_reserved(device);
	tfs_search_unrelax(mode);
	return (bytes > lent ? bytes - lent : 0) + tfs_search_handle_bytes(device);
}

bool tfs_search_device_drop(void)
{
	struct tfs_search_device *device = tfs_search_device();
	const uint64_t before = device ? tfs_search_device_holds((uint32_t)device->number) : 0;

	if (before == 0 || tfs_capturing() || !tfs_search_device_take(device))
		return false;
	tfs_search_device_wait(NULL, true);
	tfs_search_handle_end(device);
	tfs_live_drop(device);
	tfs_search_device_settle(device);
	tfs_search_device_leave(device);
	return tfs_search_device_holds((uint32_t)device->number) < before;
}

void tfs_search_device_drop_handle(void)
{
	struct tfs_search_device *device = tfs_search_device();

	if (!device || tfs_search_handle_bytes(device) == 0 || tfs_capturing() ||
		!tfs_search_device_take(device))
		return;
	tfs_search_handle_end(device);
	tfs_search_device_leave(device);
}

bool tfs_search_device_has_handle(void)
{
	const struct tfs_search_device *device =
		tfs_search_devices_any() ? tfs_search_device() : NULL;

	return device && tfs_search_handle_bytes(device) != 0;
}

bool tfs_search_device_drop_unused(void)
{
	struct tfs_search_device *device = tfs_search_devices_any() ? tfs_search_device() : NULL;

	return tfs_search_device_made(device) && tfs_live_settle(device);
}

void tfs_search_device_drop_short(uint64_t bytes)
{
	const struct tfs_search_device *device = tfs_search_device();

	if (device && tfs_search_device_holds((uint32_t)device->number) != 0 &&
		!tfs_search_device_spares(bytes))
		tfs_search_device_drop();
}

void tfs_search_devices_forget(void)
{
	atomic_store(&tfs_search_devices_made, 0);
}
