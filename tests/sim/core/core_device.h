/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_DEVICE_H
#define TFS_TESTS_SIM_CORE_DEVICE_H

/*
 * What the simulated device says of itself: the same answers from the runtime's
 * cudaDeviceGetAttribute and cudaGetDeviceProperties, the driver's cuDeviceGetAttribute (both
 * number attributes alike) and CUPTI's device record.
 */

#include "tests/sim/core/core.h"

/* Begins with "tfsim ", by which a simulated device is known. Lives as long as the process. */
TFSIM_API const char *tfsim_device_name(void);

/* The value of an attribute, 0 for known ones that the device lacks; false for unknown ones. */
TFSIM_API bool tfsim_device_attribute(int attribute, int device, int *out_value);

/* Whether the device's primary context is there, and whether it is current where no other is. */
TFSIM_API bool tfsim_device_begun(int device);
TFSIM_API bool tfsim_device_active(int device);

#endif
