/* SPDX-License-Identifier: MIT */
#include "rules/judge/pricing.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "rules/evidence/sharing.h"
#include "rules/whatif/whatif.h"

#define ERROR_SHARE 0.05
#define WARN_SHARE 0.01

/* A finding waits in an epoch: what it waits for, others of the epoch wait for too. */
struct stay {
	uint32_t epoch;
	uint32_t draft;
};

static uint32_t root_of(const struct tfs_findings *findings, uint32_t draft)
{
	while (findings->items[draft].parent != draft)
		draft = findings->items[draft].parent;
	return draft;
}

static void unite(struct tfs_findings *findings, uint32_t a, uint32_t b)
{
	uint32_t first = root_of(findings, a), second = root_of(findings, b);

	if (first < second)
		findings->items[second].parent = first;
	else
		findings->items[first].parent = second;
}

static int compare_stays(const void *a, const void *b)
{
	const struct stay *x = a, *y = b;

	if (x->epoch != y->epoch)
		return x->epoch < y->epoch ? -1 : 1;
	return (x->draft > y->draft) - (x->draft < y->draft);
}

/* All epochs in which findings wait, each finding once; the caller frees. */
static struct stay *collect_stays(
	const struct tfs_steady *steady, const struct tfs_findings *findings, size_t *out_count)
{
	size_t room = 0, count = 0, unique = 0;
	struct stay *stays;

	for (size_t i = 0; i < findings->count; i++)
		room += findings->items[i].hit_count;
	stays = malloc((room + 1) * sizeof(*stays));
	if (!stays)
		return NULL;
	for (size_t i = 0; i < findings->count; i++) {
		const struct tfs_draft *draft = &findings->items[i];

		for (size_t j = 0; j < draft->hit_count; j++) {
			const struct tfs_hit *hit = &draft->hits[j];
			const struct tfs_waiting *waiting =
				&steady->waits[steady->place[hit->call]];

			if (waiting->wait != TFS_WAIT_NONE && (hit->edit.gone || hit->edit.no_wait))
				stays[count++] = (struct stay){waiting->epoch, (uint32_t)i};
		}
	}
	qsort(stays, count, sizeof(*stays), compare_stays);
	for (size_t i = 0; i < count; i++)
		if (!i || compare_stays(&stays[i], &stays[i - 1]))
			stays[unique++] = stays[i];
	*out_count = unique;
	return stays;
}

/* Unites findings that mostly wait in the same epochs, and those of one call. */
static int group_drafts(const struct tfs_steady *steady, struct tfs_findings *findings)
{
	size_t count = 0, drafts = findings->count;
	struct stay *stays = collect_stays(steady, findings, &count);
	uint32_t *together = calloc(drafts * drafts + 1, sizeof(*together));

	if (!stays || !together) {
		free(stays);
		free(together);
		return -ENOMEM;
	}
	for (size_t i = 0; i < count; i++)
		for (size_t j = i; j < count && stays[j].epoch == stays[i].epoch; j++)
			together[stays[i].draft * drafts + stays[j].draft]++;
	for (size_t i = 0; i < drafts; i++) {
		for (size_t j = i + 1; j < drafts; j++) {
			const struct tfs_finding *a = &findings->items[i].finding;
			const struct tfs_finding *b = &findings->items[j].finding;
			uint32_t mine = together[i * drafts + i], its = together[j * drafts + j];
			uint32_t fewer = mine < its ? mine : its;

			bool apart = findings->items[i].apart || findings->items[j].apart;

			if ((!apart && a->function && a->site == b->site &&
				    a->function == b->function) ||
				(fewer && 2 * together[i * drafts + j] >= fewer))
				unite(findings, (uint32_t)i, (uint32_t)j);
		}
	}
	free(stays);
	free(together);
	return 0;
}

const char *tfs_cost_method_name(enum tfs_cost_method method)
{
	static const char *const names[] = {[TFS_COST_NONE] = "none",
		[TFS_COST_REPLAY] = "replay",
		[TFS_COST_MODELLED] = "modelled",
		[TFS_COST_SEARCHED] = "measured search",
		[TFS_COST_BOUND] = "host-blocked time, upper bound",
		[TFS_COST_UNKNOWN] = "not measurable"};

	return names[method];
}

/* At most the host's time in the calls: what can be said without the device's side. Of a run
 * without known steps, and the device's time for them: nothing is replayed. */
static struct tfs_cost bounded(const struct tfs_steady *steady, const struct tfs_draft *draft)
{
	double blocked = draft->finding.time_per_step_ns;

	for (size_t i = 0; i < draft->hit_count && steady->run; i++)
		blocked +=
			tfs_steady_device_ns(steady, &steady->timeline->calls[draft->hits[i].call]);
	blocked = fmin(blocked, steady->step_ns);

	if (steady->simulated)
		return (struct tfs_cost){blocked / 2, 0, blocked, TFS_COST_MODELLED};
	return (struct tfs_cost){blocked / 2, 0, blocked, TFS_COST_BOUND};
}

/* What a group's replay fixes. */
struct sum {
	double less_ns, more_ns;
	size_t hits;
	bool unsure; /* some of it may not be fixable */
};

/* Fixes a group's findings in the replay, or those that can be fixed for certain. */
static struct sum add_group(const struct tfs_steady *steady, const struct tfs_findings *findings,
	uint32_t root, bool certain)
{
	struct sum sum = {0};

	if (steady->whatif)
		tfs_whatif_clear(steady->whatif);
	for (uint32_t i = root; i < findings->count; i++) {
		const struct tfs_draft *draft = &findings->items[i];

		if (draft->needed || (certain && draft->unsure) || root_of(findings, i) != root)
			continue;
		sum.unsure |= draft->unsure;
		sum.hits += draft->hit_count;
		sum.less_ns += draft->less_ns;
		sum.more_ns += draft->more_ns + draft->beside_ns;
		if (steady->whatif)
			tfs_whatif_add(steady->whatif, draft->hits, draft->hit_count);
	}
	return sum;
}

/* What the host is blocked at most by one of a group's findings. */
static struct tfs_cost bound_group(
	const struct tfs_steady *steady, const struct tfs_findings *findings, uint32_t root)
{
	struct tfs_cost cost = {.method = TFS_COST_NONE};
	double blocked = 0;
	size_t hits = 0;

	for (uint32_t i = root; i < findings->count; i++) {
		const struct tfs_draft *draft = &findings->items[i];

		if (draft->needed || root_of(findings, i) != root)
			continue;
		hits += draft->hit_count;
		if (draft->finding.time_per_step_ns >= blocked) {
			blocked = draft->finding.time_per_step_ns;
			cost = hits ? bounded(steady, draft) : cost;
		}
	}
	return cost;
}

/* A cost of which some may not be recoverable: at least what the rest alone saves. */
static int price_certain(const struct tfs_steady *steady, const struct tfs_findings *findings,
	uint32_t root, struct tfs_cost *cost)
{
	struct tfs_cost certain = {.method = TFS_COST_NONE};
	struct sum sum = {0};

	if (steady->whatif && cost->ns > 0)
		sum = add_group(steady, findings, root, true);
	if (sum.hits && tfs_whatif_price(steady->whatif, &certain))
		return -ENOMEM;
	cost->low_ns = certain.ns > 0 ? fmax(fmin(certain.low_ns - sum.less_ns, cost->ns), 0) : 0;
	return 0;
}

static int price_group(
	const struct tfs_steady *steady, struct tfs_findings *findings, uint32_t root)
{
	struct tfs_draft *items = findings->items;
	struct tfs_cost cost;
	struct sum sum;

	for (uint32_t i = root; i < findings->count; i++)
		if (items[i].priced && root_of(findings, i) == root)
			return 0;
	cost = bound_group(steady, findings, root);
	sum = add_group(steady, findings, root, false);
	if (steady->whatif && sum.hits && tfs_whatif_price(steady->whatif, &cost))
		return -ENOMEM;
	if (cost.ns > 0) {
		cost.low_ns = fmax(cost.low_ns - sum.less_ns, 0);
		cost.high_ns = fmin(cost.high_ns + sum.more_ns, tfs_whatif_step_ns(steady));
		cost.ns = fmin(cost.ns, cost.high_ns);
	}
	if (sum.unsure && price_certain(steady, findings, root, &cost))
		return -ENOMEM;
	for (uint32_t i = root; i < findings->count; i++)
		if (root_of(findings, i) == root)
			items[i].finding.cost = cost;
	return 0;
}

static enum tfs_level level_of(const struct tfs_steady *steady, const struct tfs_draft *draft)
{
	const struct tfs_rule *rule = draft->finding.rule;
	enum tfs_level level = TFS_LEVEL_NOTE;
	/* What may not be fixable costs nothing for certain, whatever its group does. */
	const double certain_ns = draft->unsure ? 0 : draft->finding.cost.low_ns;
	const double step_ns = tfs_whatif_step_ns(steady);
	const double share = step_ns > 0 ? certain_ns / step_ns : 0;

	if (steady->run && draft->hit_count)
		return TFS_LEVEL_NOTE;
	if (rule->any_cost || steady->simulated || !draft->hit_count)
		level = rule->level;
	else if (share >= ERROR_SHARE)
		level = rule->level;
	else if (share >= WARN_SHARE)
		level = rule->level < TFS_LEVEL_WARN ? rule->level : TFS_LEVEL_WARN;
	if (draft->finding.doubt && level > TFS_LEVEL_WARN)
		level = TFS_LEVEL_WARN;
	return level < draft->most ? level : draft->most;
}

static int compare_groups(const void *a, const void *b)
{
	const struct tfs_group *x = a, *y = b;

	if (x->cost.ns != y->cost.ns)
		return x->cost.ns > y->cost.ns ? -1 : 1;
	return (x->id > y->id) - (x->id < y->id);
}

/* Groups of two and more, by recoverable time. */
static int number_groups(
	struct tfs_findings *findings, struct tfs_group **out_groups, size_t *out_count)
{
	struct tfs_group *groups =
		tfs_arena_alloc(findings->arena, findings->count + 1, sizeof(*groups));
	size_t count = 0;

	if (!groups)
		return -ENOMEM;
	for (uint32_t i = 0; i < findings->count; i++) {
		struct tfs_group group = {.id = i, .cost = findings->items[i].finding.cost};

		for (uint32_t j = i; findings->items[i].parent == i && j < findings->count; j++)
			group.findings += root_of(findings, j) == i;
		if (group.findings > 1)
			groups[count++] = group;
	}
	qsort(groups, count, sizeof(*groups), compare_groups);
	for (uint32_t i = 0; i < count; i++) {
		for (uint32_t j = 0; j < findings->count; j++)
			if (root_of(findings, j) == groups[i].id)
				findings->items[j].finding.group = i + 1;
	}
	for (uint32_t i = 0; i < count; i++)
		groups[i].id = i + 1;
	*out_groups = groups;
	*out_count = count;
	return 0;
}

/* Why findings with calls are of low confidence; NULL = they are not. */
static const char *doubt_of(const struct tfs_steady *steady)
{
	if (!steady->run && steady->step_count < steady->min_steps)
		return "few steps";
	if (!steady->run && steady->timeline->judged_rewritten)
		return "no steps without rewrites";
	return tfs_sharing_any(steady->timeline) ? "the GPU is shared" : NULL;
}

int tfs_findings_price(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_group **out_groups, size_t *out_count)
{
	const char *doubt = doubt_of(steady);
	int err = group_drafts(steady, findings);

	for (uint32_t i = 0; i < findings->count && !err; i++)
		if (findings->items[i].parent == i)
			err = price_group(steady, findings, i);
	for (uint32_t i = 0; i < findings->count && !err; i++) {
		struct tfs_draft *draft = &findings->items[i];

		if (!draft->finding.doubt && draft->hit_count)
			draft->finding.doubt = doubt;
		draft->finding.level = level_of(steady, draft);
	}
	return err ? err : number_groups(findings, out_groups, out_count);
}

static int compare_drafts(const void *a, const void *b)
{
	const struct tfs_finding *x = &((const struct tfs_draft *)a)->finding;
	const struct tfs_finding *y = &((const struct tfs_draft *)b)->finding;

	if (x->cost.ns != y->cost.ns)
		return x->cost.ns > y->cost.ns ? -1 : 1;
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	if (x->rule != y->rule)
		return strcmp(x->rule->id, y->rule->id);
	return (x->site > y->site) - (x->site < y->site);
}

void tfs_findings_rank(struct tfs_findings *findings)
{
	if (findings->count)
		qsort(findings->items, findings->count, sizeof(*findings->items), compare_drafts);
}
