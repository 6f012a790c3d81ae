/* SPDX-License-Identifier: MIT */
#include "shim/log.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum tfs_log_level tfs_log_limit = TFS_LOG_NONE;
bool tfs_log_nowhere;

void tfs_log_init(void)
{
	const int saved = errno;

	tfs_log_nowhere = fcntl(STDERR_FILENO, F_GETFD) < 0;
	errno = saved;
}

/* A pipe that nobody reads and a file at its limit answer with a signal, which would be the
 * program's: it goes to the writing thread, which takes it back. */
static void write_quietly(const char *line, size_t bytes)
{
	const struct timespec now = {0};
	sigset_t deadly;
	sigset_t before;
	sigset_t pending;

	sigemptyset(&deadly);
	sigaddset(&deadly, SIGPIPE);
	sigaddset(&deadly, SIGXFSZ);
	sigpending(&pending);
	pthread_sigmask(SIG_BLOCK, &deadly, &before);
	if (write(STDERR_FILENO, line, bytes) < 0) {
		if (sigismember(&pending, SIGPIPE))
			sigdelset(&deadly, SIGPIPE);
		if (sigismember(&pending, SIGXFSZ))
			sigdelset(&deadly, SIGXFSZ);
		while (sigtimedwait(&deadly, NULL, &now) > 0)
			continue;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

static void put(const char *prefix, const char *format, va_list arguments)
{
	if (tfs_log_nowhere)
		return;
	const int saved = errno;
	char line[400];
	int used = snprintf(line, sizeof(line), "%s", prefix);
	const int more = vsnprintf(line + used, sizeof(line) - (size_t)used - 1, format, arguments);

	used += more > 0 ? more : 0;
	if (used > (int)sizeof(line) - 2)
		used = (int)sizeof(line) - 2;
	line[used] = '\n';
	/* One write keeps lines of several ranks apart; nobody can be told when it fails. */
	write_quietly(line, (size_t)used + 1);
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
