/* SPDX-License-Identifier: MIT */
/* What becomes of other tools' calls and work in a recording of ours, and whose work it is where
 * several processes share a trace. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/collected/collected.h"
#include "reports/import/kineto/shares.h"
#include "reports/import/making/recording.h"
#include "shim/trace/trace.h"
#include "tests/test.h"

#define FIRST UINT64_C(1000000000) /* the first moment of a recording that is made */

static uint32_t name(struct tfs_collected *from, const char *text)
{
	return tfs_texts_id(&from->names, text, strlen(text));
}

static struct tfs_collected_call *add_call(struct tfs_collected *from, uint32_t tid,
	const char *function, int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
	struct tfs_collected_call *call =
		tfs_collected_more(&from->calls, &from->call_count, sizeof(*from->calls));

	TEST_NEED(call);
	*call = (struct tfs_collected_call){.start_ns = start_ns,
		.end_ns = end_ns,
		.tid = tid,
		.name = name(from, function),
		.correlation = correlation};
	return call;
}

static struct tfs_collected_op *add_op(struct tfs_collected *from, uint16_t device, uint32_t stream,
	int64_t start_ns, int64_t end_ns, uint32_t correlation)
{
	struct tfs_collected_op *op =
		tfs_collected_more(&from->ops, &from->op_count, sizeof(*from->ops));

	TEST_NEED(op);
	*op = (struct tfs_collected_op){.start_ns = start_ns,
		.end_ns = end_ns,
		.name = name(from, "kernel"),
		.operation = TFS_DEVICE_KERNEL,
		.correlation = correlation,
		.stream = stream,
		.device = device};
	return op;
}

static void add_span(struct tfs_collected *from, bool range, uint32_t tid, const char *function,
	int64_t start_ns, int64_t end_ns)
{
	struct tfs_collected_span *span =
		range ? tfs_collected_more(&from->ranges, &from->range_count, sizeof(*span))
		      : tfs_collected_more(&from->spans, &from->span_count, sizeof(*span));

	TEST_NEED(span);
	*span = (struct tfs_collected_span){.start_ns = start_ns,
		.end_ns = end_ns,
		.tid = tid,
		.function = name(from, function)};
}

/* The recording; what was collected is gone then. */
static struct tfs_trace *make(struct tfs_collected *from, void **out_bytes)
{
	struct tfs_trace *trace = NULL;
	size_t size;

	strcpy(from->tool, "a tool");
	TEST_NEED(!tfs_recording_make(from, out_bytes, &size));
	TEST_NEED(!tfs_trace_open_memory(*out_bytes, size, NULL, &trace));
	tfs_collected_finish(from);
	return trace;
}

#define MOST_CALLS 8u

/* The calls of all threads. */
static size_t list_calls(
	const struct tfs_trace *trace, const struct tfs_call *out_calls[MOST_CALLS])
{
	const struct tfs_trace_thread *threads;
	const struct tfs_call *call;
	struct tfs_cursor cursor;
	size_t count = 0;

	for (size_t i = tfs_trace_threads(trace, &threads); i-- > 0;) {
		tfs_cursor_start(&cursor, trace, i);
		while ((call = tfs_cursor_next(&cursor)) && count < MOST_CALLS)
			out_calls[count++] = call;
	}
	return count;
}

/* Work beside the default stream's shows that a stream does not wait for that; work of another
 * device, or before and after it, does not. */
static void kinds_of_streams(void)
{
	static const struct {
		uint32_t stream;
		uint16_t device;
		uint32_t flags;
	} known[] = {{13, 0, 4}, {7, 0, 1}, {14, 0, 0}, {15, 1, 0}, {16, 0, 2}, {17, 0, 4}};
	struct tfs_collected from = {0};
	void *bytes;
	unsigned found = 0;

	add_op(&from, 0, 13, 0, 150, 1);
	add_op(&from, 0, 7, 100, 200, 2);
	add_op(&from, 1, 15, 110, 190, 3);
	add_op(&from, 0, 17, 150, 160, 6);
	add_op(&from, 0, 14, 200, 300, 4);
	add_op(&from, 0, 16, 310, 320, 5);
	struct tfs_collected_stream *told =
		tfs_collected_more(&from.streams, &from.stream_count, sizeof(*told));

	TEST_NEED(told);
	*told = (struct tfs_collected_stream){16, 2};
	struct tfs_trace *trace = make(&from, &bytes);

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_stream); i++) {
		const struct tfs_stream_record *stream = tfs_trace_at(trace, TFS_RECORD_stream, i);

		for (size_t j = 0; j < sizeof(known) / sizeof(known[0]); j++) {
			if (stream->cupti_id != known[j].stream)
				continue;
			found++;
			if (!TEST_EQ(stream->flags, known[j].flags) ||
				!TEST_EQ(stream->device, known[j].device))
				printf("stream %u\n", stream->cupti_id);
		}
	}
	TEST_EQ(found, sizeof(known) / sizeof(known[0]));
	tfs_trace_close(trace);
	free(bytes);
}

/* The number of the stream that a tool calls so; TFS_NO_STREAM when the recording has none. */
static uint32_t stream_called(const struct tfs_trace *trace, uint32_t name)
{
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_stream); i++) {
		const struct tfs_stream_record *stream = tfs_trace_at(trace, TFS_RECORD_stream, i);

		if (stream->cupti_id == name)
			return stream->id;
	}
	return TFS_NO_STREAM;
}

/* A recording has so many and no more; the work of the last one has its stream as all others. */
static void as_many_streams_as_there_are_numbers(void)
{
	enum { FIRST_NAME = 100, STREAMS = 4096 };
	const struct tfs_call *calls[MOST_CALLS];
	struct tfs_collected from = {0};
	void *bytes;

	for (unsigned i = 0; i <= STREAMS; i++)
		add_op(&from, 0, FIRST_NAME + i, 100 * i + 20, 100 * i + 30, i + 1);
	for (unsigned i = STREAMS - 2; i <= STREAMS; i++)
		add_call(&from, 1, "cudaLaunchKernel", 100 * i, 100 * i + 10, i + 1);
	struct tfs_trace *trace = make(&from, &bytes);

	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_stream), STREAMS);
	if (TEST_EQ(list_calls(trace, calls), 3)) {
		for (unsigned i = 0; i < 3; i++)
			TEST_EQ(calls[i]->stream,
				stream_called(trace, FIRST_NAME + STREAMS - 2 + i));
		TEST_TRUE(calls[0]->stream != calls[1]->stream);
		TEST_TRUE(calls[1]->stream != TFS_NO_STREAM);
		TEST_EQ(calls[2]->stream, TFS_NO_STREAM);
	}
	tfs_trace_close(trace);
	free(bytes);
}

/* The runtime's call launches by the driver's: the work is the runtime's, and the call one. */
static void calls_within_calls(void)
{
	struct tfs_collected from = {.pid = 41, .rank = 3, .base_ns = 5000, .not_taken = 6};
	void *bytes;

	add_call(&from, 9, "cudaLaunchKernel", 1000, 1100, 1);
	add_call(&from, 9, "cuLaunchKernel", 1010, 1090, 2);
	add_call(&from, 9, "cudaDeviceSynchronize", 1100, 1500, 3);
	/* Another thread's at the same time is no part of it. */
	add_call(&from, 10, "cudaFree", 1020, 1030, 4);
	/* The clocks of host and device differ: this is the first moment. */
	add_op(&from, 0, 7, 900, 1400, 2)->bytes = 64;
	struct tfs_trace *trace = make(&from, &bytes);
	const struct tfs_file_header *header = tfs_trace_header(trace);
	const struct tfs_call *calls[MOST_CALLS];
	uint32_t units[5] = {0};

	TEST_EQ(header->pid, 41);
	TEST_EQ(header->rank, 3);
	TEST_EQ(header->start_realtime_ns, 5900);
	TEST_EQ(header->lost[TFS_LOSS_cupti_unknown], 6);
	const size_t count = list_calls(trace, calls);

	TEST_EQ(count, 3);
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_thread), 2);
	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_link), 4);
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_link); i++) {
		const struct tfs_link_record *link = tfs_trace_at(trace, TFS_RECORD_link, i);

		if (TEST_IN(link->correlation, 1, 4))
			units[link->correlation] = link->call_unit;
	}
	TEST_EQ(units[1], units[2]);
	TEST_TRUE(units[2] != units[3] && units[3] != units[4]);
	const struct tfs_device_op_record *op = tfs_trace_at(trace, TFS_RECORD_device_op, 0);

	TEST_EQ(op->start_ns, FIRST);
	TEST_EQ(op->end_ns, FIRST + 500);
	TEST_STR(tfs_trace_kernel(trace, op->kernel), "kernel");
	for (size_t i = 0; i < count; i++) {
		const struct tfs_call *call = calls[i];
		const char *function = tfs_trace_function(trace, call->function);

		if (!strcmp(function, "cudaDeviceSynchronize")) {
			TEST_EQ(call->start_ticks, FIRST + 200);
			TEST_EQ(call->duration_ticks, 400);
		} else {
			TEST_TRUE(!strcmp(function, "cudaLaunchKernel") ||
				  !strcmp(function, "cudaFree"));
		}
	}
	const struct tfs_window_record *end = tfs_trace_at(trace, TFS_RECORD_window, 1);

	TEST_EQ(end->ticks, FIRST + 601);
	tfs_trace_close(trace);
	free(bytes);
}

/* Where a step is missing, the one before it has an end; of several the first is no evidence. */
static void marks_of_steps(void)
{
	static const struct {
		uint64_t index, start_ns;
		enum tfs_phase phase;
	} known[] = {{4, 0, TFS_PHASE_WARMUP}, {5, 100, TFS_PHASE_TRAINING},
		{5, 190, TFS_PHASE_OTHER}, {8, 400, TFS_PHASE_TRAINING}, {8, 490, TFS_PHASE_OTHER}};
	static const struct tfs_collected_step steps[] = {{400, 490, 8}, {0, 90, 4}, {100, 190, 5}};
	struct tfs_collected from = {0};
	void *bytes;

	for (unsigned i = 0; i < 3; i++) {
		struct tfs_collected_step *step =
			tfs_collected_more(&from.steps, &from.step_count, sizeof(*step));

		TEST_NEED(step);
		*step = steps[i];
	}
	struct tfs_trace *trace = make(&from, &bytes);

	TEST_NEED(tfs_trace_count(trace, TFS_RECORD_step) == 5);
	for (size_t i = 0; i < 5; i++) {
		const struct tfs_step_record *mark = tfs_trace_at(trace, TFS_RECORD_step, i);

		TEST_EQ(mark->index, known[i].index);
		TEST_EQ(mark->start_ticks, FIRST + known[i].start_ns);
		TEST_EQ(mark->phase, known[i].phase);
	}
	tfs_trace_close(trace);
	free(bytes);
}

static void levels_of_ranges(void)
{
	static const struct {
		const char *name;
		uint32_t tid;
		int64_t start_ns, end_ns;
		uint16_t level;
	} known[] = {{"inner", 1, 100, 200, 1}, {"next", 1, 200, 900, 1},
		{"outer", 1, 100, 1000, 0}, {"innermost", 1, 300, 400, 2},
		{"after", 1, 1000, 1100, 0}, {"other thread", 2, 1050, 1060, 0}};
	struct tfs_collected from = {0};
	void *bytes;

	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		add_span(&from, true, known[i].tid, known[i].name, known[i].start_ns,
			known[i].end_ns);
	struct tfs_trace *trace = make(&from, &bytes);

	TEST_EQ(tfs_trace_count(trace, TFS_RECORD_range), sizeof(known) / sizeof(known[0]));
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_range); i++) {
		const struct tfs_range_record *range = tfs_trace_at(trace, TFS_RECORD_range, i);
		const char *text = tfs_trace_string(trace, range->name);
		size_t j = 0;

		while (j < sizeof(known) / sizeof(known[0]) && strcmp(known[j].name, text) != 0)
			j++;
		TEST_NEED(j < sizeof(known) / sizeof(known[0]));
		if (!TEST_EQ(range->level, known[j].level) ||
			!TEST_EQ(range->duration_ticks, known[j].end_ns - known[j].start_ns))
			printf("%s\n", text);
	}
	tfs_trace_close(trace);
	free(bytes);
}

/* The functions around a call, the innermost first, up to "main". */
static void check_site(const struct tfs_trace *trace, uint32_t site, const char *const *functions)
{
	const uint64_t *frames;
	const unsigned count = site ? tfs_trace_frames(trace, site, &frames) : 0;
	unsigned i = 0;

	for (; i < count && functions[i]; i++)
		TEST_STR(tfs_trace_string(trace, TFS_FRAME_FUNCTION(frames[i])), functions[i]);
	TEST_EQ(count, i);
	TEST_TRUE(!functions[i]);
}

/* Spans that a call lies in are its stack: of its own thread, and such as have not ended. */
static void call_sites(void)
{
	static const struct {
		const char *call;
		uint32_t tid;
		int64_t start_ns;
		const char *const functions[3];
	} known[] = {{"first", 1, 120, {"inner", "outer"}}, {"second", 1, 200, {"next", "outer"}},
		{"third", 1, 950, {"outer"}}, {"fourth", 1, 1200, {NULL}},
		{"fifth", 2, 130, {"own"}}, {"sixth", 3, 130, {NULL}}};
	struct tfs_collected from = {0};
	void *bytes;

	add_span(&from, false, 1, "inner", 100, 199);
	add_span(&from, false, 1, "outer", 100, 1000);
	add_span(&from, false, 1, "next", 200, 900);
	add_span(&from, false, 2, "own", 90, 140);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		add_call(&from, known[i].tid, known[i].call, known[i].start_ns,
			known[i].start_ns + 5, (uint32_t)i + 1);
	struct tfs_trace *trace = make(&from, &bytes);

	const struct tfs_call *calls[MOST_CALLS];
	const size_t count = list_calls(trace, calls);

	TEST_EQ(count, sizeof(known) / sizeof(known[0]));
	for (size_t i = 0; i < count; i++) {
		const struct tfs_call *call = calls[i];
		const char *text = tfs_trace_function(trace, call->function);
		size_t j = 0;

		while (j < sizeof(known) / sizeof(known[0]) && strcmp(known[j].call, text) != 0)
			j++;
		TEST_NEED(j < sizeof(known) / sizeof(known[0]));
		check_site(trace, call->site, known[j].functions);
	}
	tfs_trace_close(trace);
	free(bytes);
}

/* Work of two processes: which of it is ours, by correlation id. */
static void check_shares(struct tfs_collected *from, struct tfs_kineto_foreign *foreign,
	size_t count, int err, const uint32_t *kept)
{
	size_t i = 0;

	TEST_EQ(tfs_kineto_share(from, foreign, count), err);
	for (; !err && i < from->op_count && kept[i]; i++)
		TEST_EQ(from->ops[i].correlation, kept[i]);
	TEST_TRUE(err || (i == from->op_count && !kept[i]));
	tfs_collected_finish(from);
}

static void whose_work(void)
{
	struct tfs_collected from = {0};

	/* Only we have made call 1, and only they call 2; of call 3 ours comes after the work, and
	 * nobody made call 9. */
	add_call(&from, 1, "a", 1000, 1010, 1);
	add_call(&from, 1, "a", 900000, 900010, 3);
	add_op(&from, 0, 7, 1020, 1030, 1);
	add_op(&from, 1, 7, 1020, 1030, 2);
	add_op(&from, 5, 7, 2000, 2010, 3);
	add_op(&from, 6, 7, 2000, 2010, 9);
	check_shares(&from, (struct tfs_kineto_foreign[]){{3, 1000}, {2, 1000}}, 2, 0,
		(const uint32_t[]){1, 0});
	/* What both have called is ours on the device that is. */
	add_call(&from, 1, "a", 1000, 1010, 1);
	add_call(&from, 1, "a", 1000, 1010, 4);
	add_op(&from, 0, 7, 1020, 1030, 1);
	add_op(&from, 0, 7, 1040, 1050, 4);
	add_op(&from, 1, 7, 1040, 1050, 4);
	add_op(&from, 1, 7, 1040, 1050, 2);
	check_shares(&from, (struct tfs_kineto_foreign[]){{4, 1000}, {2, 1000}}, 2, 0,
		(const uint32_t[]){1, 4, 0});
	/* Nothing is known of device 3, but that our call's work is on device 0. */
	add_call(&from, 1, "a", 1000, 1010, 1);
	add_call(&from, 1, "a", 1000, 1010, 4);
	add_op(&from, 3, 7, 1040, 1050, 4);
	add_op(&from, 0, 7, 1020, 1030, 1);
	add_op(&from, 0, 7, 1040, 1050, 4);
	check_shares(
		&from, (struct tfs_kineto_foreign[]){{4, 1000}}, 1, 0, (const uint32_t[]){1, 4, 0});
	/* Or that theirs is on device 1. */
	add_call(&from, 1, "a", 1000, 1010, 4);
	add_op(&from, 3, 7, 1040, 1050, 4);
	add_op(&from, 1, 7, 1020, 1030, 2);
	add_op(&from, 1, 7, 1045, 1055, 4);
	check_shares(&from, (struct tfs_kineto_foreign[]){{4, 1000}, {2, 1000}}, 2, 0,
		(const uint32_t[]){4, 0});
	/* On one device with nothing that tells them apart. */
	add_call(&from, 1, "a", 1000, 1010, 4);
	add_op(&from, 0, 7, 1040, 1050, 4);
	check_shares(&from, (struct tfs_kineto_foreign[]){{4, 1000}}, 1, -EILSEQ, NULL);
}

/* Of an id that both used, the first call counts, and clocks are not alike to the microsecond. */
static void whose_work_by_time(void)
{
	struct tfs_collected from = {0};

	add_call(&from, 1, "a", 500000, 500010, 1);
	add_call(&from, 1, "a", 3000, 3010, 1);
	add_op(&from, 0, 7, 1001, 2000, 1);
	check_shares(&from, (struct tfs_kineto_foreign[]){{1, 3002}, {1, 900000}}, 2, 0,
		(const uint32_t[]){1, 0});
}

int main(void)
{
	kinds_of_streams();
	as_many_streams_as_there_are_numbers();
	calls_within_calls();
	marks_of_steps();
	levels_of_ranges();
	call_sites();
	whose_work();
	whose_work_by_time();
	return test_result();
}
