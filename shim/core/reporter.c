/* SPDX-License-Identifier: MIT */
#include "shim/core/reporter.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/base/log.h"
#include "shim/base/sanitizer.h"

#define WAIT_MS 10000
#define STACK_BYTES (64u << 10)
#define MOST_VARIABLES 4096u

extern char **environ;

/* Everything the children need; they share our memory and may allocate nothing. */
struct job {
	char tool[PATH_MAX];
	const char *recording;
	char *variables[MOST_VARIABLES + 1];
	char *stack; /* of the second child; the first one's lies above it */
	int ready[2];
	pid_t worker;
	sigset_t mask; /* the program's */
};

/* The tool lies beside the library: in the same folder, in the build tree, or under ../bin. */
static bool find_tool(struct job *job)
{
	static const char *const places[] = {
		"tfshim", "../reports/tfshim", "../bin/tfshim", "../../bin/tfshim"};
	Dl_info self;
	char folder[PATH_MAX];

	if (dladdr((void *)tfs_reporter_run, &self) == 0 || !realpath(self.dli_fname, folder))
		return false;
	*strrchr(folder, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		const int length =
			snprintf(job->tool, sizeof(job->tool), "%s/%s", folder, places[i]);
		if (length > 0 && length < (int)sizeof(job->tool) && access(job->tool, X_OK) == 0)
			return true;
	}
	return false;
}

static void copy_environment(struct job *job)
{
	size_t used = 0;

	for (char **variable = environ; *variable && used < MOST_VARIABLES; variable++)
		if (strncmp(*variable, "LD_PRELOAD=", 11) != 0 &&
			strncmp(*variable, "LD_LIBRARY_PATH=", 16) != 0)
			job->variables[used++] = *variable;
	job->variables[used] = NULL;
}

static void close_others(int keep)
{
	if (keep > 3)
		syscall(SYS_close_range, 3u, (unsigned)keep - 1, 0u);
	syscall(SYS_close_range, (unsigned)keep + 1, ~0u, 0u);
}

/* Between unblocking and the tool's start, no handler of the program may run in this child. */
static void drop_handlers(void)
{
	for (int number = 1; number < NSIG; number++) {
		struct sigaction action;

		if (sigaction(number, NULL, &action) == 0 && action.sa_handler != SIG_IGN &&
			action.sa_handler != SIG_DFL)
			signal(number, SIG_DFL);
	}
}

/* The grandchild: becomes the tool. The pipe's end closes when it ends. */
static int work(void *argument)
{
	struct job *job = argument;
	char *words[] = {job->tool, (char *)"report", (char *)"--exit-summary",
		(char *)(tfs_options.quiet ? "--quiet" : "--summary"), (char *)job->recording,
		NULL};
	const int null = open("/dev/null", O_RDWR);

	if (null >= 0)
		dup2(null, STDIN_FILENO);
	if (tfs_log_nowhere && null >= 0)
		dup2(null, STDERR_FILENO);
	dup2(STDERR_FILENO, STDOUT_FILENO);
	close_others(job->ready[1]);
	fcntl(job->ready[1], F_SETFD, 0);
	drop_handlers();
	sigprocmask(SIG_SETMASK, &job->mask, NULL);
	execve(job->tool, words, job->variables);
	_exit(127);
}

/*
 * The child in between, so that the worker belongs to nobody in the program. It stays until the
 * worker has ended: an orphan would become the program's child where that is the first process of
 * its namespace, or has asked for orphans. It shares the waiting thread's memory, errno included.
 */
static int part(void *argument)
{
	struct job *job = argument;

	job->worker = clone(work, job->stack + STACK_BYTES, CLONE_VM | CLONE_VFORK, job);
	syscall(SYS_close_range, 0u, ~0u, 0u);
	if (job->worker > 0)
		syscall(SYS_wait4, job->worker, NULL, __WALL, NULL);
	_exit(0);
}

/* The pipe closes when the worker ends. Without errno, which the children share for a moment. */
static bool ends_within(const struct job *job, int ms)
{
	struct pollfd done = {.fd = job->ready[0], .events = POLLIN};
	int got = -1;

	for (int i = 0; i < 1000 && got < 0; i++)
		got = poll(&done, 1, ms);
	return got != 0;
}

static void wait_until_done(const struct job *job, pid_t child)
{
	if (!ends_within(job, WAIT_MS)) {
		if (job->worker > 0)
			kill(job->worker, SIGKILL);
		tfs_log_say("writing the report took longer than %d s; run: %s report %s",
			WAIT_MS / 1000, job->tool, job->recording);
		if (!ends_within(job, WAIT_MS / 10))
			kill(child, SIGKILL);
	}
	while (waitpid(child, NULL, __WCLONE) < 0 && errno == EINTR)
		continue;
}

static void launch(struct job *job)
{
	sigset_t all;

	if (pipe2(job->ready, O_CLOEXEC) != 0)
		return;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &job->mask);
	/* Exit signal 0: the parent gets no SIGCHLD, and a plain wait does not see the child. */
	const pid_t child = clone(part, job->stack + 2 * STACK_BYTES, CLONE_VM, job);
	close(job->ready[1]);
	sigprocmask(SIG_SETMASK, &job->mask, NULL);
	if (child > 0)
		wait_until_done(job, child);
	close(job->ready[0]);
}

void tfs_reporter_run(const char *recording)
{
	const size_t bytes = sizeof(struct job) + 2 * STACK_BYTES;

	if (!tfs_options.report || tfs_options.rank != 0)
		return;
	/* Pages, not the heap: stacks, and at an end that may have come within the heap. */
	struct job *job =
		mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (job == MAP_FAILED)
		return;
	job->recording = recording;
	job->stack = (char *)job + bytes - 2 * STACK_BYTES;
	if (!find_tool(job)) {
		tfs_log_say("no report was made, because the tfshim command was not found; "
			    "run: tfshim report %s",
			recording);
	} else if (tfs_sanitizer_threads()) {
		tfs_log_say("to make the report, run: %s report %s", job->tool, recording);
	} else {
		copy_environment(job);
		launch(job);
	}
	munmap(job, bytes);
}
