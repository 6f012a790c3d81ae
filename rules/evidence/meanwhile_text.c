/* SPDX-License-Identifier: MIT */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "rules/evidence/meanwhile.h"
#include "rules/support/figures.h"

/* What is less is not worth a word. */
#define WORTH_SHARE 0.05
#define WORTH_BYTES 4096.0

static const char *text_of(unsigned doing)
{
	static const char *const texts[] = {
#define X(number, constant, text) [number] = (text),
		TFS_HOST_DOINGS(X)
#undef X
	};

	return texts[doing];
}

/* What took most time and was not told yet; false = nothing else is worth a word. */
static bool next_most(const struct tfs_meanwhile *meanwhile, bool *told, unsigned *out_doing)
{
	double most = 0;

	for (unsigned i = 0; i < TFS_HOST_DOING_COUNT; i++) {
		if (told[i] || meanwhile->doing_ns[i] <= most)
			continue;
		most = meanwhile->doing_ns[i];
		*out_doing = i;
	}
	told[*out_doing] = true;
	return most >= WORTH_SHARE * meanwhile->time_ns;
}

static void add(char *text, size_t bytes, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

static void add(char *text, size_t bytes, const char *format, ...)
{
	const size_t used = strlen(text);
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(text + used, bytes - used, format, arguments);
	va_end(arguments);
}

static void add_others(
	char *text, size_t bytes, const struct tfs_crowd *crowd, const char *one, const char *many)
{
	if (crowd->count < 0.5)
		return;
	add(text, bytes, "; of %s, %s ran on average",
		tfs_figure_number(crowd->count, one, many).text,
		tfs_figure_count(crowd->running).text);
	if (crowd->disk >= WORTH_SHARE * crowd->count)
		add(text, bytes, " and %s waited as for a disk",
			tfs_figure_count(crowd->disk).text);
}

static void add_doings(char *text, size_t bytes, const struct tfs_meanwhile *meanwhile)
{
	bool told[TFS_HOST_DOING_COUNT] = {false};
	const char *comma = "";
	unsigned doing = 0;

	add(text, bytes, "in %u samples the thread was ", meanwhile->samples);
	for (; next_most(meanwhile, told, &doing); comma = ", ") {
		add(text, bytes, "%s%s (%s", comma, text_of(doing),
			tfs_figure_share(tfs_meanwhile_share(meanwhile, doing)).text);
		if (doing == TFS_HOST_code && meanwhile->kernel >= WORTH_SHARE)
			add(text, bytes, ", %s of that in the kernel",
				tfs_figure_share(meanwhile->kernel).text);
		add(text, bytes, ")");
	}
}

void tfs_meanwhile_text(
	const struct tfs_meanwhile *meanwhile, double steps, char *out_text, size_t bytes)
{
	out_text[0] = '\0';
	if (meanwhile->samples == 0)
		return;
	add_doings(out_text, bytes, meanwhile);
	if (meanwhile->queued >= WORTH_SHARE)
		add(out_text, bytes,
			"; for %s of the time in which it could run, it waited for a processor",
			tfs_figure_share(meanwhile->queued).text);
	if (meanwhile->crowds && tfs_meanwhile_waits(meanwhile)) {
		add_others(
			out_text, bytes, &meanwhile->children, "child process", "child processes");
		add_others(out_text, bytes, &meanwhile->threads, "other thread", "other threads");
	}
	if (meanwhile->read_bytes >= WORTH_BYTES * steps)
		add(out_text, bytes, "; it read %s per step in that time",
			tfs_figure_bytes(meanwhile->read_bytes / steps).text);
	if (meanwhile->faults >= steps)
		add(out_text, bytes, "; %s per step had to fetch what was not in memory",
			tfs_figure_number(meanwhile->faults / steps, "page fault", "page faults")
				.text);
}
