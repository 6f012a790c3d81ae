/* SPDX-License-Identifier: MIT */
/* Prints what the rewrites of a recording did, as it was told last: "pinned-staging applied 12",
 * "pinned-staging bytes 48", its state and gain in microseconds per step, "pinned-staging state
 * lost 12.3 -4.5 -6 -3", with "pinned-staging caused by size: NAME" if that is why, and for each
 * check that refused "pinned-staging size 3"; then what it states, "fact memory.coherent 1" and
 * "told memory.coherent: " with its text, and the calls it counted, "calls cudaFree 2", or "calls
 * undefined 2" if the recording does not name them. */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "rules/support/sentences.h"
#include "shim/trace/trace.h"

/* Is there a later record of the same rewrite? */
static bool is_superseded(const struct tfs_trace *trace, size_t number)
{
	const struct tfs_rewrite_record *one = tfs_trace_at(trace, TFS_RECORD_rewrite, number);

	for (size_t i = number + 1; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++)
		if (((const struct tfs_rewrite_record *)tfs_trace_at(trace, TFS_RECORD_rewrite, i))
				->name == one->name)
			return true;
	return false;
}

int main(int count, char **words)
{
	struct tfs_trace *trace = NULL;
	struct tfs_arena arena = {0};
	struct tfs_damage damage;

	if (count != 2 || tfs_trace_open(words[1], &damage, &trace) != 0) {
		fprintf(stderr, "usage: ledger RECORDING.tfs\n");
		return 2;
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++) {
		const struct tfs_rewrite_record *one = tfs_trace_at(trace, TFS_RECORD_rewrite, i);

		static const char *const states[] = {"off", "report", "shadow", "apply", "lost"};
		const char *name = tfs_trace_string(trace, one->name);

		if (is_superseded(trace, i))
			continue;
		printf("%s applied %llu\n", name, (unsigned long long)one->applied);
		printf("%s bytes %llu\n", name, (unsigned long long)one->bytes);
		printf("%s state %s %.1f %.1f %.1f %.1f %s\n", name, states[one->state % 5],
			one->predicted_ns / 1e3, one->realised_ns / 1e3, one->realised_low_ns / 1e3,
			one->realised_high_ns / 1e3, tfs_sentence_reason(trace, one, &arena));
		if (one->reason.code == TFS_REASON_caused)
			printf("%s caused by %s: %s\n", name,
				tfs_trace_check((uint16_t)one->reason.numbers[0]),
				tfs_trace_string(trace, one->reason.object));
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_refusal); i++) {
		const struct tfs_refusal_record *one = tfs_trace_at(trace, TFS_RECORD_refusal, i);

		printf("%s %s %llu\n", tfs_trace_string(trace, one->rewrite),
			tfs_trace_check(one->check), (unsigned long long)one->count);
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_fact); i++) {
		const struct tfs_fact_record *one = tfs_trace_at(trace, TFS_RECORD_fact, i);
		const char *key, *text;

		if (!tfs_sentence_fact(trace, i, &arena, &key, &text))
			continue;
		printf("fact %s %llu\n", key, (unsigned long long)one->numbers[0]);
		printf("told %s: %s\n", key, text);
	}
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	const size_t total_count = tfs_trace_totals(trace, &totals, &shares);
	for (size_t i = 0; i < total_count; i++) {
		const char *name = tfs_trace_function(trace, totals[i].sum.function);

		printf("calls %s %llu\n", *name != '\0' ? name : "undefined",
			(unsigned long long)totals[i].sum.count);
	}
	tfs_arena_finish(&arena);
	tfs_trace_close(trace);
	return 0;
}
