/* SPDX-License-Identifier: MIT */
/* TFS304, a trap: the factors are on the device, and may differ. */
#define VARIANT BAD
#define FACTORS ON_DEVICE
#include "tests/rules/304/rule_304_bad.c"
