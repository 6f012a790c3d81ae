/* SPDX-License-Identifier: MIT */
/* The reader against recordings that are whole, cut, damaged or strange. */
#include <errno.h>
#include <unistd.h>

#include "shim/trace/trace.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"
#include "tests/unit/scenes/read_all.h"
#include "tests/unit/scenes/sample.h"

static void check_whole(void)
{
	struct builder *builder = sample_create(1024, SAMPLE_STEPS);
	struct tfs_trace *trace = builder_open(builder);
	const struct tfs_trace_thread *threads;
	const struct tfs_call *call;
	struct tfs_cursor cursor;
	uint64_t latest = 0;
	unsigned calls = 0;

	TEST_NEED(trace);
	TEST_EQ(tfs_trace_summary(trace)->damages, 0);
	TEST_EQ(tfs_trace_summary(trace)->unknown, 0);
	TEST_EQ(tfs_trace_summary(trace)->calls, 3 + SAMPLE_STEPS * 5 + 1);
	TEST_TRUE(!tfs_trace_summary(trace)->cut);
	TEST_STR(tfs_trace_header(trace)->program, "/somewhere/trainer");
	TEST_EQ(tfs_trace_threads(trace, &threads), 2);
	TEST_STR(threads[0].record->name, "main");
	TEST_TRUE(threads[0].chunks > 3);
	TEST_TRUE(!threads[1].record);
	for (int kind = 1; kind <= TFS_RECORD_product; kind++)
		if (kind != TFS_RECORD_call)
			TEST_TRUE(tfs_trace_count(trace, kind) > 0);
	tfs_cursor_start(&cursor, trace, 0);
	while ((call = tfs_cursor_next(&cursor))) {
		TEST_TRUE(call->start_ticks > latest);
		latest = call->start_ticks;
		calls++;
	}
	TEST_EQ(calls, tfs_trace_summary(trace)->calls);
	tfs_cursor_start(&cursor, trace, 1);
	TEST_TRUE(!tfs_cursor_next(&cursor));
	tfs_cursor_start(&cursor, trace, 99);
	TEST_TRUE(!tfs_cursor_next(&cursor));
	tfs_trace_close(trace);
	builder_destroy(builder);
}

static void check_ids(void)
{
	struct builder *builder = builder_create();
	const uint64_t frames[] = {0x1111, 0x2222, 0x3333}, *found = NULL;
	const int32_t fields[] = {25, 3};
	uint16_t function =
		builder_function(builder, TFS_LIBRARY_cudnn, TFS_FAMILY_conv_forward, "cudnnConv");
	uint32_t text = builder_string(builder, "hello"), site = builder_site(builder, 3, frames);
	uint32_t problem = builder_problem(builder, fields, 2);
	int32_t out[TFS_PROBLEM_FIELD_COUNT];
	struct tfs_trace *trace;

	builder_fact(builder, TFS_FACT_steps_found, NULL, 1);
	builder_fact(builder, TFS_FACT_steps_found, "value", 2);
	builder_stream(builder, 0x77, 0, 0);
	/* the same stream again, once its number is known */
	builder_record(builder, TFS_RECORD_stream,
		&(struct tfs_stream_record){.id = 1, .cupti_id = 13, .handle = 0x77},
		sizeof(struct tfs_stream_record));
	trace = builder_open(builder);
	TEST_NEED(trace);
	TEST_STR(tfs_trace_string(trace, text), "hello");
	TEST_STR(tfs_trace_string(trace, 0), "");
	TEST_STR(tfs_trace_string(trace, UINT32_MAX), "");
	TEST_STR(tfs_trace_function(trace, function), "cudnnConv");
	TEST_EQ(tfs_trace_family(trace, function), TFS_FAMILY_conv_forward);
	TEST_EQ(tfs_trace_family(trace, 999), TFS_FAMILY_other);
	TEST_EQ(tfs_trace_frames(trace, site, &found), 3);
	TEST_EQ(found[2], 0x3333);
	TEST_EQ(tfs_trace_frames(trace, 0, &found), 0);
	TEST_TRUE(tfs_trace_problem(trace, problem, out));
	TEST_EQ(out[1], 3);
	TEST_EQ(out[TFS_PROBLEM_FIELD_COUNT - 1], 0);
	TEST_EQ(tfs_trace_fact(trace, TFS_FACT_steps_found)->numbers[0], 2);
	TEST_TRUE(!tfs_trace_fact(trace, TFS_FACT_steps_none));
	TEST_EQ(((const struct tfs_stream_record *)tfs_trace_find(trace, TFS_RECORD_stream, 1))
			->cupti_id,
		13);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

/* An id far beyond the others is damage, not an allocation. */
static void check_wild_id(void)
{
	struct builder *builder = builder_create();
	const struct tfs_text_record wild = {.id = 0xfffffff0};
	struct tfs_trace *trace;

	builder_record(builder, TFS_RECORD_string, &wild, sizeof(wild));
	trace = builder_open(builder);
	TEST_NEED(trace);
	TEST_EQ(tfs_trace_summary(trace)->damages, 1);
	TEST_TRUE(tfs_trace_limit(trace, TFS_RECORD_string) < 10000);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

static void check_unknown_kinds(void)
{
	struct builder *builder = builder_create();
	static const unsigned char strange[200];
	struct tfs_trace *trace;
	uint32_t text;

	builder_record(builder, 200, strange, sizeof(strange));
	builder_record(builder, 0, strange, 8);
	text = builder_string(builder, "behind it");
	trace = builder_open(builder);
	TEST_NEED(trace);
	TEST_EQ(tfs_trace_summary(trace)->unknown, 2);
	TEST_EQ(tfs_trace_summary(trace)->damages, 0);
	TEST_STR(tfs_trace_string(trace, text), "behind it");
	tfs_trace_close(trace);
	builder_destroy(builder);
}

static void check_aggregates(void)
{
	struct builder *builder = builder_create();
	struct tfs_aggregate total = {.site = 5,
		.function = 2,
		.count = 10,
		.amount = 100,
		.ticks = 1000,
		.longest_ticks = 300,
		.first_ticks = 50,
		.latest_ticks = 90};
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	struct tfs_trace *trace;

	builder_thread(builder, 3);
	builder_aggregate(builder, &total);
	builder_thread(builder, 1);
	total.first_ticks = 40;
	total.latest_ticks = 70;
	total.longest_ticks = 400;
	total.failures = 1;
	builder_aggregate(builder, &total);
	total.site = 4;
	builder_aggregate(builder, &total);
	trace = builder_open(builder);
	TEST_NEED(trace);
	TEST_EQ(tfs_trace_totals(trace, &totals, &shares), 2);
	TEST_EQ(totals[0].sum.site, 4);
	TEST_EQ(totals[1].sum.site, 5);
	TEST_EQ(totals[1].sum.count, 20);
	TEST_EQ(totals[1].sum.first_ticks, 40);
	TEST_EQ(totals[1].sum.latest_ticks, 90);
	TEST_EQ(totals[1].sum.longest_ticks, 400);
	TEST_EQ(totals[1].sum.failures, 1);
	TEST_EQ(totals[1].shares, 2);
	TEST_EQ(shares[totals[1].first_share].thread, 0);
	TEST_EQ(shares[totals[1].first_share + 1].thread, 1);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

static void put_clock(struct builder *builder, uint64_t ticks, uint64_t ns)
{
	const struct tfs_clock_record clock = {.ticks = ticks, .monotonic_ns = ns};

	builder_record(builder, TFS_RECORD_clock, &clock, sizeof(clock));
}

static void check_clock(void)
{
	struct builder *builder = builder_create();
	struct tfs_file_header *header;
	struct tfs_trace *trace;
	size_t size;

	/* 2 ticks a nanosecond, then 4 */
	put_clock(builder, 1002000000, 501000000);
	put_clock(builder, 5002000000, 1501000000);
	put_clock(builder, 5002000001, 1501500000); /* too close to tell a rate */
	header = (void *)builder_bytes(builder, &size);
	header->clock = TFS_CLOCK_TSC;
	header->start_ticks = 2000000;
	header->start_ns = 1000000;
	trace = builder_open(builder);
	TEST_NEED(trace);
	TEST_TRUE(tfs_trace_summary(trace)->calibrated);
	TEST_EQ(tfs_trace_ns(trace, 2000000), 1000000);
	TEST_EQ(tfs_trace_ns(trace, 1002000000), 501000000);
	TEST_IN(tfs_trace_ns(trace, 502000000), 251000000 - 1, 251000000 + 1);
	TEST_IN(tfs_trace_ns(trace, 3002000000), 1001000000 - 1, 1001000000 + 1);
	TEST_IN(tfs_trace_ns(trace, 5002000000 + 4000000), 1502000000 - 1, 1502000000 + 1);
	TEST_EQ(tfs_trace_ns(trace, 0), 0);
	TEST_TRUE(tfs_trace_ns(trace, UINT64_MAX) <= INT64_MAX);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

static void check_refused(void)
{
	struct builder *builder = builder_create();
	struct tfs_damage damage = {0};
	struct tfs_trace *trace = NULL;
	unsigned char *bytes;
	size_t size;

	builder_string(builder, "x");
	bytes = builder_bytes(builder, &size);
	bytes[8] = TFS_FORMAT_VERSION + 1;
	TEST_EQ(tfs_trace_open_memory(bytes, size, &damage, &trace), -EPROTO);
	TEST_EQ(damage.offset, 8);
	TEST_TRUE(strstr(damage.what, "a newer tfshim"));
	bytes[8] = TFS_FORMAT_OLDEST - 1;
	TEST_EQ(tfs_trace_open_memory(bytes, size, &damage, &trace), -EPROTO);
	TEST_TRUE(strstr(damage.what, "an older tfshim"));
	bytes[8] = TFS_FORMAT_OLDEST;
	TEST_EQ(tfs_trace_open_memory(bytes, size, &damage, &trace), 0);
	tfs_trace_close(trace);
	trace = NULL;
	bytes[8] = TFS_FORMAT_VERSION;
	bytes[0] = 'X';
	TEST_EQ(tfs_trace_open_memory(bytes, size, &damage, &trace), -EBADMSG);
	TEST_EQ(tfs_trace_open_memory(bytes, 0, NULL, &trace), -EBADMSG);
	TEST_EQ(tfs_trace_open("/nonexistent/file", &damage, &trace), -ENOENT);
	TEST_EQ(tfs_trace_open("/", &damage, &trace), -EISDIR);
	TEST_TRUE(!trace);
	builder_destroy(builder);
}

static void check_file(void)
{
	struct builder *builder = sample_create(4096, SAMPLE_STEPS);
	char path[] = "/tmp/tfs-reader-XXXXXX";
	struct tfs_trace *from_file = NULL, *from_memory = builder_open(builder);
	int fd = mkstemp(path);

	TEST_NEED(fd >= 0 && from_memory);
	close(fd);
	TEST_EQ(builder_save(builder, path), 0);
	TEST_EQ(tfs_trace_open(path, NULL, &from_file), 0);
	unlink(path);
	TEST_NEED(from_file);
	TEST_EQ(read_all_trace(from_file), read_all_trace(from_memory));
	tfs_trace_close(from_file);
	tfs_trace_close(from_memory);
	builder_destroy(builder);
}

/* Reads exactly `size` bytes, so that a sanitizer sees one byte too many. */
static uint64_t read_copy(const unsigned char *bytes, size_t size)
{
	unsigned char *copy = malloc(size ? size : 1);
	struct tfs_timeline *timeline = NULL;
	struct tfs_trace *trace = NULL;
	uint64_t calls = 0;

	TEST_NEED(copy);
	memcpy(copy, bytes, size);
	if (tfs_trace_open_memory(copy, size, NULL, &trace) == 0) {
		calls = tfs_trace_summary(trace)->calls;
		read_all_trace(trace);
		if (tfs_timeline_create(trace, &timeline) == 0) {
			read_all_timeline(timeline);
			tfs_timeline_destroy(timeline);
		}
		tfs_trace_close(trace);
	}
	free(copy);
	return calls;
}

static void check_cut(void)
{
	struct builder *builder = sample_create(1024, SAMPLE_STEPS);
	uint64_t calls = 0, latest = 0;
	size_t size;
	unsigned char *bytes = builder_bytes(builder, &size);

	for (size_t cut = 0; cut <= size; cut++) {
		calls = read_copy(bytes, cut);
		if (calls < latest) {
			printf("%s:%d: cut at %zu: %u calls after %u\n", __FILE__, __LINE__, cut,
				(unsigned)calls, (unsigned)latest);
			test_report(false);
		}
		latest = calls;
	}
	TEST_EQ(calls, 3 + SAMPLE_STEPS * 5 + 1);
	builder_destroy(builder);
}

/* Every byte of the chunks and of the header's used part, changed in three ways. */
static void check_flips(void)
{
	static const unsigned char flips[] = {0x01, 0x80, 0xff};
	struct builder *builder = sample_create(2048, 2);
	size_t size;
	unsigned char *bytes = builder_bytes(builder, &size);

	for (size_t i = 0; i < size; i++) {
		if (i >= sizeof(struct tfs_file_header) && i < 512)
			continue;
		for (size_t flip = 0; flip < sizeof(flips); flip++) {
			bytes[i] ^= flips[flip];
			read_copy(bytes, size);
			bytes[i] ^= flips[flip];
		}
	}
	builder_destroy(builder);
}

/* What is not committed is not there, and damage in one chunk leaves the others whole. */
static void check_uncommitted(void)
{
	struct builder *builder = builder_create_sized(1024);
	struct tfs_trace *trace;
	struct tfs_chunk *chunk;
	size_t size;

	builder_string(builder, "first");
	builder_string(builder, "second");
	builder_thread(builder, 1);
	builder_string(builder, "third");
	chunk = (void *)(builder_bytes(builder, &size) + 512);
	chunk->committed = 32;
	trace = builder_open(builder);
	TEST_NEED(trace);
	TEST_STR(tfs_trace_string(trace, 1), "first");
	TEST_STR(tfs_trace_string(trace, 2), "");
	TEST_STR(tfs_trace_string(trace, 3), "third");
	tfs_trace_close(trace);
	chunk->committed = 1 << 20;
	trace = builder_open(builder);
	TEST_NEED(trace);
	TEST_TRUE(tfs_trace_summary(trace)->damages > 0);
	TEST_STR(tfs_trace_string(trace, 2), "second");
	TEST_STR(tfs_trace_string(trace, 3), "third");
	tfs_trace_close(trace);
	builder_destroy(builder);
}

/* Of a chunk's first head, the disk took a part: then nothing of the chunk is there, and that is no
 * damage. With something behind it, it is, and so is any other beginning. */
static void check_begun(void)
{
	struct builder *builder = builder_create_sized(1024);
	size_t size;

	builder_string(builder, "first");
	builder_thread(builder, 1);
	builder_string(builder, "second");
	char *chunk = (char *)builder_bytes(builder, &size) + 512;
	struct tfs_chunk head = *(struct tfs_chunk *)(void *)chunk;
	head.committed = 0;
	TEST_EQ(head.offset, 512);
	for (size_t there = 0; there <= sizeof(head); there++) {
		for (unsigned damages = 0; damages < (there > 0 && there <= 32 ? 3 : 1);
			damages++) {
			memset(chunk, 0, 1024);
			memcpy(chunk, &head, there);
			chunk[0] ^= damages == 1;
			chunk[512] = damages == 2;
			struct tfs_trace *trace = builder_open(builder);
			TEST_NEED(trace);
			TEST_EQ(tfs_trace_summary(trace)->damages, damages > 0);
			TEST_STR(tfs_trace_string(trace, 1), "");
			TEST_STR(tfs_trace_string(trace, 2), "second");
			tfs_trace_close(trace);
		}
	}
	builder_destroy(builder);
}

/* The record that was being written when the process was killed is no damage; elsewhere it is. */
static void check_killed(void)
{
	struct builder *builder = builder_create_sized(1024);
	struct tfs_file_header *header;
	struct tfs_trace *trace;
	struct tfs_chunk *chunk;
	size_t size;

	builder_string(builder, "whole");
	header = (void *)builder_bytes(builder, &size);
	chunk = (void *)((char *)header + 512);
	TEST_EQ(chunk->committed, TFS_UNIT);
	chunk->committed += TFS_UNIT;
	((char *)(chunk + 1))[TFS_UNIT] = TFS_RECORD_call;
	for (uint64_t finished = 0; finished < 2; finished++) {
		header->finished = finished;
		trace = builder_open(builder);
		TEST_NEED(trace);
		TEST_EQ(tfs_trace_summary(trace)->damages, finished);
		TEST_STR(tfs_trace_string(trace, 1), "whole");
		tfs_trace_close(trace);
	}
	builder_destroy(builder);
}

int main(void)
{
	check_whole();
	check_ids();
	check_wild_id();
	check_unknown_kinds();
	check_aggregates();
	check_clock();
	check_refused();
	check_file();
	check_cut();
	check_flips();
	check_uncommitted();
	check_begun();
	check_killed();
	return test_result();
}
