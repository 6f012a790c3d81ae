/* SPDX-License-Identifier: MIT */
#include "rules/judge/joint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/whatif/whatif.h"

/* Which findings a replay fixes. */
enum choice {
	ALL,      /* those that can be fixed for certain */
	REPAIRED, /* of them, those that a proven rewrite repairs */
	PERHAPS   /* all, and those that may not be fixable */
};

static bool is_chosen(
	const struct tfs_draft *draft, const struct tfs_finding *finding, enum choice choice)
{
	if (draft->priced || draft->needed || !draft->hit_count)
		return false;
	if (draft->unsure)
		return choice == PERHAPS;
	return choice != REPAIRED || finding->repaired;
}

/* Fixes the chosen findings in the replay. */
static void add_chosen(const struct tfs_steady *steady, const struct tfs_findings *findings,
	const struct tfs_judgement *judgement, enum choice choice)
{
	for (size_t i = 0; i < findings->count; i++) {
		const struct tfs_draft *draft = &findings->items[i];

		if (is_chosen(draft, &judgement->findings[i], choice))
			tfs_whatif_add(steady->whatif, draft->hits, draft->hit_count);
	}
}

/* Whether an earlier one of the findings that are fixed shares the cost. */
static bool is_counted(
	const struct tfs_findings *findings, const struct tfs_judgement *judgement, size_t nth)
{
	const uint32_t group = findings->items[nth].finding.group;

	for (size_t i = 0; group && i < nth; i++)
		if (findings->items[i].finding.group == group &&
			is_chosen(&findings->items[i], &judgement->findings[i], ALL))
			return true;
	return false;
}

/* What the replay cannot know, see struct tfs_draft. */
static void widen(const struct tfs_findings *findings, const struct tfs_judgement *judgement,
	bool open, double step_ns, struct tfs_cost *cost)
{
	double less_ns = 0, more_ns = 0;

	for (size_t i = 0; i < findings->count; i++) {
		const struct tfs_draft *draft = &findings->items[i];

		if (!is_chosen(draft, &judgement->findings[i], ALL) ||
			(open && judgement->findings[i].repaired))
			continue;
		less_ns += draft->less_ns;
		more_ns += draft->more_ns + draft->beside_ns;
	}
	if (cost->ns > 0) {
		cost->low_ns = fmax(cost->low_ns - less_ns, 0);
		cost->high_ns = fmin(cost->high_ns + more_ns, fmax(cost->high_ns, step_ns));
	}
}

/* What fixing all findings saves, beside what is kept; what may not be fixable is in the interval.
 */
static int price(const struct tfs_steady *steady, const struct tfs_findings *findings,
	const struct tfs_judgement *judgement, bool open, struct tfs_cost *out_cost)
{
	struct tfs_cost perhaps;
	bool unsure = false;

	tfs_whatif_clear(steady->whatif);
	add_chosen(steady, findings, judgement, ALL);
	if (tfs_whatif_price(steady->whatif, out_cost))
		return -ENOMEM;
	widen(findings, judgement, open, tfs_whatif_step_ns(steady), out_cost);
	for (size_t i = 0; i < findings->count && open; i++)
		unsure |= findings->items[i].unsure;
	if (!unsure)
		return 0;
	add_chosen(steady, findings, judgement, PERHAPS);
	if (tfs_whatif_price(steady->whatif, &perhaps))
		return -ENOMEM;
	out_cost->high_ns = fmax(out_cost->high_ns, perhaps.high_ns);
	return 0;
}

/* Whether a rewrite's gain is measured by its searches. */
static bool is_searched(const char *rewrite)
{
	const struct tfs_rule *rule;

	for (size_t i = 0; (rule = tfs_rule_at(i)); i++)
		if (rule->searched && !strcmp(rule->rewrite, rewrite))
			return true;
	return false;
}

static void find_gains(const struct tfs_steady *steady, struct tfs_judgement *judgement)
{
	const struct tfs_cost searched =
		steady->whatif ? tfs_whatif_searched(steady->whatif) : (struct tfs_cost){0};

	for (size_t i = 0; i < judgement->rewrite_count; i++) {
		struct tfs_rewrite_line *line = &judgement->rewrites[i];

		if (line->state != TFS_REWRITE_APPLY)
			continue;
		if (line->outcome == TFS_REWRITE_FASTER && line->realised_ns > 0) {
			line->proof = TFS_PROOF_AB;
			line->gain = (struct tfs_proven_gain){line->realised_ns,
				fmax(line->realised_low_ns, 0), line->realised_high_ns};
		} else if (is_searched(line->name) && line->applied && searched.ns > 0) {
			line->proof = TFS_PROOF_SEARCH;
			line->gain = (struct tfs_proven_gain){
				searched.ns, searched.low_ns, searched.high_ns};
		}
	}
}

static void find_repaired(struct tfs_judgement *judgement)
{
	for (size_t i = 0; i < judgement->finding_count; i++) {
		struct tfs_finding *finding = &judgement->findings[i];

		for (size_t j = 0; j < judgement->rewrite_count; j++)
			finding->repaired |=
				finding->repair.state == TFS_REPAIR_APPLIED &&
				judgement->rewrites[j].proof &&
				!strcmp(judgement->rewrites[j].name, finding->repair.name);
	}
}

/* Causes, of all findings and of the open ones. */
static void count_causes(const struct tfs_findings *findings, struct tfs_judgement *judgement)
{
	for (size_t i = 0; i < findings->count; i++) {
		const bool one = is_chosen(&findings->items[i], &judgement->findings[i], ALL) &&
				 !is_counted(findings, judgement, i);

		judgement->joint_findings += one;
		judgement->open_findings += one && !judgement->findings[i].repaired;
	}
}

int tfs_joint_find(const struct tfs_steady *steady, const struct tfs_findings *findings,
	struct tfs_judgement *judgement)
{
	bool repaired = false;

	judgement->joint = judgement->open = (struct tfs_cost){.method = TFS_COST_NONE};
	find_gains(steady, judgement);
	find_repaired(judgement);
	if (!steady->whatif || tfs_whatif_doubt(steady->whatif))
		return 0;
	count_causes(findings, judgement);
	if (judgement->joint_findings &&
		price(steady, findings, judgement, false, &judgement->joint))
		return -ENOMEM;
	for (size_t i = 0; i < judgement->finding_count; i++)
		repaired |= judgement->findings[i].repaired;
	tfs_whatif_clear(steady->whatif);
	add_chosen(steady, findings, judgement, REPAIRED);
	if (repaired && tfs_whatif_keep(steady->whatif))
		return -ENOMEM;
	if (price(steady, findings, judgement, true, &judgement->open))
		return -ENOMEM;
	judgement->open_least_ns = tfs_whatif_least_ns(steady->whatif);
	return 0;
}
