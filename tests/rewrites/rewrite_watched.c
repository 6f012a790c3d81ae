/* SPDX-License-Identifier: MIT */
/*
 * For programs that a wrong rewrite would end by a fault in a thread that blocks all signals, where
 * no handler of theirs can say so: rewrite_watched PROGRAM ARGUMENTS runs it, and ends as it does.
 */
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

int main(int count, char **words)
{
	int status = 0;
	const pid_t child = count > 1 ? fork() : -1;

	if (child == 0) {
		execv(words[1], &words[1]);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return 127;
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	if (WTERMSIG(status) != SIGSEGV && WTERMSIG(status) != SIGBUS)
		return 128 + WTERMSIG(status);
	TEST_EQ(WTERMSIG(status), 0);
	return test_result();
}
