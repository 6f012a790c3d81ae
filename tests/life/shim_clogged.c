/* SPDX-License-Identifier: MIT */
/*
 * Runs a program whose standard error nobody reads: shim_clogged KIND COMMAND... A pipe, a socket
 * or a terminal is full from the start, a narrow pipe takes a page, a narrow terminal some lines
 * and a part of one.
 */
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/test.h"

#define LITTLE 20u

static int ends[2] = {-1, -1};

/* Both ends stay open: a reader that never reads. */
static int make(const char *kind)
{
	if (strcmp(kind, "socket") == 0)
		TEST_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	else if (strstr(kind, "terminal"))
		TEST_EQ(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
	else
		TEST_EQ(pipe(ends), 0);
	return ends[1];
}

/* Bytes that it has room for, up to a number, which are written. */
static size_t take(int end, size_t most)
{
	size_t taken = 0;

	while (taken < most && write(end, "", 1) == 1)
		taken++;
	return taken;
}

/* A terminal makes room once more, a little later. */
static void fill(int end)
{
	while (take(end, SIZE_MAX) > 0)
		usleep(100000);
}

/* Of what is there some is read, until there is room. */
static void widen(int end)
{
	struct pollfd room = {.fd = end, .events = POLLOUT};
	char text[64];

	while (poll(&room, 1, 100) == 0)
		TEST_EQ(read(ends[0], text, sizeof(text)), sizeof(text));
}

/* Then less than a line fits. */
static void leave_little(int end)
{
	size_t room;

	widen(end);
	room = take(end, SIZE_MAX);
	widen(end);
	TEST_EQ(take(end, room - LITTLE), room - LITTLE);
}

int main(int count, char **words)
{
	if (count < 3)
		return 2;
	const int end = make(words[1]), flags = fcntl(end, F_GETFL);

	fcntl(end, F_SETFL, flags | O_NONBLOCK);
	if (strcmp(words[1], "narrow") == 0)
		TEST_EQ(fcntl(end, F_SETPIPE_SZ, 4096), 4096);
	else
		fill(end);
	if (strcmp(words[1], "narrow-terminal") == 0)
		leave_little(end);
	fcntl(end, F_SETFL, flags);
	if (test_failures != 0 || dup2(end, STDERR_FILENO) < 0)
		return 2;
	close(end);
	execv(words[2], words + 2);
	return 2;
}
