/* SPDX-License-Identifier: MIT */
/* TFS907: a trainer without a bad habit, started by rule.sh on a device whose contexts are shared
 * through MPS. The clean twin has a device of its own; the trap has what MPS's clients have in
 * their environment, and no MPS. */
#include "tests/rules/707/rule_707_bad.c"
