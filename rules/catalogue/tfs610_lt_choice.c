/* SPDX-License-Identifier: MIT */
/*
 * TFS610: cuBLASLt is asked to choose the algorithm of a product again and again for the same one;
 * or a product runs by an algorithm, or with a workspace, that the recording library has measured
 * to be slower than another. Without a measurement that is not measurable.
 */
#include <stdlib.h>

#include "rules/device/choices.h"
#include "rules/device/products.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"
#include "rules/support/sort.h"

#define FIRST 2u /* of a product record: the fastest is the first answer to its question */

static bool asks(const struct tfs_steady *steady, uint32_t n)
{
	const struct tfs_host_call *call = tfs_steady_call(steady, n);

	return !call->record->status && tfs_product_asked(steady->timeline, call);
}

static uint64_t question_of(const struct tfs_host_call *call)
{
	return tfs_steady_attribute(call, TFS_ATTRIBUTE_question, 0);
}

/* Those that are asked more than once, and those of which it is not known; 0 or -1. */
static int collect(const struct tfs_steady *steady, struct tfs_hits *hits)
{
	struct tfs_key *keys = malloc((steady->call_count + 1u) * sizeof(*keys));
	size_t count = 0;
	int err;

	for (uint32_t i = 0; keys && i < steady->call_count; i++)
		if (asks(steady, i))
			keys[count++] = (struct tfs_key){
				question_of(tfs_steady_call(steady, i)), steady->calls[i]};
	err = keys ? tfs_sort_keys(keys, count) : -1;
	for (size_t i = 0; i < count && !err; i++) {
		const bool again = (i > 0 && keys[i - 1].key == keys[i].key) ||
				   (i + 1 < count && keys[i + 1].key == keys[i].key);

		if (again || !keys[i].key)
			tfs_hits_add(hits, keys[i].value, 0, (struct tfs_edit){.gone = true});
	}
	free(keys);
	return err ? -1 : 0;
}

static void add_asked(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const bool known = question_of(&steady->timeline->calls[place->items->call]) != 0;
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"asks cuBLASLt to choose an algorithm%s, %s",
		known ? " for a GEMM that it has chosen one for" : "",
		tfs_place_calls(place, steady).text);

	if (!draft || known)
		return;
	draft->unsure = true;
	draft->most = TFS_LEVEL_NOTE;
	draft->finding.advice =
		"If the matrices' sizes, types, layouts and alignment are those of an earlier call, keep its answer. "
		"Which GEMM it is about was not recorded.";
}

struct count {
	unsigned rare, seldom; /* call sites that ask, and that are slow */
	unsigned unmeasured, unsure, best;
};

static void take(
	const struct tfs_steady *steady, uint32_t n, struct tfs_hits *hits, struct count *count)
{
	const struct tfs_host_call *call = tfs_steady_call(steady, n);
	const struct tfs_product_record *measured;

	if (!tfs_choice_made(steady->timeline, call))
		return;
	measured = tfs_choice_measured(steady->timeline, call);
	if (!measured)
		count->unmeasured++;
	else if (tfs_choice_close(measured))
		count->best++;
	else if (!tfs_choice_clear(measured))
		count->unsure++;
	else
		tfs_hits_add(hits, steady->calls[n], 0,
			(struct tfs_edit){.scale = measured->best_ms / measured->own_ms});
}

static float gain_ms(const struct tfs_product_record *measured)
{
	return measured->own_ms - measured->best_ms;
}

/* The product at a place that gains most, of those that differ in size; and what all gain there. */
static const struct tfs_host_call *most_of(
	const struct tfs_steady *steady, const struct tfs_place *place, double *out_ns)
{
	const struct tfs_host_call *most = NULL;
	float most_ms = 0;

	*out_ns = 0;
	for (size_t i = 0; i < place->count; i++) {
		const struct tfs_host_call *call = &steady->timeline->calls[place->items[i].call];
		const float ms = gain_ms(tfs_choice_measured(steady->timeline, call));

		*out_ns += (double)ms * 1e6 / steady->step_count;
		if (!most || ms > most_ms) {
			most = call;
			most_ms = ms;
		}
	}
	return most;
}

/* "no workspace", "a workspace of 32.0 MiB". */
static const char *workspace(const struct tfs_findings *findings, uint64_t bytes)
{
	return bytes ? tfs_arena_print(findings->arena, "a workspace of %s",
			       tfs_figure_bytes((double)bytes).text)
		     : "no workspace";
}

/* Where the first answer to the larger question is the fastest, no more has to be tried. */
static const char *how(
	const struct tfs_findings *findings, const struct tfs_product_record *measured)
{
	const struct tfs_figure most = tfs_figure_bytes((double)measured->most_workspace);

	if (measured->flags & FIRST)
		return tfs_arena_print(findings->arena,
			"Ask once before the training loop with CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES set to %s, and give cublasLtMatmul the first answer's algorithm",
			most.text);
	return tfs_arena_print(findings->arena,
		"Ask once before the training loop for eight answers, with CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES set to %s and once more with %s, time the GEMM by each of them, and give cublasLtMatmul the fastest one's algorithm",
		tfs_figure_bytes((double)measured->own_workspace).text, most.text);
}

static const char *advise(
	const struct tfs_findings *findings, const struct tfs_product_record *measured)
{
	return tfs_arena_print(findings->arena,
		"%s and a workspace as large as the answer says (here %s), which no other stream uses at the same time. "
		"Say in the question how the addresses of A, B, C and D are aligned, where they may be less so than to 256 bytes (CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES and its like); an answer is for one GEMM: ask once for each size. "
		"Another algorithm sums in another order: results may differ in their last digits.%s",
		how(findings, measured), tfs_figure_bytes((double)measured->best_workspace).text,
		measured->best_workspace > measured->own_workspace
			? " In PyTorch the environment variable CUBLASLT_WORKSPACE_SIZE sets the workspace, in KiB; newer versions limit it to that of cuBLAS (CUBLAS_WORKSPACE_CONFIG)."
			: "");
}

static void add_slower(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	double saved;
	const struct tfs_host_call *call = most_of(steady, place, &saved);
	const struct tfs_product_record *measured = tfs_choice_measured(steady->timeline, call);
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"computes a GEMM in %s with %s, where %s answer of cuBLASLt's heuristic measured %s with %s",
		tfs_figure_time((double)measured->own_ms * 1e6).text,
		workspace(findings, measured->own_workspace),
		measured->flags & FIRST ? "the first" : "another",
		tfs_figure_time((double)measured->best_ms * 1e6).text,
		workspace(findings, measured->best_workspace));

	if (!draft)
		return;
	draft->finding.advice = advise(findings, measured);
	if (steady->whatif)
		return;
	draft->priced = true;
	draft->finding.cost = (struct tfs_cost){saved, 0, saved, TFS_COST_SEARCHED};
}

static void judge(const struct tfs_steady *steady, const struct tfs_findings *findings,
	size_t before, const struct count *count, struct tfs_verdict *out_verdict)
{
	const char *why = tfs_choice_unmeasured(steady->timeline->trace, findings->arena);

	if (count->unmeasured)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"whether another algorithm or a larger workspace is faster was not measured for %s%s%s",
			tfs_figure_number(count->unmeasured, "call of cublasLtMatmul",
				"calls of cublasLtMatmul")
				.text,
			*why ? ": " : "", why);
	else if (count->unsure)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"whether another algorithm or a larger workspace is faster was measured for %s with times that differ too much from one another",
			tfs_figure_number(
				count->unsure, "call of cublasLtMatmul", "calls of cublasLtMatmul")
				.text);
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"what cuBLASLt answered is not asked again in %s%s%s",
			tfs_steady_name(steady),
			tfs_figure_also(
				count->rare, "call site does so rarely", "call sites do so rarely")
				.text,
			tfs_figure_also(count->best,
				"call is within 5 % of the fastest measured algorithm",
				"calls are within 5 % of the fastest measured algorithm")
				.text);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_hits asked = {0}, slower = {0};
	struct tfs_place place = {0}, slow_place = {0};
	struct count count = {0};

	if (collect(steady, &asked)) {
		findings->failed = true;
		return;
	}
	for (uint32_t i = 0; i < steady->call_count; i++)
		take(steady, i, &slower, &count);
	tfs_hits_fold(&asked);
	while (!steady->run && tfs_hits_next_usual(steady, &asked, &place, &count.rare))
		add_asked(steady, findings, &place);
	while (!steady->run && tfs_hits_next_usual(steady, &slower, &slow_place, &count.seldom))
		add_slower(steady, findings, &slow_place);
	if (steady->run && (asked.count || slower.count))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: it is not known whether cuBLASLt is asked again in the same step, or how often a GEMM is computed");
	else
		judge(steady, findings, before, &count, out_verdict);
	tfs_hits_finish(&asked);
	tfs_hits_finish(&slower);
}

const struct tfs_rule tfs_rule_tfs610 = {
	.id = "TFS610",
	.slug = "lt-choice",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_FAMILIES | TFS_NEEDS_OPERANDS,
	.library = TFS_LIBRARY_cublaslt,
	.title = "cuBLASLt's algorithm asked for again, or slower than another",
	.why = "cublasLtMatmulAlgoGetHeuristic ranks the algorithms for a GEMM, which takes the host time in each call: on an H200 0.05 to 0.2 ms for a GEMM that it has not met, and a microsecond or three for one that it has. "
	       "The answer depends on the sizes, types and layouts of the matrices, on the operation and on the preference: for the same ones it is the same in every step. "
	       "Its first answer is not always the fastest, and with a small workspace the fastest ones are left out: on an H200 32 MiB halve the time of some GEMMs with long sums. "
	       "Unless rewrites are off, other answers are measured beside the program's, on memory of tfshim's own, and nothing is changed.",
	.advice =
		"Ask once for each GEMM before the training loop, keep the answer (cublasLtMatmulHeuristicResult_t.algo) with its workspace's size, and give both to cublasLtMatmul in all steps. "
		"Ask again for new sizes, types or layouts, and where matrices are less aligned than the preference said. "
		"Keep the GEMM's descriptor and the matrices' layouts as well. "
		"PyTorch asks before each GEMM that it gives to cuBLASLt: capture the step in a CUDA graph (torch.cuda.graph, or torch.compile with mode='reduce-overhead'), and it asks once.",
	.rewrite_note = "lt-search only measures",
	.detect = detect,
};
