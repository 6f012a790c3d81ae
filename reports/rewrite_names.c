/* SPDX-License-Identifier: MIT */
#include "reports/rewrite_names.h"

#include <stdio.h>
#include <string.h>

#define X(name) #name,
static const char *const rewrites[] = {
#include "reports/rewrites.inc"
	NULL,
};
#undef X
static const char *const modes[] = {"off", "report", "exact", "safe", "all"};

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

bool tfs_rewrite_names_valid(const char *text, char *out_unknown, size_t bytes)
{
	for (size_t i = 0; i < sizeof(modes) / sizeof(modes[0]); i++) {
		if (!strcmp(text, modes[i]))
			return true;
	}
	do {
		size_t length = strcspn(text, ",");
		if (!is_known(text, length)) {
			snprintf(out_unknown, bytes, "%.*s", (int)length, text);
			return false;
		}
		text += length;
	} while (*text++ == ',');
	return true;
}

const char *tfs_rewrite_names_text(void)
{
	static char text[256];
	size_t used = 0;
	for (size_t i = 0; rewrites[i]; i++) {
		const char *name = rewrites[i];
		if (i)
			text[used++] = ',';
		for (; *name && used + 2 < sizeof(text); name++)
			text[used++] = *name == '_' ? '-' : *name;
	}
	text[used] = '\0';
	return text;
}
