/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_REWRITE_CASE_H
#define TFS_TESTS_PROGRAMS_REWRITE_CASE_H

/* For programs that test rewrites and have many cases, of which a run is one. */

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "tests/test.h"

struct rewrite_case {
	const char *name;
	void (*run)(void);
};

/* Runs the case of that name; what main() returns: 2 when there is none. */
static inline int rewrite_case_run(
	const struct rewrite_case *cases, size_t count, const char *wanted)
{
	/* Line by line: what libraries say when the program ends goes between the lines. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (size_t i = 0; i < count; i++) {
		if (strcmp(cases[i].name, wanted) == 0) {
			cases[i].run();
			return test_result();
		}
	}
	fprintf(stderr, "there is no case %s\n", wanted);
	return 2;
}

/* Runs `work` in eight threads at once, with their numbers from 0 on for arguments. */
static inline void rewrite_case_threads(void *(*work)(void *number))
{
	pthread_t ids[8];

	for (intptr_t i = 0; i < 8; i++)
		TEST_EQ(pthread_create(&ids[i], NULL, work, (void *)i), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
}

#endif
