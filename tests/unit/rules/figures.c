/* SPDX-License-Identifier: MIT */
/* Figures in messages at the edges of their units: what is rounded up takes the next one. */
#include "rules/support/figures.h"

#include <float.h>
#include <math.h>
#include <stdio.h>

#include "tests/test.h"

static unsigned looked_at;

struct want {
	double value;
	const char *text;
};

static void check(struct tfs_figure (*figure)(double), const struct want *wants, size_t count)
{
	for (size_t i = 0; i < count; i++, looked_at++)
		TEST_STR(figure(wants[i].value).text, wants[i].text);
}

#define CHECK(figure, wants) check(figure, wants, sizeof(wants) / sizeof(*(wants)))

static void bytes(void)
{
	static const struct want wants[] = {{0, "0 B"}, {1, "1 B"}, {-0.3, "0 B"}, {999, "999 B"},
		{1000, "1000 B"}, {1023, "1023 B"}, {1023.4, "1023 B"}, {1023.6, "1.00 KiB"},
		{1024, "1.00 KiB"}, {10234, "9.99 KiB"}, {10236, "10.0 KiB"}, {102348, "99.9 KiB"},
		{102350, "100 KiB"}, {200704, "196 KiB"}, {1023.4 * 1024, "1023 KiB"},
		{1023.5 * 1024, "1.00 MiB"}, {1048575, "1.00 MiB"}, {1048576, "1.00 MiB"},
		{4246733, "4.05 MiB"}, {-4246733, "-4.05 MiB"}, {0x1p30 - 1, "1.00 GiB"},
		{0x1p40 - 1, "1.00 TiB"}, {0x1p50, "1024 TiB"}, {DBL_MAX, "1.63e+296 TiB"},
		{INFINITY, "?"}, {NAN, "?"}};

	CHECK(tfs_figure_bytes, wants);
}

/* U+00B5 and the unit. */
#define MICRO "\xc2\xb5s"

static void times(void)
{
	static const struct want wants[] = {{0, "0"}, {0.4, "0"}, {1, "1 ns"}, {999, "999 ns"},
		{999.4, "999 ns"}, {999.6, "1.00 " MICRO}, {1000, "1.00 " MICRO},
		{9996, "10.0 " MICRO}, {99960, "100 " MICRO}, {518e3, "518 " MICRO},
		{999.4e3, "999 " MICRO}, {999.6e3, "1.00 ms"}, {38.4e6, "38.4 ms"},
		{999.6e6, "1.00 s"}, {119.4e9, "119 s"}, {119.6e9, "1.99 min"}, {150e9, "2.50 min"},
		{-518e3, "-518 " MICRO}, {DBL_MAX, "3.00e+297 min"}, {-INFINITY, "?"}, {NAN, "?"}};

	CHECK(tfs_figure_time, wants);
}

static void counts(void)
{
	static const struct want wants[] = {{0, "0"}, {0.001, "<0.01"}, {0.1, "0.1"},
		{0.25, "0.25"}, {0.5, "0.5"}, {0.999, "1"}, {1, "1"}, {1.5, "1.5"}, {9.94, "9.94"},
		{9.96, "10"}, {10, "10"}, {12.5, "12.5"}, {99.4, "99.4"}, {99.6, "100"},
		{100, "100"}, {999, "999"}, {1000, "1,000"}, {12345, "12,345"},
		{999999.6, "1,000,000"}, {9e17, "900,000,000,000,000,000"}, {1e18, "1.00e+18"},
		{DBL_MAX, "1.80e+308"}, {-2.5, "-2.5"}, {INFINITY, "?"}, {NAN, "?"}};

	CHECK(tfs_figure_count, wants);
}

static void calls(void)
{
	static const struct want wants[] = {{0, "0 calls/step"}, {0.1, "0.1 calls/step"},
		{0.5, "0.5 calls/step"}, {0.999, "1 call/step"}, {1, "1 call/step"},
		{1.001, "1 call/step"}, {1.01, "1.01 calls/step"}, {2, "2 calls/step"},
		{9e17, "900,000,000,000,000,000 calls/step"}, {DBL_MAX, "1.80e+308 calls/step"},
		{NAN, "? calls/step"}};

	CHECK(tfs_figure_calls, wants);
}

static struct tfs_figure sites(double count)
{
	return tfs_figure_number(count, "call site waits", "call sites wait");
}

static struct tfs_figure other_sites(double count)
{
	return tfs_figure_also(count, "call site waits", "call sites wait");
}

static void numbers(void)
{
	static const struct want wants[] = {{0, "0 call sites wait"}, {0.5, "0.5 call sites wait"},
		{1, "1 call site waits"}, {1.5, "1.5 call sites wait"}, {2, "2 call sites wait"},
		{1234, "1,234 call sites wait"}};
	static const struct want others[] = {{0, ""}, {1, "; 1 call site waits"},
		{2, "; 2 call sites wait"}, {1234, "; 1,234 call sites wait"}};

	CHECK(sites, wants);
	CHECK(other_sites, others);
}

static void shares(void)
{
	static const struct want wants[] = {{0, "0 %"}, {0.0001, "<0.1 %"}, {0.0005, "0.1 %"},
		{0.025, "2.5 %"}, {0.0994, "9.9 %"}, {0.0996, "10 %"}, {0.12, "12 %"}, {1, "100 %"},
		{DBL_MAX / 1000, "1.80e+307 %"}, {NAN, "?"}};

	CHECK(tfs_figure_share, wants);
}

static void factors(void)
{
	static const struct want wants[] = {{0.5, "0.50\xc3\x97"}, {1.234, "1.23\xc3\x97"},
		{12.34, "12.3\xc3\x97"}, {1234, "1234\xc3\x97"}, {NAN, "?"}};

	CHECK(tfs_figure_factor, wants);
}

int main(void)
{
	bytes();
	times();
	counts();
	calls();
	numbers();
	shares();
	factors();
	printf("%u figures\n", looked_at);
	return test_result();
}
