/* SPDX-License-Identifier: MIT */
#include "rules/evidence/meanwhile.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/support/figures.h"
#include "rules/support/sort.h"

/* A share of fewer samples is off by a fifth of all or more, nineteen times out of twenty. */
#define LEAST_SAMPLES 20u
#define LEAST_CROWDS 5u
/* What is less is not worth a word. */
#define WORTH_SHARE 0.05
/* What a thread waits for that hardly runs, before it runs, is not a processor. */
#define LEAST_RUNNING 0.25
#define WORTH_BYTES 4096.0
/* Addresses that are looked up: a function has tens to hundreds of its own. */
#define MOST_CODE 4096u

static const struct tfs_host_record *sample_at(const struct tfs_timeline *timeline, uint32_t item)
{
	return tfs_trace_at(timeline->trace, TFS_RECORD_host, item);
}

/* The samples at one thread, by time. */
static int sort_samples(
	const struct tfs_timeline *timeline, uint32_t tid, struct tfs_key **out_keys, size_t *count)
{
	const size_t all = tfs_trace_count(timeline->trace, TFS_RECORD_host);
	struct tfs_key *keys = malloc((all + 1u) * sizeof(*keys));

	*out_keys = keys;
	*count = 0;
	for (uint32_t i = 0; keys && i < all; i++)
		if (sample_at(timeline, i)->tid == tid)
			keys[(*count)++] = (struct tfs_key){sample_at(timeline, i)->ns, i};
	return keys ? tfs_sort_keys(keys, *count) : -ENOMEM;
}

static bool holds(const struct tfs_intervals *stretches, uint64_t ns)
{
	return tfs_intervals_covered(stretches, ns, ns + 1) != 0;
}

/* Figures that went on between two samples: at least one of them lies in a stretch. */
struct gone {
	uint64_t ran_ns, queued_ns, read_bytes;
	bool times, reads;
};

static void go_on(struct gone *gone, struct tfs_meanwhile *meanwhile,
	const struct tfs_host_record *before, const struct tfs_host_record *sample)
{
	const uint32_t known = before->known & sample->known;

	if ((known & TFS_HOST_HAS_TIMES) && sample->ran_ns >= before->ran_ns &&
		sample->queued_ns >= before->queued_ns) {
		gone->ran_ns += sample->ran_ns - before->ran_ns;
		gone->queued_ns += sample->queued_ns - before->queued_ns;
		gone->times = true;
	}
	if ((known & TFS_HOST_HAS_READS) && sample->read_bytes >= before->read_bytes) {
		gone->read_bytes += sample->read_bytes - before->read_bytes;
		gone->reads = true;
	}
	if (sample->faults >= before->faults)
		meanwhile->faults += sample->faults - before->faults;
}

static int find_samples(const struct tfs_timeline *timeline, uint32_t tid,
	const struct tfs_intervals *stretches, struct tfs_meanwhile *meanwhile)
{
	const struct tfs_host_record *before = NULL;
	struct gone gone = {0};
	struct tfs_key *keys;
	bool was_in = false;
	size_t count;
	const int err = sort_samples(timeline, tid, &keys, &count);

	for (size_t i = 0; !err && i < count; i++) {
		const struct tfs_host_record *sample = sample_at(timeline, keys[i].value);
		const bool in = holds(stretches, sample->ns);

		if (before && (in || was_in))
			go_on(&gone, meanwhile, before, sample);
		if (in) {
			meanwhile->samples++;
			meanwhile
				->doing[sample->doing < TFS_HOST_DOING_COUNT ? sample->doing : 0]++;
		}
		before = sample;
		was_in = in;
	}
	if (gone.times && gone.ran_ns + gone.queued_ns > 0)
		meanwhile->queued =
			(double)gone.queued_ns / ((double)gone.queued_ns + (double)gone.ran_ns);
	if (gone.reads)
		meanwhile->read_bytes = (double)gone.read_bytes;
	free(keys);
	return err;
}

static void add_crowd(struct tfs_crowd *sum, const struct tfs_host_crowd *crowd)
{
	sum->count += crowd->count;
	sum->running += crowd->running;
	sum->disk += crowd->disk;
}

static void divide(struct tfs_crowd *sum, uint32_t by)
{
	sum->count /= by;
	sum->running /= by;
	sum->disk /= by;
}

static void find_others(const struct tfs_timeline *timeline, const struct tfs_intervals *stretches,
	struct tfs_meanwhile *meanwhile)
{
	const size_t all = tfs_trace_count(timeline->trace, TFS_RECORD_host_others);

	for (size_t i = 0; i < all; i++) {
		const struct tfs_host_others_record *others =
			tfs_trace_at(timeline->trace, TFS_RECORD_host_others, i);

		if (!holds(stretches, others->ns))
			continue;
		meanwhile->crowds++;
		add_crowd(&meanwhile->threads, &others->threads);
		add_crowd(&meanwhile->children, &others->children);
	}
	if (!meanwhile->crowds)
		return;
	divide(&meanwhile->threads, meanwhile->crowds);
	divide(&meanwhile->children, meanwhile->crowds);
}

/* The addresses of a thread's code in the stretches, in order. */
static size_t sort_code(const struct tfs_timeline *timeline, uint32_t tid,
	const struct tfs_intervals *stretches, struct tfs_key *keys)
{
	const size_t all = tfs_trace_count(timeline->trace, TFS_RECORD_host_code);
	size_t count = 0;

	for (uint32_t i = 0; i < all; i++) {
		const struct tfs_host_code_record *code =
			tfs_trace_at(timeline->trace, TFS_RECORD_host_code, i);

		if (code->tid == tid && holds(stretches, code->ns))
			keys[count++] = (struct tfs_key){code->address, i};
	}
	return tfs_sort_keys(keys, count) ? 0 : count;
}

static int by_samples(const void *left, const void *right)
{
	const struct tfs_code *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int find_code(const struct tfs_timeline *timeline, uint32_t tid,
	const struct tfs_intervals *stretches, struct tfs_pool *pool,
	struct tfs_meanwhile *meanwhile)
{
	const size_t all = tfs_trace_count(timeline->trace, TFS_RECORD_host_code);
	struct tfs_key *keys = malloc((all + 1u) * sizeof(*keys));
	const size_t count = keys ? sort_code(timeline, tid, stretches, keys) : 0;
	struct tfs_code *code = count ? tfs_pool_alloc(pool, count, sizeof(*code)) : NULL;
	uint32_t used = 0;

	for (size_t i = 0; code && i < count; i++) {
		if (used == 0 || code[used - 1].address != keys[i].key)
			code[used++] = (struct tfs_code){keys[i].key, 0};
		code[used - 1].samples++;
	}
	if (code)
		qsort(code, used, sizeof(*code), by_samples);
	meanwhile->code = code;
	meanwhile->code_count = used < MOST_CODE ? used : MOST_CODE;
	meanwhile->code_samples = (uint32_t)count;
	free(keys);
	return keys && (code || !count) ? 0 : -ENOMEM;
}

int tfs_meanwhile_find(const struct tfs_timeline *timeline, uint32_t thread,
	const struct tfs_intervals *stretches, struct tfs_pool *pool,
	struct tfs_meanwhile *out_meanwhile)
{
	const uint32_t tid = timeline->threads[thread].tid;

	*out_meanwhile = (struct tfs_meanwhile){.queued = NAN, .read_bytes = NAN};
	const int err = find_samples(timeline, tid, stretches, out_meanwhile);
	find_others(timeline, stretches, out_meanwhile);
	return err ? err : find_code(timeline, tid, stretches, pool, out_meanwhile);
}

enum tfs_host_doing tfs_meanwhile_most(const struct tfs_meanwhile *meanwhile)
{
	unsigned most = TFS_HOST_unknown;

	if (meanwhile->samples < LEAST_SAMPLES)
		return TFS_HOST_unknown;
	for (unsigned i = 1; i < TFS_HOST_DOING_COUNT; i++)
		if (meanwhile->doing[i] > meanwhile->doing[most])
			most = i;
	return (enum tfs_host_doing)most;
}

bool tfs_meanwhile_waits(const struct tfs_meanwhile *meanwhile)
{
	const uint32_t waits = meanwhile->doing[TFS_HOST_pipe] + meanwhile->doing[TFS_HOST_socket] +
			       meanwhile->doing[TFS_HOST_lock] + meanwhile->doing[TFS_HOST_ready] +
			       meanwhile->doing[TFS_HOST_process];

	return meanwhile->samples >= LEAST_SAMPLES && waits > meanwhile->samples / 2;
}

static const char *text_of(unsigned doing)
{
	static const char *const texts[] = {
#define X(number, constant, text) [number] = (text),
		TFS_HOST_DOINGS(X)
#undef X
	};

	return texts[doing];
}

/* What it is found at most often that was not told yet; false = nothing else is worth a word. */
static bool next_most(const struct tfs_meanwhile *meanwhile, bool *told, unsigned *out_doing)
{
	uint32_t most = 0;

	for (unsigned i = 0; i < TFS_HOST_DOING_COUNT; i++) {
		if (told[i] || meanwhile->doing[i] <= most)
			continue;
		most = meanwhile->doing[i];
		*out_doing = i;
	}
	told[*out_doing] = true;
	return most >= WORTH_SHARE * meanwhile->samples;
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
	add(text, bytes, "; of %s, %.2g ran on average",
		tfs_figure_number(crowd->count, one, many).text, crowd->running);
	if (crowd->disk >= WORTH_SHARE * crowd->count)
		add(text, bytes, " and %.2g waited as for a disk", crowd->disk);
}

void tfs_meanwhile_text(
	const struct tfs_meanwhile *meanwhile, double steps, char *out_text, size_t bytes)
{
	bool told[TFS_HOST_DOING_COUNT] = {false};
	unsigned doing = 0;
	const char *comma = "";

	out_text[0] = '\0';
	if (meanwhile->samples < LEAST_SAMPLES)
		return;
	add(out_text, bytes, "in %u samples the thread was ", meanwhile->samples);
	for (; next_most(meanwhile, told, &doing); comma = ", ")
		add(out_text, bytes, "%s%s (%s)", comma, text_of(doing),
			tfs_figure_share((double)meanwhile->doing[doing] / meanwhile->samples)
				.text);
	if (meanwhile->queued >= WORTH_SHARE &&
		meanwhile->doing[TFS_HOST_code] >= LEAST_RUNNING * meanwhile->samples)
		add(out_text, bytes,
			"; for %s of the time in which it could run, no processor was free",
			tfs_figure_share(meanwhile->queued).text);
	if (tfs_meanwhile_waits(meanwhile) && meanwhile->crowds >= LEAST_CROWDS) {
		add_others(
			out_text, bytes, &meanwhile->children, "child process", "child processes");
		add_others(out_text, bytes, &meanwhile->threads, "other thread", "other threads");
	}
	if (meanwhile->read_bytes >= WORTH_BYTES * steps)
		add(out_text, bytes, "; it read %s per step",
			tfs_figure_bytes(meanwhile->read_bytes / steps).text);
	if (meanwhile->faults > steps)
		add(out_text, bytes, "; pages were read from a disk %.3g times per step",
			(double)meanwhile->faults / steps);
}
