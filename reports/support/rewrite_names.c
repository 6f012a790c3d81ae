/* SPDX-License-Identifier: MIT */
#include "reports/support/rewrite_names.h"

#include <stdio.h>
#include <string.h>

#include "shim/rewrites/rewrites_list.h"

static const char *const rewrites[] = {
#define X(name) #name,
	TFS_REWRITES(X)
#undef X
		NULL,
};
static const char *const sets[] = {"off", "report", "exact", "safe", "all", NULL};
static const char *const modes[] = {"off", "report", "shadow", "apply", NULL};

/* Files are called some_name, rewrites some-name. */
static bool is_called(const char *file, const char *name, size_t length)
{
	size_t i;
	for (i = 0; i < length && file[i]; i++) {
		if (name[i] != (file[i] == '_' ? '-' : file[i]))
			return false;
	}
	return i == length && !file[i];
}

static bool is_known(const char *name, size_t length)
{
	for (size_t i = 0; rewrites[i]; i++) {
		if (is_called(rewrites[i], name, length))
			return true;
	}
	return false;
}

static bool is_one_of(const char *const *names, const char *word, size_t length)
{
	for (; *names; names++) {
		if (strlen(*names) == length && !strncmp(*names, word, length))
			return true;
	}
	return false;
}

/* A set, NAME or NAME=MODE. */
static bool is_word(const char *word, size_t length)
{
	const char *equals = memchr(word, '=', length);
	size_t name = equals ? (size_t)(equals - word) : length;
	if (equals && !is_one_of(modes, equals + 1, length - name - 1))
		return false;
	return is_known(word, name) || (!equals && is_one_of(sets, word, length));
}

bool tfs_rewrite_names_valid(const char *text, char *out_unknown, size_t bytes)
{
	do {
		size_t length = strcspn(text, ",");
		if (!is_word(text, length)) {
			snprintf(out_unknown, bytes, "%.*s", (int)length, text);
			return false;
		}
		text += length;
	} while (*text++ == ',');
	return true;
}

bool tfs_rewrite_names_asks(const char *text, const char *name)
{
	bool asks = false;
	do {
		size_t length = strcspn(text, ",");
		size_t own = strlen(name);
		if (length >= own && !strncmp(text, name, own) &&
			(length == own || text[own] == '='))
			asks = length == own ||
			       (length == own + 6 && !strncmp(text + own, "=apply", 6));
		text += length;
	} while (*text++ == ',');
	return asks;
}

const char *tfs_rewrite_names_text(void)
{
	static char text[256];
	size_t used = 0;
	for (size_t i = 0; rewrites[i]; i++) {
		const char *name = rewrites[i];
		if (i && used + 3 < sizeof(text)) {
			text[used++] = ',';
			text[used++] = ' ';
		}
		for (; *name && used + 3 < sizeof(text); name++)
			text[used++] = *name == '_' ? '-' : *name;
	}
	text[used] = '\0';
	return text;
}
