/* SPDX-License-Identifier: MIT */
/*
 * Tells the scripts what a recording holds, one "key value" per line: shim_trace FILE. Totals of a
 * function are "total NAME CALLS", one of its call sites is "site NAME CALLS FRAMES", those of
 * which it is known what files all frames are in are "placed SITES of SITES", a fact is "fact NAME
 * TEXT", what a launch does with its pointers is "roles KERNEL" and, for each, "read" or "maybe".
 * Fails when the file cannot be read or is damaged.
 */
#include "rules/support/sentences.h"
#include "shim/trace/trace.h"
#include "tests/test.h"

static void tell_losses(const struct tfs_file_header *header)
{
	unsigned long long all = 0;

#define X(number, name, text)                                                                      \
	printf("lost_" #name " %llu\n", (unsigned long long)header->lost[number]);                 \
	all += header->lost[number];
	TFS_LOSSES(X)
#undef X
	printf("lost %llu\n", all);
}

static void tell_totals(const struct tfs_trace *trace)
{
	unsigned long long counts[4096] = {0};
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	const size_t count = tfs_trace_totals(trace, &totals, &shares);
	unsigned long long all = 0;
	size_t placed = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tfs_aggregate *sum = &totals[i].sum;
		const uint64_t *frames;
		const unsigned depth = tfs_trace_frames(trace, sum->site, &frames);
		unsigned known = 0;

		all += sum->count;
		if (sum->function < 4096)
			counts[sum->function] += sum->count;
		for (unsigned j = 0; j < depth; j++)
			known += tfs_trace_module(trace, frames[j]) != NULL;
		placed += known == depth;
		printf("site %s %llu %u\n", tfs_trace_function(trace, sum->function),
			(unsigned long long)sum->count, depth);
	}
	printf("placed %zu of %zu\n", placed, count);
	for (uint32_t i = 0; i < 4096; i++)
		if (counts[i] != 0)
			printf("total %s %llu\n", tfs_trace_function(trace, i), counts[i]);
	printf("counted %llu\n", all);
}

static void tell_launch(const struct tfs_trace *trace, const struct tfs_call *call)
{
	const struct tfs_item *items;
	const unsigned count = tfs_call_items(call, &items);
	uint64_t kernel;

	if (!tfs_call_attribute(call, TFS_ATTRIBUTE_launch, &kernel) &&
		!tfs_call_attribute(call, TFS_ATTRIBUTE_kernel, &kernel))
		return;
	printf("roles %s", tfs_trace_kernel(trace, kernel & 0xffff));
	for (unsigned i = 0; i < count; i++)
		if ((TFS_ITEM_ROLE(&items[i]) & TFS_ROLE_OPERAND) != 0)
			printf(" %s", (TFS_ITEM_ROLE(&items[i]) & TFS_ROLE_MAYBE) != 0 ? "maybe"
										       : "read");
	printf("\n");
}

static void tell_launches(const struct tfs_trace *trace)
{
	const struct tfs_trace_thread *threads;
	const size_t count = tfs_trace_threads(trace, &threads);
	const struct tfs_call *call;
	struct tfs_cursor cursor;

	for (size_t i = 0; i < count; i++) {
		tfs_cursor_start(&cursor, trace, i);
		while ((call = tfs_cursor_next(&cursor)))
			tell_launch(trace, call);
	}
}

static unsigned program_threads(const struct tfs_trace *trace)
{
	const struct tfs_trace_thread *threads;
	const size_t count = tfs_trace_threads(trace, &threads);
	unsigned known = 0;

	for (size_t i = 0; i < count; i++)
		known += threads[i].record != NULL;
	return known;
}

/* A function's record is as long as its name needs. */
static bool functions_fit(const struct tfs_trace *trace)
{
	bool fit = true;

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_function); i++) {
		const struct tfs_function_record *function =
			tfs_trace_at(trace, TFS_RECORD_function, i);
		const size_t bytes = sizeof(*function) + function->name_bytes + 1;
		const size_t units = (bytes + TFS_UNIT - 1) / TFS_UNIT;

		if (function->record.units != units)
			printf("function %s: %u units, not %zu\n",
				tfs_trace_function(trace, (uint16_t)function->id),
				function->record.units, units);
		fit = fit && function->record.units == units;
	}
	return fit;
}

int main(int argc, char **argv)
{
	const struct tfs_damage *damages;
	struct tfs_damage damage = {0, ""};
	struct tfs_trace *trace;
	struct tfs_arena arena = {0};

	if (argc != 2)
		return test_skip("no recording stated");
	const int failed = tfs_trace_open(argv[1], &damage, &trace);
	if (failed != 0) {
		printf("%s: %s at %llu (%s)\n", argv[1], damage.what,
			(unsigned long long)damage.offset, strerror(-failed));
		return 1;
	}
	const struct tfs_file_header *header = tfs_trace_header(trace);
	const struct tfs_trace_summary *summary = tfs_trace_summary(trace);
	printf("bytes %llu\nrecords %llu\ncalls %llu\ndamages %llu\ncut %d\n",
		(unsigned long long)summary->bytes, (unsigned long long)summary->records,
		(unsigned long long)summary->calls, (unsigned long long)summary->damages,
		summary->cut);
	printf("finished %d\npid %u\nlimit %llu\nthreads %u\n", (int)header->finished, header->pid,
		(unsigned long long)header->limit_bytes, program_threads(trace));
	printf("thread_records %zu\nmarks %zu\nwindows %zu\n",
		tfs_trace_count(trace, TFS_RECORD_thread), tfs_trace_count(trace, TFS_RECORD_step),
		tfs_trace_count(trace, TFS_RECORD_window));
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_fact); i++) {
		const char *key, *text;

		if (tfs_sentence_fact(trace, i, &arena, &key, &text))
			printf("fact %s %s\n", key, text);
	}
	tell_losses(header);
	tell_totals(trace);
	tell_launches(trace);
	for (size_t i = 0; i < tfs_trace_damages(trace, &damages); i++)
		printf("damage %llu %s\n", (unsigned long long)damages[i].offset, damages[i].what);
	const bool good = functions_fit(trace) && summary->damages == 0;
	tfs_arena_finish(&arena);
	tfs_trace_close(trace);
	return good ? 0 : 1;
}
