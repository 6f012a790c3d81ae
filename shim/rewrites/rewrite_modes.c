/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/rewrite_modes.h"

#include <string.h>

static bool is(const char *word, size_t length, const char *name)
{
	return strlen(name) == length && strncmp(word, name, length) == 0;
}

static const struct {
	const char *name;
	enum tfs_rewrite_mode mode;
	enum tfs_rewrite_class most;
	bool by_name; /* also those that have to be named */
} sets[] = {
	{"off", TFS_MODE_OFF, TFS_CLASS_REDUCED, true},
	{"report", TFS_MODE_REPORT, TFS_CLASS_ROUNDING, true},
	{"exact", TFS_MODE_APPLY, TFS_CLASS_EXACT, false},
	{"safe", TFS_MODE_APPLY, TFS_CLASS_ROUNDING, false},
	{"all", TFS_MODE_APPLY, TFS_CLASS_ROUNDING, true},
};

static bool parse_mode(const char *text, size_t length, enum tfs_rewrite_mode *out_mode)
{
	static const char *const names[] = {"off", "report", "shadow", "apply"};

	for (int i = 0; i < 4; i++) {
		if (is(text, length, names[i])) {
			*out_mode = (enum tfs_rewrite_mode)i;
			return true;
		}
	}
	return false;
}

static bool set_all(const char *word, size_t length, const struct tfs_rewrite *const *rewrites,
	_Atomic enum tfs_rewrite_mode *modes)
{
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++) {
		if (!is(word, length, sets[i].name))
			continue;
		for (size_t k = 0; rewrites[k]; k++)
			modes[k] = rewrites[k]->class <= sets[i].most &&
						   (sets[i].by_name || !rewrites[k]->by_name)
					   ? sets[i].mode
					   : TFS_MODE_OFF;
		return true;
	}
	return false;
}

static bool set_word(const char *word, size_t length, const struct tfs_rewrite *const *rewrites,
	_Atomic enum tfs_rewrite_mode *modes)
{
	const char *equals = memchr(word, '=', length);
	const size_t name = equals ? (size_t)(equals - word) : length;
	enum tfs_rewrite_mode mode = TFS_MODE_APPLY;

	if (equals && !parse_mode(equals + 1, length - name - 1, &mode))
		return false;
	if (!equals && set_all(word, length, rewrites, modes))
		return true;
	for (size_t i = 0; rewrites[i]; i++) {
		if (!is(word, name, rewrites[i]->name))
			continue;
		modes[i] = mode;
		return true;
	}
	return false;
}

void tfs_rewrite_modes(const char *text, const struct tfs_rewrite *const *rewrites,
	_Atomic enum tfs_rewrite_mode *modes, void (*unknown)(const char *word, int length))
{
	while (*text != '\0') {
		const size_t length = strcspn(text, ",");

		if (length > 0 && !set_word(text, length, rewrites, modes))
			unknown(text, (int)length);
		text += length + (text[length] == ',');
	}
}
