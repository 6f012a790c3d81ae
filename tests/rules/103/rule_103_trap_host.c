/* SPDX-License-Identifier: MIT */
/* The host does something of its own for longer than the device needs for a step: it waits for the
 * host, and would if the copy came sooner. */
#define VARIANT BAD
#define HOST_NS 40000000
#include "tests/rules/103/rule_103_bad.c"
