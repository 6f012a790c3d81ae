/* SPDX-License-Identifier: MIT */
#include "reports/support/progress.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

/* The work does not call back, so a timer's signal writes the line. */
static const char *volatile doing;
static const char *volatile subject;
static volatile sig_atomic_t shown;
static bool running;

static void put(const char *text)
{
	/* A terminal that takes nothing is no reason to fail. */
	ssize_t written = write(STDERR_FILENO, text, strlen(text));
	(void)written;
}

static void on_alarm(int number)
{
	(void)number;
	put("\r\033[K");
	put(subject);
	put(": ");
	put(doing);
	put(" ...");
	shown = 1;
}

void tfs_progress_start(bool wanted, const char *name)
{
	const char *base = strrchr(name, '/');
	struct sigaction action = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	struct itimerval timer = {{1, 0}, {2, 0}};

	running = wanted && isatty(STDERR_FILENO);
	doing = "reading";
	subject = base ? base + 1 : name;
	if (!running)
		return;
	sigaction(SIGALRM, &action, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

void tfs_progress_say(const char *what)
{
	doing = what;
}

void tfs_progress_end(void)
{
	struct itimerval timer = {{0, 0}, {0, 0}};
	if (!running)
		return;
	setitimer(ITIMER_REAL, &timer, NULL);
	if (shown)
		put("\r\033[K");
	shown = 0;
	running = false;
}
