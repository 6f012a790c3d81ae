/* SPDX-License-Identifier: MIT */
#include <string.h>
#include <strings.h>

#include "rules/catalogue/rules_list.h"
#include "rules/judge/judge.h"
#include "rules/judge/registry.h"

#define X(name) extern const struct tfs_rule tfs_rule_##name;
TFS_RULES(X)
#undef X

static const struct tfs_rule *const rules[] = {
#define X(name) &tfs_rule_##name,
	TFS_RULES(X)
#undef X
		NULL,
};

const struct tfs_rule *tfs_rule_at(size_t n)
{
	return n < sizeof(rules) / sizeof(*rules) ? rules[n] : NULL;
}

const struct tfs_rule *tfs_rule_find(const char *name)
{
	for (size_t i = 0; rules[i]; i++)
		if (!strcasecmp(name, rules[i]->id) || !strcasecmp(name, rules[i]->slug))
			return rules[i];
	return NULL;
}

/* A name matches an id, the beginning of one, or a slug. */
static bool name_matches(const char *name, size_t length, const struct tfs_rule *rule)
{
	if (length >= 3 && length <= strlen(rule->id) && !strncasecmp(name, rule->id, length))
		return true;
	return length == strlen(rule->slug) && !strncasecmp(name, rule->slug, length);
}

bool tfs_rule_listed(const char *list, const struct tfs_rule *rule)
{
	while (*list) {
		size_t length = strcspn(list, ",");

		if (name_matches(list, length, rule))
			return true;
		list += length + (list[length] == ',');
	}
	return false;
}

bool tfs_rule_list_valid(const char *list)
{
	while (*list) {
		size_t length = strcspn(list, ","), found = 0;

		for (size_t i = 0; rules[i]; i++)
			found += name_matches(list, length, rules[i]);
		if (!found)
			return false;
		list += length + (list[length] == ',');
	}
	return true;
}
