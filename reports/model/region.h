/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_MODEL_REGION_H
#define TFS_REPORTS_MODEL_REGION_H

/*
 * Only for the command line program: when there is no memory left, it says so and ends with
 * status 2.
 */

#include <stddef.h>

/* Room for one more in a growing array (malloc'd, doubled); returns the array, never NULL. */
void *tfs_grow(void *array, size_t count, size_t size);

#endif
