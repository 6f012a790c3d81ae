/* SPDX-License-Identifier: MIT */
/*
 * What is in a recording, as lines "NAME VALUE" (a name is one word) for the GPU suite: device
 * operations and how many are tied to a call, kernels by name, calls by function, losses, facts,
 * rewrites and what they gained in microseconds per step.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/support/sentences.h"
#include "shim/trace/trace.h"

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t one = *(const uint32_t *)a, other = *(const uint32_t *)b;

	return (one > other) - (one < other);
}

/* How many of the device's operations are some call's. */
static size_t count_tied(const struct tfs_trace *trace)
{
	const size_t count = tfs_trace_count(trace, TFS_RECORD_device_op);
	const size_t links = tfs_trace_count(trace, TFS_RECORD_link);
	uint32_t *numbers = malloc((links + 1) * sizeof(*numbers));
	size_t tied = 0;

	if (!numbers)
		return 0;
	for (size_t i = 0; i < links; i++) {
		const struct tfs_link_record *link = tfs_trace_at(trace, TFS_RECORD_link, i);

		numbers[i] = link->correlation;
	}
	qsort(numbers, links, sizeof(*numbers), compare_numbers);
	for (size_t i = 0; i < count; i++) {
		const struct tfs_device_op_record *op =
			tfs_trace_at(trace, TFS_RECORD_device_op, i);

		tied += bsearch(&op->correlation, numbers, links, sizeof(*numbers),
				compare_numbers) != NULL;
	}
	free(numbers);
	return tied;
}

static void print_device(const struct tfs_trace *trace)
{
	const size_t count = tfs_trace_count(trace, TFS_RECORD_device_op);
	const size_t links = tfs_trace_count(trace, TFS_RECORD_link);
	size_t kernels = 0, copies = 0, sets = 0, lost = 0;

	for (size_t i = 0; i < count; i++) {
		const struct tfs_device_op_record *op =
			tfs_trace_at(trace, TFS_RECORD_device_op, i);

		copies += op->operation == TFS_DEVICE_MEMCPY;
		sets += op->operation == TFS_DEVICE_MEMSET;
		lost += op->start_ns == 0 || op->end_ns < op->start_ns;
	}
	kernels = count - copies - sets;
	printf("device-operations %zu\nkernels %zu\ncopies %zu\nsets %zu\nlinks %zu\n", count,
		kernels, copies, sets, links);
	printf("without-times %zu\ntied %zu\n", lost, count_tied(trace));
}

/* A later record of a rewrite replaces an earlier one. */
static bool is_last(const struct tfs_trace *trace, size_t at)
{
	const struct tfs_rewrite_record *one = tfs_trace_at(trace, TFS_RECORD_rewrite, at);

	for (size_t i = at + 1; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++) {
		const struct tfs_rewrite_record *other = tfs_trace_at(trace, TFS_RECORD_rewrite, i);

		if (other->name == one->name)
			return false;
	}
	return true;
}

static void print_rewrites(const struct tfs_trace *trace)
{
	static const char *const states[] = {"off", "report", "shadow", "apply", "lost"};
	struct tfs_arena arena = {0};

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++) {
		const struct tfs_rewrite_record *one = tfs_trace_at(trace, TFS_RECORD_rewrite, i);
		const char *name = tfs_trace_string(trace, one->name);

		if (!is_last(trace, i))
			continue;
		printf("rewrite-%s %s, applied %llu, predicted %.1f, realised %.1f (%.1f to %.1f), %s\n",
			name, states[one->state % 5], (unsigned long long)one->applied,
			one->predicted_ns / 1e3, one->realised_ns / 1e3, one->realised_low_ns / 1e3,
			one->realised_high_ns / 1e3, tfs_sentence_reason(trace, one, &arena));
		if (one->predicted_ns == one->predicted_ns && fabs(one->realised_ns) > 0)
			printf("prediction-error-%s %+.0f %% of the realised\n", name,
				100 * (one->predicted_ns - one->realised_ns) /
					fabs(one->realised_ns));
	}
	tfs_arena_finish(&arena);
}

static const struct tfs_refusal_record *refusal(const struct tfs_trace *trace, size_t at)
{
	return tfs_trace_at(trace, TFS_RECORD_refusal, at);
}

static bool is_same_check(
	const struct tfs_refusal_record *one, const struct tfs_refusal_record *other)
{
	return one->rewrite == other->rewrite && one->check == other->check;
}

/* A later record of a check at a call site replaces an earlier one. */
static bool is_last_refusal(const struct tfs_trace *trace, size_t at)
{
	const struct tfs_refusal_record *one = refusal(trace, at);

	for (size_t i = at + 1; i < tfs_trace_count(trace, TFS_RECORD_refusal); i++)
		if (is_same_check(one, refusal(trace, i)) && refusal(trace, i)->site == one->site)
			return false;
	return true;
}

/* How often each check refused, at all call sites together. */
static void print_refusals(const struct tfs_trace *trace)
{
	const size_t count = tfs_trace_count(trace, TFS_RECORD_refusal);

	for (size_t i = 0; i < count; i++) {
		const struct tfs_refusal_record *one = refusal(trace, i);
		unsigned long long sum = 0;
		size_t first = 0;

		while (!is_same_check(one, refusal(trace, first)))
			first++;
		for (size_t k = i; first == i && k < count; k++)
			if (is_same_check(one, refusal(trace, k)) && is_last_refusal(trace, k))
				sum += refusal(trace, k)->count;
		if (first == i)
			printf("refused-%s-%s %llu\n", tfs_trace_string(trace, one->rewrite),
				tfs_trace_check(one->check), sum);
	}
}

static void print_calls(const struct tfs_trace *trace)
{
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	const size_t count = tfs_trace_totals(trace, &totals, &shares);
	unsigned long long all = 0;

	for (size_t i = 0; i < count; i++) {
		all += totals[i].sum.count;
		printf("calls-%s %llu\n", tfs_trace_function(trace, totals[i].sum.function),
			(unsigned long long)totals[i].sum.count);
	}
	printf("calls %llu\n", all);
}

int main(int count, char **words)
{
	static const char *const losses[] = {
#define X(number, name, text) [number] = #name,
		TFS_LOSSES(X)
#undef X
	};
	struct tfs_arena arena = {0};
	struct tfs_trace *trace = NULL;
	struct tfs_damage damage;

	if (count != 2 || tfs_trace_open(words[1], &damage, &trace) != 0) {
		fprintf(stderr, "usage: recorded RECORDING.tfs\n");
		return 2;
	}
	print_device(trace);
	for (size_t i = 0; i < sizeof(losses) / sizeof(losses[0]); i++)
		if (losses[i] && tfs_trace_header(trace)->lost[i])
			printf("lost-%s %llu\n", losses[i],
				(unsigned long long)tfs_trace_header(trace)->lost[i]);
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_fact); i++) {
		const struct tfs_fact_record *one = tfs_trace_at(trace, TFS_RECORD_fact, i);
		const char *key, *text;

		if (!tfs_sentence_fact(trace, i, &arena, &key, &text))
			continue;
		printf("fact-");
		for (; *key; key++)
			putchar(*key == ' ' ? '-' : *key);
		if (one->numbers[0])
			printf(" %llu", (unsigned long long)one->numbers[0]);
		printf(" %s\n", text);
	}
	print_rewrites(trace);
	print_refusals(trace);
	print_calls(trace);
	tfs_arena_finish(&arena);
	tfs_trace_close(trace);
	return 0;
}
