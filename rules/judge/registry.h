/* SPDX-License-Identifier: MIT */
#ifndef TFS_RULES_JUDGE_REGISTRY_H
#define TFS_RULES_JUDGE_REGISTRY_H

/*
 * The rules that are built in; the list itself is in rules/meson.build, and judge.h has the rest.
 */

#include <stdbool.h>

#include "rules/rule.h"

/* Whether a comma-separated list of ids, id prefixes and slugs names a rule. Any thread. */
bool tfs_rule_listed(const char *list, const struct tfs_rule *rule);

#endif
