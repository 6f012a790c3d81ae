/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_KINDS_H
#define TFS_CUPTI_KINDS_H

/*
 * What is switched on in a window. CUPTI records all API calls, as an external id shows up only at
 * a call that is recorded; of these records those of some calls are kept.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cupti/library.h"

/* Switches everything on or off; false when the device's work cannot be seen. Any thread, one at a
 * time. */
bool tfs_cupti_switch(const struct tfs_cupti *cupti, bool on);

/* Names the functions whose records are kept, by the names that hooks have. */
void tfs_cupti_watched(void (*visit)(uint32_t cbid, bool driver, const char *name));

/* Is it one of these? None is before the first switch. Any thread. */
bool tfs_cupti_is_watched(uint32_t cbid, bool driver);

#endif
