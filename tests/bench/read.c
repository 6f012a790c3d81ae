/* SPDX-License-Identifier: MIT */
/*
 * How fast a recording is read: records per second of a full read (open, then walk every call) and
 * of laying out the timeline, against a plain loop over the same mapped bytes in the same run.
 * Rounds are interleaved and medians printed, so that a busy machine slows all rows alike.
 *
 *	read [millions of records]
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rules/timeline/timeline.h"
#include "tests/unit/scenes/builder.h"

#define ROUNDS 7
#define CALLS_PER_STEP 100

enum { LOOP, READ, TIMELINE, ROWS };

struct maker {
	struct builder *builder;
	uint16_t function[8];
	uint32_t site[64];
	uint32_t correlation;
	uint64_t ns;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

static int compare(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return a < b ? -1 : a > b;
}

static double median(double *values)
{
	qsort(values, ROUNDS, sizeof(*values), compare);
	return values[ROUNDS / 2];
}

static void define(struct maker *maker)
{
	for (unsigned i = 0; i < 8; i++)
		maker->function[i] = builder_function(maker->builder, TFS_LIBRARY_cudart,
			i == 0 ? TFS_FAMILY_alloc : TFS_FAMILY_launch, "cudaFunction");
	for (uint64_t i = 0; i < 64; i++)
		maker->site[i] = builder_site(maker->builder, 2, (uint64_t[]){i, 0x1000});
	for (uint64_t i = 0; i < 256; i++) {
		struct builder_call call = {
			.function = maker->function[0], .start_ns = maker->ns += 100};

		builder_operand(&call, TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE),
			0x7f0000000000 + (i << 20), 1 << 20);
		builder_call(maker->builder, &call);
	}
}

/* A call that does what calls of a trainer do; `rich` ones have operands and cause device work. */
static void put_call(struct maker *maker, unsigned nth, bool rich)
{
	struct builder_call call = {.function = maker->function[1 + nth % 7],
		.site = maker->site[nth % 64],
		.start_ns = maker->ns,
		.duration_ns = 1500};
	uint32_t unit;

	maker->ns += 2000;
	for (unsigned i = 0; rich && i < 3; i++)
		builder_operand(&call, i ? TFS_ROLE_READ : TFS_ROLE_WRITE,
			0x7f0000000000 + ((uint64_t)(nth * 7 + i) % 256 << 20), 65536);
	if (rich)
		builder_attribute(&call, TFS_ATTRIBUTE_kernel, 1);
	unit = builder_call(maker->builder, &call);
	if (rich) {
		builder_link(maker->builder, unit, ++maker->correlation);
		builder_device_op(maker->builder, TFS_DEVICE_KERNEL, 1, 7, maker->correlation,
			maker->ns + 3000, maker->ns + 4500, 0);
	}
}

static struct builder *make(uint64_t records, bool rich)
{
	struct maker maker = {.builder = builder_create(), .ns = 1000};
	uint64_t calls = rich ? records / 3 : records;

	define(&maker);
	builder_window(maker.builder, true, 1, maker.ns, 3);
	for (uint64_t i = 0; i < calls; i++) {
		if (i % CALLS_PER_STEP == 0)
			builder_step(maker.builder, i / CALLS_PER_STEP + 1, maker.ns,
				TFS_PHASE_TRAINING, 2);
		put_call(&maker, (unsigned)i, rich);
	}
	return maker.builder;
}

static int map_file(const char *path, const unsigned char **out_bytes, size_t *out_size)
{
	int fd = open(path, O_RDONLY);
	off_t size = fd < 0 ? -1 : lseek(fd, 0, SEEK_END);
	void *bytes =
		size < 0 ? MAP_FAILED : mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, fd, 0);

	close(fd);
	if (bytes == MAP_FAILED)
		return -1;
	*out_bytes = bytes;
	*out_size = (size_t)size;
	return 0;
}

/* Nothing but the records: lengths, kinds and start times. */
static uint64_t plain_loop(const char *path)
{
	const unsigned char *bytes;
	uint64_t sum = 0;
	size_t size;

	if (map_file(path, &bytes, &size))
		return 0;
	for (size_t chunk = TFS_HEADER_BYTES, step; chunk < size; chunk += step) {
		const struct tfs_chunk *head = (const void *)(bytes + chunk);
		step = head->bytes != 0 ? head->bytes : TFS_CHUNK_STEP;
		const unsigned char *at = (const void *)(head + 1), *end = at + head->committed;

		while (at < end) {
			const struct tfs_call *call = (const void *)at;

			sum += call->record.kind == TFS_RECORD_call ? call->start_ticks : 1;
			at += call->record.units * TFS_UNIT;
		}
	}
	munmap((void *)(uintptr_t)bytes, size);
	return sum;
}

static uint64_t full_read(const char *path, bool timeline)
{
	struct tfs_timeline *laid_out = NULL;
	struct tfs_trace *trace = NULL;
	const struct tfs_call *call;
	struct tfs_cursor cursor;
	uint64_t sum = 0;

	if (tfs_trace_open(path, NULL, &trace))
		return 0;
	if (timeline && tfs_timeline_create(trace, &laid_out) == 0) {
		sum = laid_out->call_count + laid_out->op_count + laid_out->judged_count;
		tfs_timeline_destroy(laid_out);
	} else {
		tfs_cursor_start(&cursor, trace, 0);
		while ((call = tfs_cursor_next(&cursor)))
			sum += call->start_ticks;
	}
	tfs_trace_close(trace);
	return sum;
}

static uint64_t run(const char *path, unsigned row)
{
	return row == LOOP ? plain_loop(path) : full_read(path, row == TIMELINE);
}

static int measure(const char *what, uint64_t records, bool rich)
{
	static const char *const names[ROWS] = {"plain loop", "read", "read and lay out"};
	double seconds[ROWS][ROUNDS], loop = 0;
	struct builder *builder = make(records, rich);
	char path[] = "/tmp/tfs-bench-XXXXXX";
	int fd = mkstemp(path);
	size_t size;

	builder_bytes(builder, &size);
	if (fd < 0 || builder_save(builder, path)) {
		fprintf(stderr, "%s: cannot be written\n", path);
		return 1;
	}
	close(fd);
	builder_destroy(builder);
	for (unsigned round = 0; round < ROUNDS; round++) {
		for (unsigned row = 0; row < ROWS; row++) {
			double start = now();

			if (!run(path, row))
				fprintf(stderr, "%s: nothing was read\n", names[row]);
			seconds[row][round] = now() - start;
		}
	}
	unlink(path);
	printf("%s: %.1f M records, %.0f MB\n", what, (double)records * 1e-6, (double)size * 1e-6);
	for (unsigned row = 0; row < ROWS; row++) {
		double rate = (double)records * 1e-6 / median(seconds[row]);

		loop = row == LOOP ? rate : loop;
		printf("  %-18s %7.1f M records/s  (%.2f of the loop)\n", names[row], rate,
			rate / loop);
	}
	return 0;
}

int main(int count, char **arguments)
{
	uint64_t records = (uint64_t)((count > 1 ? atof(arguments[1]) : 2) * 1e6);

	return measure("plain calls", records, false) ||
	       measure("calls, operands, device work", records, true);
}
