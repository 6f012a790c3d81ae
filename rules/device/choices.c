/* SPDX-License-Identifier: MIT */
#include "rules/device/choices.h"

#include <math.h>
#include <string.h>

#include "rules/evidence/steady.h"
#include "rules/support/sentences.h"

#define MEASURES "lt-search" /* the rewrite that does */
#define CLEAR 1u
#define MOST 4096u /* products that it tells apart */
#define NEAR 0.05f /* of the time: what is no faster by more is as good */

bool tfs_choice_made(const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	const struct tfs_function_record *function =
		tfs_trace_find(timeline->trace, TFS_RECORD_function, call->function);

	return call->family == TFS_FAMILY_gemm && !call->record->status && function &&
	       function->library == TFS_LIBRARY_cublaslt;
}

static bool is_time(float ms)
{
	return isfinite(ms) && ms > 0;
}

const struct tfs_product_record *tfs_choice_measured(
	const struct tfs_timeline *timeline, const struct tfs_host_call *call)
{
	const uint64_t question = tfs_steady_attribute(call, TFS_ATTRIBUTE_question, 0);
	const size_t all = tfs_trace_count(timeline->trace, TFS_RECORD_product);
	const size_t count = all < MOST ? all : MOST;

	for (size_t i = 0; i < count && question; i++) {
		const struct tfs_product_record *one =
			tfs_trace_at(timeline->trace, TFS_RECORD_product, i);

		if (one->question == question)
			return is_time(one->own_ms) && is_time(one->best_ms) ? one : NULL;
	}
	return NULL;
}

bool tfs_choice_clear(const struct tfs_product_record *measured)
{
	return measured->flags & CLEAR && measured->best_ms < measured->own_ms;
}

bool tfs_choice_close(const struct tfs_product_record *measured)
{
	return measured->best_ms >= measured->own_ms * (1 - NEAR);
}

/* As the rewrite was left. */
static bool is_off(const struct tfs_trace *trace)
{
	bool off = true;

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++) {
		const struct tfs_rewrite_record *one = tfs_trace_at(trace, TFS_RECORD_rewrite, i);

		if (!strcmp(tfs_trace_string(trace, one->name), MEASURES))
			off = one->state == TFS_REWRITE_OFF;
	}
	return off;
}

const char *tfs_choice_unmeasured(const struct tfs_trace *trace, struct tfs_arena *arena)
{
	const struct tfs_refusal_record *most = NULL;

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_refusal); i++) {
		const struct tfs_refusal_record *one = tfs_trace_at(trace, TFS_RECORD_refusal, i);

		if (!strcmp(tfs_trace_string(trace, one->rewrite), MEASURES) &&
			(!most || one->count > most->count))
			most = one;
	}
	if (most)
		return tfs_sentence_refusal(trace, most, arena);
	return is_off(trace) ? MEASURES " was off" : "";
}
