/* SPDX-License-Identifier: MIT */
#include "reports/formats/colour.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const struct tfs_paint tfs_paint_plain = {"", "", "", "", "", "", ""};

static const struct tfs_paint coloured = {
	.bold = "\033[1m",
	.dim = "\033[2m",
	.error = "\033[1;31m",
	.warn = "\033[1;33m",
	.note = "\033[1;36m",
	.good = "\033[1;32m",
	.reset = "\033[0m",
};

bool tfs_colour_parse(const char *text, enum tfs_colour *out_colour)
{
	static const char *const names[] = {"auto", "always", "never"};
	for (unsigned i = 0; i < 3; i++) {
		if (!strcmp(text, names[i])) {
			*out_colour = (enum tfs_colour)i;
			return true;
		}
	}
	return false;
}

static bool is_set(const char *variable)
{
	const char *value = getenv(variable);
	return value && *value;
}

const struct tfs_paint *tfs_colour_choose(enum tfs_colour colour, FILE *out)
{
	if (colour == TFS_COLOUR_NEVER)
		return &tfs_paint_plain;
	if (colour == TFS_COLOUR_ALWAYS)
		return &coloured;
	if (is_set("NO_COLOR"))
		return &tfs_paint_plain;
	if (is_set("FORCE_COLOR") || is_set("CLICOLOR_FORCE"))
		return &coloured;
	const char *terminal = getenv("TERM");
	if (!isatty(out == stderr ? STDERR_FILENO : fileno(out)) || !terminal ||
		!strcmp(terminal, "dumb"))
		return &tfs_paint_plain;
	return &coloured;
}

const char *tfs_paint_level(const struct tfs_paint *paint, enum tfs_level level)
{
	if (level == TFS_LEVEL_ERROR)
		return paint->error;
	return level == TFS_LEVEL_WARN ? paint->warn : paint->note;
}
