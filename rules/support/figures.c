/* SPDX-License-Identifier: MIT */
#include "rules/support/figures.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Larger numbers are not written out: none is meant, and their digits would not fit. */
#define HUGE_COUNT 1e18

static struct tfs_figure print(int digits, double value, const char *unit)
{
	struct tfs_figure figure;

	if (!isfinite(value))
		snprintf(figure.text, sizeof(figure.text), "?");
	else if (fabs(value) >= HUGE_COUNT)
		snprintf(figure.text, sizeof(figure.text), "%.2e%s", value, unit);
	else
		snprintf(figure.text, sizeof(figure.text), "%.*f%s", digits, value, unit);
	return figure;
}

/* Three significant digits, which is more than any of these figures is worth. */
static struct tfs_figure three(double value, const char *unit)
{
	const double size = fabs(value);

	return print(size >= 99.95 ? 0 : size >= 9.995 ? 1 : 2, value, unit);
}

struct tfs_figure tfs_figure_time(double ns)
{
	const double size = fabs(ns);

	if (size < 0.5)
		return print(0, 0, "");
	if (size < 999.5)
		return print(0, ns, " ns");
	if (size < 999.5e3)
		return three(ns / 1e3, " \xc2\xb5s");
	if (size < 999.5e6)
		return three(ns / 1e6, " ms");
	if (size < 119.5e9)
		return three(ns / 1e9, " s");
	return three(ns / 60e9, " min");
}

struct tfs_figure tfs_figure_bytes(double bytes)
{
	static const char *const units[] = {" KiB", " MiB", " GiB", " TiB"};
	unsigned unit = 0;

	if (fabs(bytes) < 1023.5)
		return print(0, fabs(bytes) < 0.5 ? 0 : bytes, " B");
	for (bytes /= 1024; fabs(bytes) >= 1023.5 && unit < 3; unit++)
		bytes /= 1024;
	return three(bytes, units[unit]);
}

/* A comma before every third digit from the right; the number is whole and not negative. */
static void group(struct tfs_figure *figure)
{
	for (size_t at = strlen(figure->text); at > 3;) {
		at -= 3;
		memmove(&figure->text[at + 1], &figure->text[at], strlen(&figure->text[at]) + 1);
		figure->text[at] = ',';
	}
}

/* No zeros at the end of a fraction. */
static void trim(struct tfs_figure *figure)
{
	size_t length = strlen(figure->text);

	while (figure->text[length - 1] == '0')
		length--;
	length -= figure->text[length - 1] == '.';
	figure->text[length] = '\0';
}

struct tfs_figure tfs_figure_count(double count)
{
	const double size = fabs(count);
	struct tfs_figure figure;

	if (!isfinite(count) || size >= HUGE_COUNT)
		return print(0, count, "");
	if (size > 0 && size < 0.005)
		return (struct tfs_figure){"<0.01"};
	figure = print(size >= 99.5 ? 0 : size >= 9.95 ? 1 : 2, count, "");
	if (size < 99.5)
		trim(&figure);
	else if (count > 0)
		group(&figure);
	return figure;
}

static struct tfs_figure counted(
	const char *before, double count, const char *one, const char *many)
{
	const struct tfs_figure number = tfs_figure_count(count);
	struct tfs_figure figure;

	snprintf(figure.text, sizeof(figure.text), "%s%.24s %s", before, number.text,
		strcmp(number.text, "1") ? many : one);
	return figure;
}

struct tfs_figure tfs_figure_number(double count, const char *one, const char *many)
{
	return counted("", count, one, many);
}

struct tfs_figure tfs_figure_also(double count, const char *one, const char *many)
{
	return count == 0 ? (struct tfs_figure){""} : counted("; ", count, one, many);
}

struct tfs_figure tfs_figure_calls(double per_step)
{
	return tfs_figure_number(per_step, "call/step", "calls/step");
}

struct tfs_figure tfs_figure_share(double share)
{
	const double percent = 100 * fabs(share);

	if (percent > 0 && percent < 0.05)
		return (struct tfs_figure){"<0.1 %"};
	return print(percent > 0 && percent < 9.95 ? 1 : 0, 100 * share, " %");
}

struct tfs_figure tfs_figure_factor(double factor)
{
	return three(factor, "\xc3\x97");
}
