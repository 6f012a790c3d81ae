/* SPDX-License-Identifier: MIT */
/* TFS906: a rewrite in shadow mode gave another result than the program's own call. */
#include <inttypes.h>
#include <string.h>

#include "rules/evidence/findings.h"
#include "rules/support/sentences.h"

/* Where and how, as the rewrite's last record says it. */
static const char *evidence(
	const struct tfs_trace *trace, const char *name, struct tfs_arena *arena)
{
	const char *text = "";

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++) {
		const struct tfs_rewrite_record *record =
			tfs_trace_at(trace, TFS_RECORD_rewrite, i);

		if (!strcmp(tfs_trace_string(trace, record->name), name))
			text = tfs_sentence_reason(trace, record, arena);
	}
	return text;
}

/* A rewrite in shadow, or one that was and took part before it was switched off. */
static bool any_shadow(const struct tfs_trace *trace)
{
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_rewrite); i++) {
		const struct tfs_rewrite_record *record =
			tfs_trace_at(trace, TFS_RECORD_rewrite, i);

		if (record->state == TFS_REWRITE_SHADOW && record->applied)
			return true;
	}
	return false;
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_trace *trace = steady->timeline->trace;
	size_t before = findings->count;

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_refusal); i++) {
		const struct tfs_refusal_record *record =
			tfs_trace_at(trace, TFS_RECORD_refusal, i);
		const char *name = tfs_trace_string(trace, record->rewrite);
		struct tfs_draft *draft;

		if (record->check != TFS_CHECK_shadow_differs)
			continue;
		draft = tfs_findings_note(findings,
			"%s in shadow mode gave a result that differs from that of the program's call: %s",
			name, evidence(trace, name, findings->arena));
		if (draft)
			draft->finding.site = record->site;
	}
	if (any_shadow(trace))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"every result in shadow mode equalled that of the program's call");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_APPLICABLE,
			"no rewrite ran in shadow mode");
}

const struct tfs_rule tfs_rule_tfs906 = {
	.id = "TFS906",
	.slug = "rewrite-mismatch",
	.level = TFS_LEVEL_ERROR,
	.any_cost = true,
	.title = "a rewrite would have changed a result",
	.why = "In shadow mode tfshim makes the program's call and the rewritten one and compares the results, which must be equal. "
	       "After a difference "
	       "the program's own result was kept and the rewrite was switched off for the rest of the run.",
	.advice =
		"Do not apply this rewrite to this program, and report the case with the recording.",
	.detect = detect,
};
