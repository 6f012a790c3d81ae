/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_REWRITE_HANG_H
#define TFS_TESTS_PROGRAMS_REWRITE_HANG_H

/* For programs that a wrong rewrite would hang: that is a check of theirs, which fails in time and
 * says where. */

#include <signal.h>
#include <stdio.h>
#include <unistd.h>

/* From here on the program, or what comes up to the next of these, ends in so many seconds. */
#define MUST_END_IN(seconds) must_end_in(__FILE__, __LINE__, seconds)

static const char *must_end_file;
static int must_end_line;

static inline void must_end_now(int number)
{
	(void)number;
	dprintf(1, "%s:%d: not so: this ends\n", must_end_file, must_end_line);
	_exit(1);
}

static inline void must_end_in(const char *file, int line, unsigned seconds)
{
	must_end_file = file;
	must_end_line = line;
	signal(SIGALRM, must_end_now);
	alarm(seconds);
}

#endif
