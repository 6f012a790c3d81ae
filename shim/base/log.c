/* SPDX-License-Identifier: MIT */
#include "shim/base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum tfs_log_level tfs_log_limit = TFS_LOG_NONE;
bool tfs_log_nowhere;
static uint64_t dropped;

void tfs_log_init(void)
{
	const int saved = errno;

	tfs_log_nowhere = fcntl(STDERR_FILENO, F_GETFD) < 0;
	errno = saved;
}

/* Others may have taken the room meanwhile: newer kernels can be told not to wait for more. */
static ssize_t write_to_stream(const char *line, size_t bytes)
{
	const struct iovec part = {.iov_base = (void *)(uintptr_t)line, .iov_len = bytes};
	const long got =
		syscall(SYS_pwritev2, STDERR_FILENO, &part, 1L, -1L, -1L, (long)RWF_NOWAIT);

	if (got >= 0 || errno == EAGAIN || errno == EPIPE)
		return got;
	return write(STDERR_FILENO, line, bytes);
}

/* A terminal that has room for one byte is ready, and its write waits until all has room, but for
 * who opened it without. What it takes then may be a part of the line. */
static ssize_t write_to_terminal(const char *line, size_t bytes)
{
	const int terminal = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	ssize_t got;

	if (terminal < 0)
		return write(STDERR_FILENO, line, bytes);
	got = write(terminal, line, bytes);
	close(terminal);
	return got == (ssize_t)bytes ? got : -1;
}

/* Where nobody reads, a line would wait for room as long as the program lives. At most PIPE_BUF
 * bytes. */
static ssize_t write_at_once(const char *line, size_t bytes)
{
	struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
	struct stat about;

	if (poll(&room, 1, 0) != 1 || (room.revents & POLLOUT) == 0)
		return -1;
	if (fstat(STDERR_FILENO, &about))
		return -1;
	if (S_ISFIFO(about.st_mode) || S_ISSOCK(about.st_mode))
		return write_to_stream(line, bytes);
	/* Who opens a multiplexer gets another terminal. */
	if (S_ISCHR(about.st_mode) && about.st_rdev != makedev(5, 2) && isatty(STDERR_FILENO))
		return write_to_terminal(line, bytes);
	return write(STDERR_FILENO, line, bytes);
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
	if (write_at_once(line, bytes) < 0) {
		__atomic_fetch_add(&dropped, 1, __ATOMIC_RELAXED);
		if (sigismember(&pending, SIGPIPE))
			sigdelset(&deadly, SIGPIPE);
		if (sigismember(&pending, SIGXFSZ))
			sigdelset(&deadly, SIGXFSZ);
		while (sigtimedwait(&deadly, NULL, &now) > 0)
			continue;
	}
	pthread_sigmask(SIG_SETMASK, &before, NULL);
}

/* How long is the character there, if it is a C1 control or a mark that reorders text? Else 0. */
static size_t hidden(const unsigned char *at, unsigned *out_code)
{
	if (at[0] == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f)
		*out_code = at[1];
	else if (at[0] == 0xd8 && at[1] == 0x9c)
		*out_code = 0x61c;
	else if (at[0] == 0xe2 && (at[1] == 0x80 || at[1] == 0x81) && (at[2] & 0xc0) == 0x80)
		*out_code = 0x2000u | (at[1] & 0x3fu) << 6 | (at[2] & 0x3fu);
	else
		return 0;
	if (*out_code < 0x2000)
		return 2;
	return (*out_code >= 0x200e && *out_code <= 0x200f) ||
			       (*out_code >= 0x202a && *out_code <= 0x202e) ||
			       (*out_code >= 0x2066 && *out_code <= 0x206f)
		       ? 3
		       : 0;
}

/* Names are bytes that somebody else chose: nothing in them reaches a terminal as a command. */
static size_t clean(const char *text, char *out_line, size_t room)
{
	const unsigned char *at = (const unsigned char *)text;
	size_t used = 0;
	unsigned code;

	while (*at != '\0' && used + sizeof("[U+0000]\n") <= room) {
		const size_t length = hidden(at, &code);

		if (length != 0)
			used += (size_t)snprintf(out_line + used, room - used, "[U+%04X]", code);
		else
			out_line[used++] = *at < 0x20 || *at == 0x7f ? '?' : (char)*at;
		at += length != 0 ? length : 1;
	}
	out_line[used++] = '\n';
	return used;
}

static void put(const char *prefix, const char *format, va_list arguments)
{
	if (tfs_log_nowhere)
		return;
	const int saved = errno;
	char text[TFS_LOG_BYTES];
	char line[TFS_LOG_BYTES];
	const int used = snprintf(text, sizeof(text), "%s", prefix);

	vsnprintf(text + used, sizeof(text) - (size_t)used, format, arguments);
	/* One write keeps lines of several ranks apart; it is counted when it fails. */
	write_quietly(line, clean(text, line, sizeof(line)));
	errno = saved;
}

uint64_t tfs_log_dropped(void)
{
	return __atomic_load_n(&dropped, __ATOMIC_RELAXED);
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
