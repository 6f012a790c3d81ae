/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_KINDS_H
#define TFS_CUPTI_KINDS_H

/*
 * What is switched on in a window. API calls are recorded by name, where CUPTI can: recording all
 * of them is what costs most, and an external id shows up only at a call that is recorded.
 */

#include <stdbool.h>
#include <stdint.h>

#include "cupti/library.h"

/* Switches everything on or off; false when the device's work cannot be seen. Any thread, one at a
 * time. */
bool tfs_cupti_switch(const struct tfs_cupti *cupti, bool on);

/* Names the functions whose calls are recorded, once they were switched on: all of them, and no
 * others by the names that hooks have. */
void tfs_cupti_watched(void (*visit)(uint32_t cbid, bool driver, const char *name));

#endif
