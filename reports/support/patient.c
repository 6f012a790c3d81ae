/* SPDX-License-Identifier: MIT */
#include "reports/support/patient.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define PATIENCE_MS 1000

static int left_ms = PATIENCE_MS;
static bool is_socket;

static long now_ms(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static ssize_t put(void *cookie, const char *text, size_t bytes)
{
	struct pollfd room = {.fd = STDERR_FILENO, .events = POLLOUT};
	ssize_t got;
	(void)cookie;
	do {
		long start = now_ms();
		if (poll(&room, 1, left_ms) <= 0 || !(room.revents & POLLOUT)) {
			left_ms = 0;
			return 0;
		}
		long waited = now_ms() - start;
		left_ms = waited < left_ms ? left_ms - (int)waited : 0;
		got = is_socket ? send(STDERR_FILENO, text, bytes, MSG_DONTWAIT)
				: write(STDERR_FILENO, text, bytes);
	} while (got < 0 && errno == EAGAIN && left_ms > 0);
	return got < 0 ? 0 : got;
}

/* Opened anew, the program's own writes to it stay as they are. A file's place would be lost. */
static void open_anew(void)
{
	int fd = open("/proc/self/fd/2", O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd < 0)
		return;
	dup2(fd, STDERR_FILENO);
	close(fd);
}

void tfs_patient_stderr(void)
{
	struct stat about;
	if (fstat(STDERR_FILENO, &about))
		return;
	is_socket = S_ISSOCK(about.st_mode);
	if (S_ISFIFO(about.st_mode) || S_ISCHR(about.st_mode))
		open_anew();
	else if (!is_socket)
		return;
	FILE *patient = fopencookie(NULL, "w", (cookie_io_functions_t){.write = put});
	if (!patient)
		return;
	signal(SIGPIPE, SIG_IGN);
	setvbuf(patient, NULL, _IOLBF, 0);
	stderr = patient;
}
