/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/memory/holding.h"

#include "shim/record/recorder.h"
#include "shim/rewrites/memory/room.h"

_Atomic uint32_t tfs_search_devices_made;

void tfs_held_begin(void)
{
	__atomic_fetch_or(&tfs_wanted, TFS_WANT_HELD, __ATOMIC_SEQ_CST);
}

/* Whoever began meanwhile is not to be forgotten. */
void tfs_held_end(void)
{
	if (tfs_held_any())
		return;
	__atomic_fetch_and(&tfs_wanted, ~TFS_WANT_HELD, __ATOMIC_SEQ_CST);
	if (tfs_held_any())
		tfs_held_begin();
}

void tfs_held_forget(void)
{
	tfs_blocks_forget();
	tfs_reserves_forget();
	tfs_room_forget();
	atomic_store(&tfs_search_devices_made, 0);
}
