/* SPDX-License-Identifier: MIT */
/* TFS304, a trap: products are added up, each to those before it. */
#define VARIANT BAD
#define SUM 1
#include "tests/rules/304/rule_304_bad.c"
