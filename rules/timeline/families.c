/* SPDX-License-Identifier: MIT */
#include "rules/timeline/families.h"

#include "rules/rule.h"

uint32_t tfs_family_about(enum tfs_family family)
{
	switch (family) {
	case TFS_FAMILY_copy:
	case TFS_FAMILY_copy_async:
		return TFS_ABOUT_COPIES;
	case TFS_FAMILY_set:
	case TFS_FAMILY_set_async:
		return TFS_ABOUT_SETS;
	case TFS_FAMILY_launch:
		return TFS_ABOUT_LAUNCHES;
	case TFS_FAMILY_device_sync:
	case TFS_FAMILY_stream_sync:
	case TFS_FAMILY_event_sync:
		return TFS_ABOUT_WAITS;
	case TFS_FAMILY_alloc:
	case TFS_FAMILY_free:
	case TFS_FAMILY_host_alloc:
	case TFS_FAMILY_host_free:
	case TFS_FAMILY_host_register:
	case TFS_FAMILY_host_unregister:
		return TFS_ABOUT_MEMORY;
	default:
		return 0;
	}
}
