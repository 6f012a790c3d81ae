/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TEST_H
#define TFS_TESTS_TEST_H

/*
 * What a test needs: checks that print and count, and the exit status. To add a test: one file
 * whose main makes checks and ends with "return test_result();", and one line in the list of its
 * folder's meson.build (tests/unit for a module, the others by subject, many of which also run on
 * hardware).
 *
 *	TEST_EQ(cudaStreamQuery(stream), cudaErrorNotReady);
 *
 * A check that fails prints its file and line and both values; the test goes on, so that one run
 * shows all that is wrong. Checks return whether they held, and may be made in any thread.
 */

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fractions are compared as such in C, to a millionth of them. */
#define TEST_EQ(got, want)                                                                         \
	test_held(TEST_FRACTION(got)                                                               \
			  ? test_alike(__FILE__, __LINE__, #got, (double)(got), (double)(want))    \
			  : test_equal(__FILE__, __LINE__, #got, (long long)(got),                 \
				    (long long)(want)))
#ifdef __cplusplus
#define TEST_FRACTION(number) false
#else
#define TEST_FRACTION(number) _Generic((number), float : true, double : true, default : false)
#endif
#define TEST_TRUE(condition) test_true(__FILE__, __LINE__, #condition, !!(condition))
#define TEST_STR(got, want) test_string(__FILE__, __LINE__, #got, (got), (want))
/* Numbers of any kind; both ends count as inside. */
#define TEST_IN(got, low, high) test_between(__FILE__, __LINE__, #got, (got), (low), (high))
/* What the rest of the test cannot do without: ends it. */
#define TEST_NEED(condition)                                                                       \
	do {                                                                                       \
		if (!TEST_TRUE(condition))                                                         \
			exit(1);                                                                   \
	} while (0)

static int test_failures;

static inline bool test_report(bool held)
{
	if (!held)
		__atomic_fetch_add(&test_failures, 1, __ATOMIC_RELAXED);
	return held;
}

/* Of checks whose result nobody needs. */
static inline bool test_held(bool held)
{
	return held;
}

static inline bool test_equal(
	const char *file, int line, const char *what, long long got, long long want)
{
	if (got != want)
		printf("%s:%d: %s is %lld, not %lld\n", file, line, what, got, want);
	return test_report(got == want);
}

static inline bool test_alike(const char *file, int line, const char *what, double got, double want)
{
	const double off = got > want ? got - want : want - got;
	const bool held = got == want || off <= (want > 0 ? want : -want) / 1e6;

	if (!held)
		printf("%s:%d: %s is %.16g, not %.16g\n", file, line, what, got, want);
	return test_report(held);
}

static inline bool test_true(const char *file, int line, const char *what, bool held)
{
	if (!held)
		printf("%s:%d: not so: %s\n", file, line, what);
	return test_report(held);
}

static inline bool test_string(
	const char *file, int line, const char *what, const char *got, const char *want)
{
	bool held = got && want ? !strcmp(got, want) : got == want;

	if (!held)
		printf("%s:%d: %s is \"%s\", not \"%s\"\n", file, line, what, got ? got : "(null)",
			want ? want : "(null)");
	return test_report(held);
}

static inline bool test_between(
	const char *file, int line, const char *what, double got, double low, double high)
{
	bool held = got >= low && got <= high;

	if (!held)
		printf("%s:%d: %s is %.16g, not within %.16g to %.16g\n", file, line, what, got,
			low, high);
	return test_report(held);
}

/* The exit status. */
static inline int test_result(void)
{
	if (test_failures)
		printf("%d checks failed\n", test_failures);
	return test_failures ? 1 : 0;
}

/* For main: says why the test cannot run here, and gives the status for that. */
static inline int test_skip(const char *reason)
{
	printf("skipped: %s\n", reason);
	return 77;
}

#endif
