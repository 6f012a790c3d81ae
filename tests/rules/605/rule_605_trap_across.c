/* SPDX-License-Identifier: MIT */
/* TFS605, a trap: what is added differs from column to column, of which there are as many as
 * channels; the mean of a channel does not take it away. */
#define VARIANT BAD
#define ACROSS 1
#include "tests/rules/605/rule_605_bad.c"
