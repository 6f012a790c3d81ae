/* SPDX-License-Identifier: MIT */
/* The line about long work: on terminals only, first after two seconds, and gone when all is done.
 */
#include "reports/support/progress.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "tests/test.h"

static int terminal, usual;

/* Stderr becomes a terminal, whose other end this process has. */
static void open_terminal(void)
{
	terminal = posix_openpt(O_RDWR | O_NOCTTY);
	TEST_NEED(terminal >= 0 && grantpt(terminal) == 0 && unlockpt(terminal) == 0);
	const int own = open(ptsname(terminal), O_RDWR | O_NOCTTY);
	TEST_NEED(own >= 0);
	usual = dup(STDERR_FILENO);
	TEST_EQ(dup2(own, STDERR_FILENO), STDERR_FILENO);
	close(own);
}

/* This has arrived there since it was last asked, and no more; it may take a moment. */
static void check_seen(const char *want)
{
	struct pollfd ready = {.fd = terminal, .events = POLLIN};
	char text[256];
	size_t used = 0;

	while (used < sizeof(text) - 1 && poll(&ready, 1, used < strlen(want) ? 10000 : 0) == 1) {
		const ssize_t bytes = read(terminal, text + used, sizeof(text) - 1 - used);

		if (bytes <= 0)
			break;
		used += (size_t)bytes;
	}
	text[used] = '\0';
	TEST_STR(text, want);
}

static void check_timer(int seconds, int each)
{
	struct itimerval timer;

	TEST_EQ(getitimer(ITIMER_REAL, &timer), 0);
	TEST_EQ(timer.it_interval.tv_sec, each);
	TEST_IN(timer.it_value.tv_sec, seconds > 0 ? seconds - 1 : 0, seconds);
}

static void test_long_work(void)
{
	tfs_progress_start(true, "/some/where/run.tfs");
	check_timer(2, 1);
	check_seen("");
	raise(SIGALRM);
	check_seen("\r\033[Krun.tfs: reading ...");
	tfs_progress_say("judging");
	check_seen("");
	raise(SIGALRM);
	check_seen("\r\033[Krun.tfs: judging ...");
	tfs_progress_end();
	check_seen("\r\033[K");
	check_timer(0, 0);
	/* The next one begins anew, and what was never shown is not wiped. */
	tfs_progress_start(true, "next.tfs");
	raise(SIGALRM);
	check_seen("\r\033[Knext.tfs: reading ...");
	tfs_progress_end();
	check_seen("\r\033[K");
	tfs_progress_start(true, "next.tfs");
	tfs_progress_end();
	tfs_progress_end();
	check_seen("");
}

static void test_silent(void)
{
	tfs_progress_start(false, "run.tfs");
	check_timer(0, 0);
	tfs_progress_end();
	check_seen("");
	TEST_EQ(dup2(usual, STDERR_FILENO), STDERR_FILENO);
	/* No terminal any more, wherever the test runs. */
	const int null = open("/dev/null", O_WRONLY);
	TEST_EQ(dup2(null, STDERR_FILENO), STDERR_FILENO);
	tfs_progress_start(true, "run.tfs");
	check_timer(0, 0);
	tfs_progress_end();
	close(null);
}

int main(void)
{
	open_terminal();
	test_long_work();
	test_silent();
	TEST_EQ(dup2(usual, STDERR_FILENO), STDERR_FILENO);
	return test_result();
}
