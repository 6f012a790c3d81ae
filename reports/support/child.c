/* SPDX-License-Identifier: MIT */
#include "reports/support/child.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "reports/support/options.h"
#include "shim/trace/format/format.h"

static volatile sig_atomic_t child_pid;

/* What a terminal sends reaches the whole group, the child included; the rest is for the child. */
static void forward(int number, siginfo_t *info, void *context)
{
	(void)context;
	int saved = errno;
	if (info->si_code <= 0 && child_pid > 0)
		kill((pid_t)child_pid, number);
	errno = saved;
}

static const int forwarded[] = {
	SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH, SIGALRM, SIGPIPE};
#define FORWARDED (sizeof(forwarded) / sizeof(forwarded[0]))

/* The child: everything as it was for us, then the program. */
static void become(char **program, const sigset_t *mask, int failure)
{
	sigprocmask(SIG_SETMASK, mask, NULL);
	execvp(program[0], program);
	int error = errno;
	/* Without a reader nobody can be told. */
	ssize_t written = write(failure, &error, sizeof(error));
	(void)written;
	_exit(TFS_CHILD_NOT_FOUND);
}

static int wait_for(struct tfs_child *child)
{
	while (waitpid((pid_t)child->actor.pid, &child->status, 0) < 0) {
		if (errno != EINTR)
			return TFS_EXIT_MISUSE;
	}
	child->ended = true;
	return WIFSIGNALED(child->status) ? 128 + WTERMSIG(child->status)
					  : WEXITSTATUS(child->status);
}

int tfs_child_run(struct tfs_child *child, char **program)
{
	struct sigaction pass = {.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART};
	sigset_t all, mask;
	int failure[2];

	*child = (struct tfs_child){0};
	if (pipe2(failure, O_CLOEXEC)) {
		child->error = errno;
		return TFS_EXIT_MISUSE;
	}
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &mask);
	pid_t pid = fork();
	if (!pid)
		become(program, &mask, failure[1]);
	close(failure[1]);
	if (pid < 0) {
		child->error = errno;
		sigprocmask(SIG_SETMASK, &mask, NULL);
		close(failure[0]);
		return TFS_EXIT_MISUSE;
	}
	child_pid = pid;
	child->actor = tfs_actor_of((uint32_t)pid);
	for (size_t i = 0; i < FORWARDED; i++) {
		struct sigaction old;
		/* What was ignored, as under nohup, stays so. */
		if (!sigaction(forwarded[i], NULL, &old) && old.sa_handler != SIG_IGN)
			sigaction(forwarded[i], &pass, NULL);
	}
	/* An ignored SIGCHLD would take the exit status away. The child has its own copy. */
	signal(SIGCHLD, SIG_DFL);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	ssize_t got = read(failure[0], &child->error, sizeof(child->error));
	if (got != (ssize_t)sizeof(child->error))
		child->error = 0;
	close(failure[0]);
	int status = wait_for(child);
	child_pid = 0;
	return status;
}

static bool read_header(const char *path, struct tfs_file_header *out_header)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, out_header, sizeof(*out_header));
	close(fd);
	out_header->program[sizeof(out_header->program) - 1] = '\0';
	return got == (ssize_t)sizeof(*out_header);
}

void tfs_child_settle(const struct tfs_child *child, const struct tfs_recordings *recordings)
{
	for (size_t i = 0; child->ended && i < recordings->count; i++) {
		struct tfs_file_header header;
		struct tfs_marks marks;
		/* Those that it started itself are others' children. */
		if (read_header(recordings->paths[i], &header) && header.pid == child->actor.pid &&
			tfs_marks_find(recordings->paths[i], header.program, &marks))
			tfs_marks_settle(&marks, child->actor, child->status);
	}
}
