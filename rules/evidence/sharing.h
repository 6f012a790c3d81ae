/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_EVIDENCE_SHARING_H
#define TFS_RULES_EVIDENCE_SHARING_H

/* Devices that are not the program's alone, as far as the driver says so. */

#include "rules/timeline/timeline.h"

enum tfs_sharing {
	TFS_SHARING_NONE,
	TFS_SHARING_MPS,  /* contexts on it are shared through the Multi-Process Service */
	TFS_SHARING_SLICE /* it is a slice of a device: an instance of MIG's */
};

/* How a device is shared. */
enum tfs_sharing tfs_sharing_of(
	const struct tfs_timeline *timeline, const struct tfs_device *device);

/* Whether some device that had work is. */
bool tfs_sharing_any(const struct tfs_timeline *timeline);

#endif
