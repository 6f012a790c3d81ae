/* SPDX-License-Identifier: MIT */
/* Numbers of a recording as sentences: figures in their places, stories told from their beginning,
 * and what a later tfshim wrote. */
#include "rules/support/sentences.h"

#include <math.h>

#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

#define PAST 80 /* numbers behind the last one that has a sentence */

static struct builder *builder;
static struct tfs_arena arena;

static enum tfs_check last_check(void)
{
	enum tfs_check last = TFS_CHECK_none;

#define X(number, constant, name, sentence) last = last > (number) ? last : (number);
	TFS_CHECKS(X)
#undef X
	return last;
}

static void check_refusals(void)
{
	struct tfs_refusal_record record = {.check = TFS_CHECK_no_peers};
	const uint32_t object = builder_string(builder, "libother.so");
	struct tfs_trace *trace = builder_open(builder);
	char text[80];

	TEST_NEED(trace);
	TEST_STR(tfs_sentence_refusal(trace, &record, &arena),
		"another device may access the memory");
	record.object = object;
	TEST_STR(tfs_sentence_refusal(trace, &record, &arena),
		"another device may access the memory (libother.so)");
	for (unsigned i = 1; i <= PAST; i++) {
		record.check = (uint16_t)(last_check() + i);
		snprintf(text, sizeof(text), "a check that this tfshim does not know (%u)",
			record.check);
		TEST_STR(tfs_sentence_refusal(trace, &record, &arena), text);
	}
	tfs_trace_close(trace);
}

static const char *reason(enum tfs_reason_code code, const uint64_t *numbers, double predicted_ns)
{
	struct tfs_rewrite_record record = {.predicted_ns = predicted_ns,
		.reason = {.code = (uint16_t)code, .values = {0.25, 3}}};
	struct tfs_trace *trace;

	memcpy(record.reason.numbers, numbers, sizeof(record.reason.numbers));
	record.reason.object = builder_string(builder, "cudaHello");
	trace = builder_open(builder);
	TEST_NEED(trace);
	const char *text = tfs_sentence_reason(trace, &record, &arena);
	tfs_trace_close(trace);
	return text;
}
#define REASON(code, predicted_ns, ...)                                                            \
	reason(TFS_REASON_##code, (const uint64_t[5]){__VA_ARGS__}, predicted_ns)

static void check_reasons(void)
{
	const enum tfs_reason_code unknown = TFS_REASON_only_measures + 1;

	TEST_STR(REASON(none, 0, 0), "");
	TEST_STR(REASON(faster, 0, 12, 30), "A/B over 12 pairs of blocks of 30 steps: faster");
	TEST_STR(REASON(faster, 0, 12, 30, 8, 1, 1),
		"from an earlier run: A/B over 12 pairs of blocks of 30 steps, on the slowest of 8 "
		"ranks, measured again after the steps changed: faster");
	TEST_STR(REASON(too_few_steps, 1, 0),
		"not measured, too few training steps were found; kept, its own model predicts a "
		"gain");
	TEST_STR(REASON(too_few_steps, 0, 0),
		"not measured, too few training steps were found; off, its own model predicts no "
		"gain");
	TEST_STR(REASON(too_few_steps, NAN, 0),
		"not measured, too few training steps were found; not kept, too few calls for its "
		"own model");
	TEST_STR(REASON(algorithm_differs, 0, 6, 1),
		"algorithm 6 in place of 1 differs by 0.25 where the largest value is 3");
	TEST_STR(REASON(free_reported_error, 0, 4096),
		"the free of 4.00 KiB was the first to report an error");
	TEST_STR(REASON(caused, 0, TFS_CHECK_no_peers),
		"another device may access the memory: cudaHello");
	TEST_STR(REASON(caused, 0, 60000), "a check that this tfshim does not know: cudaHello");
	for (unsigned i = 0; i < PAST; i++) {
		const uint64_t numbers[5] = {0};
		char text[80];

		snprintf(text, sizeof(text), "a reason that this tfshim does not know (%u)",
			unknown + i);
		TEST_STR(reason(unknown + i, numbers, 0), text);
	}
}

static void check_text(
	const struct tfs_trace *trace, size_t number, const char *want_key, const char *want)
{
	const char *key = NULL, *text = NULL;
	const bool told = tfs_sentence_fact(trace, number, &arena, &key, &text);

	TEST_EQ(told, want != NULL);
	TEST_STR(text, want);
	TEST_STR(key, want ? want_key : NULL);
}

/* The latest, each, and a story from where it begins: CUPTI's state before it is not part of it. */
static void check_facts(void)
{
	struct tfs_fact_record unheard_of = {.fact = 0};
	struct tfs_trace *trace;

	builder_fact(builder, TFS_FACT_cupti_in_windows, NULL, 0);
	builder_fact(builder, TFS_FACT_cupti_gave_way, "libprofiler.so", 7);
	builder_fact(builder, TFS_FACT_steps_none, NULL, 0);
	builder_fact(builder, TFS_FACT_steps_found, NULL, 0);
	builder_fact(builder, TFS_FACT_cupti_again, NULL, 9);
	builder_fact(builder, TFS_FACT_staging_node, NULL, 2);
	builder_fact(builder, TFS_FACT_deepbind, "liba.so", 0);
	builder_fact(builder, TFS_FACT_deepbind, "libb.so", 0);
	builder_record(builder, TFS_RECORD_fact, &unheard_of, sizeof(unheard_of));
	unheard_of.fact = UINT16_MAX;
	builder_record(builder, TFS_RECORD_fact, &unheard_of, sizeof(unheard_of));
	trace = builder_open(builder);
	TEST_NEED(trace);
	check_text(trace, 0, NULL, NULL);
	check_text(trace, 1, NULL, NULL);
	check_text(trace, 2, NULL, NULL);
	check_text(trace, 3, "steps", "found");
	check_text(trace, 4, "cupti",
		"active in windows until step 7, then left to libprofiler.so; used again from step "
		"9");
	check_text(trace, 5, "staging.node", "memory node of the pinned chunks: 2");
	check_text(trace, 6, "unseen.deepbind.liba.so",
		"liba.so was opened with RTLD_DEEPBIND: the hooks do not see the calls that it "
		"makes (deepbind=0 removes the flag)");
	check_text(trace, 7, "unseen.deepbind.libb.so",
		"libb.so was opened with RTLD_DEEPBIND: the hooks do not see the calls that it "
		"makes (deepbind=0 removes the flag)");
	check_text(trace, 8, NULL, NULL);
	check_text(trace, 9, NULL, NULL);
	TEST_STR(tfs_sentence_key(trace, "steps", &arena), "found");
	TEST_STR(tfs_sentence_key(trace, "staging.pinned", &arena), "");
	tfs_trace_close(trace);
}

int main(void)
{
	builder = builder_create();
	TEST_NEED(builder);
	check_refusals();
	check_reasons();
	check_facts();
	tfs_arena_finish(&arena);
	builder_destroy(builder);
	return test_result();
}
