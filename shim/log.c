/* SPDX-License-Identifier: MIT */
#include "shim/log.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum tfs_log_level tfs_log_limit = TFS_LOG_NONE;

static void put(const char *prefix, const char *format, va_list arguments)
{
	const int saved = errno;
	char line[400];
	int used = snprintf(line, sizeof(line), "%s", prefix);
	const int more = vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, arguments);

	used += more > 0 ? more : 0;
	if (used > (int)sizeof(line) - 2)
		used = (int)sizeof(line) - 2;
	line[used] = '\n';
	/* One write keeps lines of several ranks apart; nobody can be told when it fails. */
	if (write(STDERR_FILENO, line, (size_t)used + 1) < 0)
		used = 0;
	errno = saved;
}

void tfs_log_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	put("tfshim: ", format, arguments);
	va_end(arguments);
}

void tfs_log_write(enum tfs_log_level level, const char *file, int line, const char *format, ...)
{
	static const char *const names[] = {"", "error", "warn", "info", "debug"};
	const char *base = strrchr(file, '/');
	char prefix[96];
	va_list arguments;

	snprintf(prefix, sizeof(prefix), "tfshim: %s %s:%d: ", names[level], base ? base + 1 : file,
		line);
	va_start(arguments, format);
	put(prefix, format, arguments);
	va_end(arguments);
}
