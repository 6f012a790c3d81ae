/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/common/held.h"

#include <string.h>

#include "shim/base/clock.h"
#include "shim/base/mutant.h"
#include "shim/record/hook.h"
#include "shim/rewrites/memory/blocks.h"
#include "shim/rewrites/memory/contexts.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/memory/reserves.h"
#include "shim/rewrites/memory/room.h"
#include "shim/rewrites/search/search_held.h"
#include "shim/state/capture.h"
#include "shim/state/memory.h"

#define LOOK_NS UINT64_C(100000000)

/* Mutants: what the contracts forbid. */
#define NAIVE_ALONE (UINT64_C(1) << 46) /* no other process is looked for */

#define OUT_OF_MEMORY 2u /* cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY */

bool tfs_held_gates(void)
{
	static const uint64_t families =
		UINT64_C(1) << TFS_FAMILY_host_func | UINT64_C(1) << TFS_FAMILY_graph_launch;

	return (tfs_hook_families() & families) != 0 || tfs_memory_signals();
}

/* Giving back waits for the device, as the call to come may not: would that end? The device may be
 * waiting for what this thread is about to do. */
static bool may_wait(void)
{
	return !tfs_held_gates() || tfs_context_idle();
}

/* Does any memory of the device go back only after such a wait? */
static bool waits(uint32_t device)
{
	return tfs_blocks_bytes(device) != 0 ||
	       (tfs_search_devices_any() && tfs_search_device_holds(device) != 0);
}

static bool contains(const char *name, const char *const *parts)
{
	while (*parts && !strstr(name, *parts))
		parts++;
	return *parts != NULL;
}

/* Does the function allocate device memory for itself, or for the program where no second try is
 * made? */
static bool takes_memory(const struct tfs_function *function)
{
	static const char *const graphs[] = {"Upload", NULL};
	static const char *const code[] = {"Load", NULL};
	static const char *const pieces[] = {"Array", "cuMemMap", NULL};
	const bool cuda =
		function->library == TFS_LIBRARY_cudart || function->library == TFS_LIBRARY_cuda;

	switch (function->family) {
	case TFS_FAMILY_handle_create:
	case TFS_FAMILY_graph_instantiate:
		return true;
	case TFS_FAMILY_graph_other:
		return contains(function->name, graphs);
	case TFS_FAMILY_module:
		return contains(function->name, code);
	case TFS_FAMILY_alloc:
		return !cuda ||
		       (function->library == TFS_LIBRARY_cuda && contains(function->name, pieces));
	case TFS_FAMILY_other:
		return contains(function->name, (const char *const[]){"SetLimit", NULL});
	default:
		return false;
	}
}

static void give_all_back(void)
{
	const bool driver = !tfs_memory_functions(false);

	tfs_blocks_flush(driver, TFS_ALL_DEVICES);
	tfs_reserves_give_back(driver, TFS_ALL_DEVICES);
	if (tfs_search_devices_any())
		tfs_search_device_drop_short(0);
}

/* Is there anything to give back on the current device, which then has a context? */
static bool holds_here(const struct tfs_memory_functions *use, uint32_t *out_device)
{
	int device;

	if (use->device(&device) != 0 || device < 0) {
		use->forget_error();
		return false;
	}
	*out_device = (uint32_t)device;
	return tfs_reserves_of(*out_device) || waits(*out_device);
}

/* Other processes take memory as well, and none of them can ask us: every so often, where the
 * program waits anyway, we look. */
static void look(void)
{
	static _Atomic uint64_t looked_ns;
	const uint64_t now_ns = tfs_clock_ns(CLOCK_MONOTONIC);
	const bool driver = !tfs_memory_functions(false);
	const struct tfs_memory_functions *use = tfs_memory_functions(driver);
	uint64_t earlier_ns = atomic_load_explicit(&looked_ns, memory_order_relaxed);
	uint32_t device;

	if (now_ns - earlier_ns < LOOK_NS ||
		!atomic_compare_exchange_strong(&looked_ns, &earlier_ns, now_ns) || !use ||
		TFS_MUTANT(NAIVE_ALONE) || tfs_capturing() || use->error_waits() != 0)
		return;
	tfs_search_device_drop_unused();
	if (!holds_here(use, &device) || !may_wait())
		return;
	tfs_blocks_flush_old(driver, device);
	if (tfs_room_left(use, device, 0, true))
		return;
	tfs_blocks_flush(driver, device);
	tfs_reserves_give_back(driver, device);
	if (tfs_search_devices_any())
		tfs_search_device_drop_short(0);
}

void tfs_held_before(const struct tfs_function *function)
{
	if (!tfs_held_any())
		return;
	switch (function->family) {
	case TFS_FAMILY_device_sync:
		tfs_blocks_flush_old(!tfs_memory_functions(false), TFS_ALL_DEVICES);
		look();
		break;
	case TFS_FAMILY_copy:
	case TFS_FAMILY_event_sync:
	case TFS_FAMILY_stream_sync:
		look();
		break;
	case TFS_FAMILY_host_func:
	case TFS_FAMILY_graph_launch:
		/* From here on the device may wait for the program. */
		if (tfs_search_device_has_handle() && may_wait())
			tfs_search_device_drop_handle();
		break;
	default:
		if (!takes_memory(function))
			break;
		tfs_search_device_drop_unused();
		if (may_wait())
			give_all_back();
	}
}

void tfs_held_before_alloc(bool driver, uint32_t device, uint64_t bytes, bool ordered)
{
	const struct tfs_memory_functions *use =
		tfs_held_any() ? tfs_memory_functions(driver) : NULL;

	if (!use)
		return;
	const bool error = use->error_waits() != 0;
	if (error || !tfs_room_left(use, device, bytes, false)) {
		tfs_search_device_drop_unused();
		if (error || !ordered)
			tfs_reserves_give_back(driver, device);
		const bool over = waits(device) && may_wait();
		if (error || over)
			tfs_blocks_flush(driver, device);
		if (over && tfs_search_devices_any())
			tfs_search_device_drop_short(bytes);
	}
	tfs_room_taken(device, bytes);
}

bool tfs_held_make_room(bool driver, uint32_t status, uint32_t device)
{
	if (status != OUT_OF_MEMORY || !tfs_held_any())
		return false;
	const struct tfs_memory_functions *use = tfs_memory_functions(driver);

	if (tfs_blocks_bytes(device) != 0) {
		if (use)
			use->forget_error();
		return tfs_blocks_flush(driver, device);
	}
	if (tfs_reserves_make_room(driver, status, device))
		return true;
	if (!tfs_search_device_drop_unused() &&
		(!waits(device) || !may_wait() || !tfs_search_device_drop()))
		return false;
	if (use)
		use->forget_error();
	return true;
}

uint64_t tfs_held_bytes(bool driver, uint32_t device)
{
	tfs_reserves_give_back(driver, device);
	if (!tfs_search_devices_any())
		return tfs_blocks_bytes(device);
	tfs_search_device_drop_unused();
	if (tfs_search_device_has_handle() && may_wait())
		tfs_search_device_drop_handle();
	return tfs_blocks_bytes(device) + tfs_search_device_holds(device);
}
