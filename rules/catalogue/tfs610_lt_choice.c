/* SPDX-License-Identifier: MIT */
/*
 * TFS610: cuBLASLt is asked to choose the algorithm of a product again and again for the same one.
 * Whether another of its answers, or a larger workspace, is faster is not tried out.
 */
#include <stdlib.h>

#include "rules/device/products.h"
#include "rules/evidence/findings.h"
#include "rules/support/figures.h"
#include "rules/support/sort.h"

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

static void add(const struct tfs_steady *steady, struct tfs_findings *findings,
	const struct tfs_place *place)
{
	const bool known = question_of(&steady->timeline->calls[place->items->call]) != 0;
	struct tfs_draft *draft = tfs_findings_add(findings, place, NULL,
		"asks cuBLASLt to choose an algorithm%s, %s",
		known ? " for a product that it has chosen one for" : "",
		tfs_place_calls(place, steady).text);

	if (!draft || known)
		return;
	draft->unsure = true;
	draft->most = TFS_LEVEL_NOTE;
	draft->finding.advice =
		"If the matrices' sizes, types, layouts and alignment are those of an earlier call, keep its answer. "
		"Which product it is about was not recorded.";
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const size_t before = findings->count;
	struct tfs_hits hits = {0};
	struct tfs_place place = {0};
	unsigned rare = 0;

	if (collect(steady, &hits)) {
		findings->failed = true;
		return;
	}
	tfs_hits_fold(&hits);
	while (!steady->run && tfs_hits_next_usual(steady, &hits, &place, &rare))
		add(steady, findings, &place);
	if (steady->run && hits.count)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"no training steps were found: it is not known whether cuBLASLt is asked again in the same step");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"what cuBLASLt answered is not asked again in %s%s; whether another algorithm or a larger workspace is faster was not tried",
			tfs_steady_name(steady),
			tfs_figure_also(rare, "call site does so rarely", "call sites do so rarely")
				.text);
	tfs_hits_finish(&hits);
}

const struct tfs_rule tfs_rule_tfs610 = {
	.id = "TFS610",
	.slug = "lt-choice",
	.level = TFS_LEVEL_WARN,
	.needs = TFS_NEEDS_STEPS | TFS_NEEDS_CALLS | TFS_NEEDS_FAMILIES | TFS_NEEDS_OPERANDS,
	.library = TFS_LIBRARY_cublaslt,
	.title = "cuBLASLt asked again which algorithm to use",
	.why = "cublasLtMatmulAlgoGetHeuristic ranks the algorithms for a product, which takes the host time in each call: on an H200 0.05 to 0.2 ms for a product that it has not met, and a microsecond or three for one that it has. "
	       "The answer depends on the sizes, types and layouts of the matrices, on the operation and on the preference: for the same ones it is the same in every step.",
	.advice =
		"Ask once for each product before the training loop, keep the answer (cublasLtMatmulHeuristicResult_t.algo) with its workspace's size, and give both to cublasLtMatmul in all steps. "
		"Ask again for new sizes, types or layouts, and where matrices are less aligned than the preference said. "
		"Keep the product's descriptor and the matrices' layouts as well. "
		"PyTorch asks before each product that it gives to cuBLASLt: capture the step in a CUDA graph (torch.cuda.graph, or torch.compile with mode='reduce-overhead'), and it asks once.",
	.tips = "T3",
	.detect = detect,
};
