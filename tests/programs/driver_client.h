/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_DRIVER_CLIENT_H
#define TFS_TESTS_PROGRAMS_DRIVER_CLIENT_H

/* Every function of the driver's at every version of it that cudaTypedefs.h knows; made by
 * driver_names.py. */

#include <stddef.h>

struct driver_name {
	const char *name;
	int version;
};

extern const struct driver_name driver_names[];
extern const size_t driver_names_count;

#endif
