/* SPDX-License-Identifier: MIT */
/* Prints what a recording holds of steps and ranges: "fact KEY VALUE", "device
 * OPERATIONS", "steps SOURCE LAST", and for
 * each range "range KIND DOMAIN NAME LEVEL". */
#include <stdio.h>
#include <string.h>

#include "rules/support/sentences.h"
#include "shim/trace/trace.h"

static const char *const sources[] = {"none", "loops", "api", "nvtx"};
static const char *const kinds[] = {"?", "pushed", "started", "mark"};

static void print_fact(const struct tfs_trace *trace, const char *key)
{
	struct tfs_arena arena = {0};
	const char *text = tfs_sentence_key(trace, key, &arena);

	if (*text != '\0')
		printf("fact %s: %s\n", key, text);
	tfs_arena_finish(&arena);
}

int main(int count, char **words)
{
	struct tfs_trace *trace = NULL;
	struct tfs_damage damage;
	uint32_t source = 0;
	uint64_t last = 0, outside = 0;

	if (count != 2 || tfs_trace_open(words[1], &damage, &trace) != 0) {
		fprintf(stderr, "usage: nvtx_dump RECORDING.tfs\n");
		return 2;
	}
	print_fact(trace, "nvtx");
	print_fact(trace, "step range");
	print_fact(trace, "hooks");
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_step); i++) {
		const struct tfs_step_record *step = tfs_trace_at(trace, TFS_RECORD_step, i);

		source = step->source;
		last = step->index > last ? step->index : last;
		outside += step->phase == TFS_PHASE_OTHER;
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_steps); i++) {
		const struct tfs_steps_record *some = tfs_trace_at(trace, TFS_RECORD_steps, i);
		const uint64_t end = some->first_index + some->count - 1;

		last = end > last ? end : last;
	}
	printf("device %zu\n", tfs_trace_count(trace, TFS_RECORD_device_op));
	printf("steps %s %llu outside %llu\n", source < 4 ? sources[source] : "?",
		(unsigned long long)last, (unsigned long long)outside);
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_range); i++) {
		const struct tfs_range_record *one = tfs_trace_at(trace, TFS_RECORD_range, i);
		const uint32_t kind = one->range;

		printf("range %s '%s' '%s' %u %s\n", kinds[kind < 4 ? kind : 0],
			tfs_trace_string(trace, one->domain), tfs_trace_string(trace, one->name),
			one->level, one->duration_ticks >= 0 && one->tid != 0 ? "ok" : "wrong");
	}
	tfs_trace_close(trace);
	return 0;
}
