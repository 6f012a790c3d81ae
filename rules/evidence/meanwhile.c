/* SPDX-License-Identifier: MIT */
#include "rules/evidence/meanwhile.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/support/sort.h"

/* A share of fewer samples is off by a fifth of all or more, nineteen times out of twenty; those of
 * one stretch are hardly more than one, unless there are no others. */
#define LEAST_SAMPLES 20u
#define LEAST_STRETCHES 5u
/* Addresses that are looked up: a function has tens to hundreds of its own. */
#define MOST_CODE 4096u
#define LEAST_CROWDS 5u
/* Between two samples that are further apart, there was no window, or another thread's turn. */
#define APART_NS UINT64_C(100000000)
/* What a thread waits for that hardly runs, before it runs, is not a processor; and it matters
 * little where it runs. */
#define LEAST_RUNNING 0.25
/* Of a share of hundredths of a second, this time is known well enough. */
#define LEAST_TICKS_NS 200000000.0

static const struct tfs_host_record *sample_at(const struct tfs_timeline *timeline, uint32_t item)
{
	return tfs_trace_at(timeline->trace, TFS_RECORD_host, item);
}

/* The samples of one thread, by time. */
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

/* Sums of what went on between samples, as far as that lay in stretches. */
struct sums {
	double ran_ns, queued_ns, user_ns, kernel_ns;
	double read_bytes, faults;
	double time_ns; /* of which these are, in stretches */
	bool times, reads;
	uint32_t stretches; /* that have samples */
};

static double grown(uint64_t before, uint64_t now, double share)
{
	return now > before ? (double)(now - before) * share : 0;
}

/* Two samples that follow each other. */
static void add_sums(struct sums *sums, const struct tfs_intervals *stretches,
	const struct tfs_host_record *before, const struct tfs_host_record *now)
{
	const uint64_t span_ns = now->ns - before->ns;
	const uint32_t known = before->known & now->known;

	if (span_ns == 0 || span_ns > APART_NS)
		return;
	const double in_ns = (double)tfs_intervals_covered(stretches, before->ns, now->ns);
	const double share = in_ns / (double)span_ns;
	sums->time_ns += in_ns;
	sums->faults += grown(before->faults, now->faults, share);
	sums->user_ns += grown(before->user_ns, now->user_ns, share);
	sums->kernel_ns += grown(before->kernel_ns, now->kernel_ns, share);
	if (known & TFS_HOST_HAS_TIMES) {
		sums->ran_ns += grown(before->ran_ns, now->ran_ns, share);
		sums->queued_ns += grown(before->queued_ns, now->queued_ns, share);
		sums->times = true;
	}
	if (known & TFS_HOST_HAS_READS) {
		sums->read_bytes += grown(before->read_bytes, now->read_bytes, share);
		sums->reads = true;
	}
}

/* Half the way to a neighbour, which may be none. */
static uint64_t half_way(const struct tfs_host_record *from, const struct tfs_host_record *to)
{
	const uint64_t way_ns = from->ns > to->ns ? from->ns - to->ns : to->ns - from->ns;

	return way_ns > APART_NS ? 0 : way_ns / 2;
}

/* What a sample in a stretch says of the time around it. */
static void add_doing(struct tfs_meanwhile *meanwhile, const struct tfs_intervals *stretches,
	const struct tfs_host_record *sample, uint64_t before_ns, uint64_t after_ns)
{
	const double ns = (double)tfs_intervals_covered(
		stretches, sample->ns - before_ns, sample->ns + after_ns + 1);

	meanwhile->samples++;
	meanwhile->time_ns += ns;
	meanwhile->doing_ns[sample->doing < TFS_HOST_DOING_COUNT ? sample->doing : 0] += ns;
}

static void set_shares(struct tfs_meanwhile *meanwhile, const struct sums *sums, double all_ns)
{
	const double ran_ns = sums->user_ns + sums->kernel_ns;

	if (sums->times && sums->ran_ns + sums->queued_ns > 0)
		meanwhile->queued = sums->queued_ns / (sums->ran_ns + sums->queued_ns);
	if (ran_ns >= LEAST_TICKS_NS)
		meanwhile->kernel = sums->kernel_ns / ran_ns;
	/* Where only some of the stretches were sampled, the others are taken to be like them. */
	if (sums->time_ns > 0)
		meanwhile->faults = sums->faults * all_ns / sums->time_ns;
	if (sums->time_ns > 0 && sums->reads)
		meanwhile->read_bytes = sums->read_bytes * all_ns / sums->time_ns;
}

/* The nth sample, and the way from the one before. */
static void add_sample(struct tfs_meanwhile *meanwhile, struct sums *sums,
	const struct tfs_timeline *timeline, const struct tfs_intervals *stretches,
	const struct tfs_key *keys, size_t nth, size_t count)
{
	const struct tfs_host_record *now = sample_at(timeline, keys[nth].value);
	const struct tfs_host_record *before =
		nth > 0 ? sample_at(timeline, keys[nth - 1].value) : now;
	const struct tfs_host_record *after =
		nth + 1 < count ? sample_at(timeline, keys[nth + 1].value) : now;

	add_sums(sums, stretches, before, now);
	if (!holds(stretches, now->ns))
		return;
	if (meanwhile->samples == 0 ||
		tfs_intervals_covered(stretches, before->ns, now->ns) < now->ns - before->ns)
		sums->stretches++;
	add_doing(meanwhile, stretches, now, half_way(now, before), half_way(now, after));
}

static int find_samples(const struct tfs_timeline *timeline, uint32_t tid,
	const struct tfs_intervals *stretches, struct tfs_meanwhile *meanwhile)
{
	struct sums sums = {0};
	struct tfs_key *keys;
	size_t count;
	const int err = sort_samples(timeline, tid, &keys, &count);

	for (size_t i = 0; !err && i < count; i++)
		add_sample(meanwhile, &sums, timeline, stretches, keys, i, count);
	set_shares(meanwhile, &sums, (double)tfs_intervals_total(stretches));
	if (meanwhile->samples < LEAST_SAMPLES ||
		(sums.stretches < LEAST_STRETCHES && sums.stretches < stretches->count))
		meanwhile->samples = 0;
	if (tfs_meanwhile_share(meanwhile, TFS_HOST_code) < LEAST_RUNNING)
		meanwhile->queued = NAN;
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

static void find_others(const struct tfs_timeline *timeline, uint32_t tid,
	const struct tfs_intervals *stretches, struct tfs_meanwhile *meanwhile)
{
	const size_t all = tfs_trace_count(timeline->trace, TFS_RECORD_host_others);

	for (size_t i = 0; i < all; i++) {
		const struct tfs_host_others_record *others =
			tfs_trace_at(timeline->trace, TFS_RECORD_host_others, i);

		if (others->tid != tid || !holds(stretches, others->ns))
			continue;
		meanwhile->crowds++;
		add_crowd(&meanwhile->threads, &others->threads);
		add_crowd(&meanwhile->children, &others->children);
	}
	if (meanwhile->crowds < LEAST_CROWDS) {
		meanwhile->crowds = 0;
		return;
	}
	divide(&meanwhile->threads, meanwhile->crowds);
	divide(&meanwhile->children, meanwhile->crowds);
}

/* The addresses of a thread's code in the stretches, in order; 0 or -ENOMEM. */
static int sort_code(const struct tfs_timeline *timeline, uint32_t tid,
	const struct tfs_intervals *stretches, struct tfs_key *keys, size_t *out_count)
{
	const size_t all = tfs_trace_count(timeline->trace, TFS_RECORD_host_code);

	*out_count = 0;
	for (uint32_t i = 0; i < all; i++) {
		const struct tfs_host_code_record *code =
			tfs_trace_at(timeline->trace, TFS_RECORD_host_code, i);

		if (code->tid == tid && holds(stretches, code->ns))
			keys[(*out_count)++] = (struct tfs_key){code->address, i};
	}
	return tfs_sort_keys(keys, *out_count);
}

static int by_samples(const void *left, const void *right)
{
	const struct tfs_code *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples < b->samples ? 1 : -1;
	return a->address < b->address ? -1 : a->address > b->address;
}

static int find_code(const struct tfs_timeline *timeline, uint32_t tid,
	const struct tfs_intervals *stretches, struct tfs_arena *arena,
	struct tfs_meanwhile *meanwhile)
{
	const size_t all = tfs_trace_count(timeline->trace, TFS_RECORD_host_code);
	struct tfs_key *keys = malloc((all + 1u) * sizeof(*keys));
	struct tfs_code *code = NULL;
	size_t count = 0, used = 0;
	int err = keys ? sort_code(timeline, tid, stretches, keys, &count) : -ENOMEM;

	if (!err && count) {
		code = tfs_arena_alloc(arena, count, sizeof(*code));
		err = code ? 0 : -ENOMEM;
	}
	for (size_t i = 0; code && i < count; i++) {
		if (used == 0 || code[used - 1].address != keys[i].key)
			code[used++] = (struct tfs_code){keys[i].key, 0};
		code[used - 1].samples++;
	}
	if (code)
		qsort(code, used, sizeof(*code), by_samples);
	meanwhile->code = (struct tfs_code_samples){
		code, (uint32_t)(used < MOST_CODE ? used : MOST_CODE), (uint32_t)count};
	free(keys);
	return err;
}

int tfs_meanwhile_find(const struct tfs_timeline *timeline, uint32_t thread,
	const struct tfs_intervals *stretches, struct tfs_arena *arena,
	struct tfs_meanwhile *out_meanwhile)
{
	const uint32_t tid = timeline->threads[thread].tid;

	*out_meanwhile = (struct tfs_meanwhile){
		.kernel = NAN, .queued = NAN, .read_bytes = NAN, .faults = NAN};
	const int err = find_samples(timeline, tid, stretches, out_meanwhile);
	find_others(timeline, tid, stretches, out_meanwhile);
	if (err || tfs_meanwhile_share(out_meanwhile, TFS_HOST_code) < LEAST_RUNNING)
		return err;
	return find_code(timeline, tid, stretches, arena, out_meanwhile);
}

double tfs_meanwhile_share(const struct tfs_meanwhile *meanwhile, enum tfs_host_doing doing)
{
	return meanwhile->samples && meanwhile->time_ns > 0
		       ? meanwhile->doing_ns[doing] / meanwhile->time_ns
		       : 0;
}

/* Sockets, descriptors and ended processes are waited for by who asks for the data itself, too. */
bool tfs_meanwhile_waits(const struct tfs_meanwhile *meanwhile)
{
	const double inside = tfs_meanwhile_share(meanwhile, TFS_HOST_lock) +
			      tfs_meanwhile_share(meanwhile, TFS_HOST_pipe);
	const double outside = tfs_meanwhile_share(meanwhile, TFS_HOST_socket) +
			       tfs_meanwhile_share(meanwhile, TFS_HOST_ready);
	const bool worked_for = meanwhile->crowds &&
				meanwhile->threads.running + meanwhile->children.running >= 0.5;

	return inside + (worked_for ? outside : 0) > 0.5;
}
