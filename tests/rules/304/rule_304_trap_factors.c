/* SPDX-License-Identifier: MIT */
/* TFS304, a trap: each product has a factor of its own, and a call for all has one. */
#define VARIANT BAD
#define FACTORS ON_HOST
#include "tests/rules/304/rule_304_bad.c"
