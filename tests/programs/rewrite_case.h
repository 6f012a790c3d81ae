/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PROGRAMS_REWRITE_CASE_H
#define TFS_TESTS_PROGRAMS_REWRITE_CASE_H

/* For programs that test rewrites and have many cases, of which a run is one. */

#include <stddef.h>
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
	for (size_t i = 0; i < count; i++) {
		if (strcmp(cases[i].name, wanted) == 0) {
			cases[i].run();
			return test_result();
		}
	}
	return 2;
}

#endif
