/* SPDX-License-Identifier: MIT */
/*
 * Runs a program whose standard error nobody reads: shim_clogged KIND COMMAND... A pipe, a socket
 * or a terminal is full from the start, a narrow pipe takes a page.
 */
#include <fcntl.h>
#include <pty.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/test.h"

/* Both ends stay open: a reader that never reads. */
static int make(const char *kind)
{
	int ends[2] = {-1, -1};

	if (strcmp(kind, "socket") == 0)
		TEST_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	else if (strcmp(kind, "terminal") == 0)
		TEST_EQ(openpty(&ends[0], &ends[1], NULL, NULL, NULL), 0);
	else
		TEST_EQ(pipe(ends), 0);
	return ends[1];
}

static bool takes(int end)
{
	static const char text[64] = "";
	bool any = false;

	for (size_t bytes = sizeof(text); bytes > 0; bytes /= 2)
		while (write(end, text, bytes) > 0)
			any = true;
	return any;
}

/* A terminal makes room once more, a little later. The flag is of all who write there: only while
 * it is filled. */
static void fill(int end)
{
	const int flags = fcntl(end, F_GETFL);

	fcntl(end, F_SETFL, flags | O_NONBLOCK);
	while (takes(end))
		usleep(100000);
	fcntl(end, F_SETFL, flags);
}

int main(int count, char **words)
{
	if (count < 3)
		return 2;
	const int end = make(words[1]);

	if (strcmp(words[1], "narrow") == 0)
		TEST_EQ(fcntl(end, F_SETPIPE_SZ, 4096), 4096);
	else
		fill(end);
	if (test_failures != 0 || dup2(end, STDERR_FILENO) < 0)
		return 2;
	close(end);
	execv(words[2], words + 2);
	return 2;
}
