/* SPDX-License-Identifier: MIT */
/* TFS605, a trap: what is added up with the bias goes around the normalisation as well. */
#define VARIANT BAD
#define KEPT 1
#include "tests/rules/605/rule_605_bad.c"
