/* SPDX-License-Identifier: MIT */
/* Prints what the rewrites of a recording did: "pinned-staging applied 12", and for each check that
 * refused "pinned-staging size 3"; then the calls it counted, "calls cudaFree 2". */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "shim/trace/trace.h"

int main(int count, char **words)
{
	struct tfs_trace *trace = NULL;
	struct tfs_damage damage;

	if (count != 2 || tfs_trace_open(words[1], &damage, &trace) != 0) {
		fprintf(stderr, "usage: ledger RECORDING.tfs\n");
		return 2;
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++) {
		const struct tfs_rewrite_record *one = tfs_trace_at(trace, TFS_RECORD_rewrite, i);

		printf("%s applied %llu\n", tfs_trace_string(trace, one->record.site),
			(unsigned long long)one->applied);
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_refusal); i++) {
		const struct tfs_refusal_record *one = tfs_trace_at(trace, TFS_RECORD_refusal, i);

		printf("%s %s %llu\n", tfs_trace_string(trace, one->rewrite),
			tfs_trace_string(trace, one->check), (unsigned long long)one->count);
	}
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	const size_t total_count = tfs_trace_totals(trace, &totals, &shares);
	for (size_t i = 0; i < total_count; i++)
		printf("calls %s %llu\n", tfs_trace_function(trace, totals[i].sum.function),
			(unsigned long long)totals[i].sum.count);
	tfs_trace_close(trace);
	return 0;
}
