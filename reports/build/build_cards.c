/* SPDX-License-Identifier: MIT */
/* One cause, one card: findings that share a cost, or stand at one line of one stack. */
#include "reports/build/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool same_line(const struct tfs_model_place *one, const struct tfs_model_place *other)
{
	const struct tfs_model_frame *a = tfs_model_best_frame(one);
	const struct tfs_model_frame *b = tfs_model_best_frame(other);

	if (!a || !b || one->key != other->key || a->line != b->line)
		return false;
	return a->line || (a->module && b->module && !strcmp(a->module, b->module));
}

static size_t root_of(const size_t *parents, size_t finding)
{
	while (parents[finding] != finding)
		finding = parents[finding];
	return finding;
}

/* The root of a card is its first finding. */
static void unite(const struct tfs_model *model, size_t *parents)
{
	for (size_t i = 0; i < model->finding_count; i++)
		parents[i] = i;
	for (size_t i = 0; i < model->finding_count; i++) {
		const struct tfs_model_finding *one = &model->findings[i];

		for (size_t j = i + 1; j < model->finding_count; j++) {
			const struct tfs_model_finding *other = &model->findings[j];
			const size_t a = root_of(parents, i), b = root_of(parents, j);

			if ((one->group && one->group == other->group) ||
				same_line(&one->place, &other->place))
				parents[a > b ? a : b] = a > b ? b : a;
		}
	}
}

/* When a call site's function is first called in a step. */
struct start {
	uint32_t site;
	uint16_t function;
	uint64_t first_ns;
};

static int by_site(const void *a, const void *b)
{
	const struct start *one = a;
	const struct start *other = b;

	if (one->site != other->site)
		return one->site < other->site ? -1 : 1;
	return (one->function > other->function) - (one->function < other->function);
}

/* Of every finding; one pass over the calls. */
static struct start *find_starts(const struct tfs_build *build, struct tfs_arena *arena)
{
	const struct tfs_timeline *timeline = build->timeline;
	const struct tfs_judgement *judgement = build->judgement;
	const size_t count = judgement->finding_count;
	struct start *starts = tfs_arena_alloc(arena, count, sizeof(*starts));

	if (!starts)
		return NULL;
	for (size_t i = 0; i < count; i++)
		starts[i] = (struct start){
			judgement->findings[i].site, judgement->findings[i].function, UINT64_MAX};
	if (count)
		qsort(starts, count, sizeof(*starts), by_site);
	for (uint32_t i = 0; count && i < timeline->call_count; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		const struct start key = {call->record->site, (uint16_t)call->function, 0};
		struct start *start = bsearch(&key, starts, count, sizeof(key), by_site);

		if (start && call->step != TFS_NONE && call->start_ns < start->first_ns)
			start->first_ns = call->start_ns;
	}
	return starts;
}

static uint64_t first_call(
	const struct tfs_build *build, const struct start *starts, size_t finding)
{
	const struct tfs_finding *from = &build->judgement->findings[finding];
	const struct start key = {from->site, from->function, 0};
	const struct start *start =
		bsearch(&key, starts, build->judgement->finding_count, sizeof(key), by_site);

	return start ? start->first_ns : UINT64_MAX;
}

/* In the order of the program. */
static void sort_findings(
	const struct tfs_build *build, const struct start *starts, size_t *findings, size_t count)
{
	for (size_t i = 1; i < count; i++) {
		const size_t moved = findings[i];
		const uint64_t first = first_call(build, starts, moved);
		size_t to = i;

		for (; to && first_call(build, starts, findings[to - 1]) > first; to--)
			findings[to] = findings[to - 1];
		findings[to] = moved;
	}
}

/* What is in one group costs once; how much of two groups at one line is the same is not known. */
static void add_cost(struct tfs_cost *cost, const struct tfs_cost *more, double step_ns)
{
	const double most = fmax(step_ns, fmax(cost->high_ns, more->high_ns));

	if (!(more->ns > cost->ns) && !(more->high_ns > 0))
		return;
	if (more->ns > cost->ns || !(cost->ns > 0)) {
		cost->ns = more->ns;
		cost->method = more->method;
	}
	cost->low_ns = fmax(cost->low_ns, more->low_ns);
	cost->high_ns = fmin(cost->high_ns + more->high_ns, most);
}

static void conclude(const struct tfs_model *model, struct tfs_model_card *card)
{
	const struct tfs_model_finding *lead = &model->findings[card->findings[0]];

	card->lead = card->findings[0];
	card->cost = lead->cost;
	card->level = lead->level;
	card->repaired = lead->repaired;
	for (size_t i = 1; i < card->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[card->findings[i]];
		bool counted = false;

		card->repaired &= finding->repaired;
		for (size_t j = 0; j < i; j++)
			counted |= finding->group &&
				   finding->group == model->findings[card->findings[j]].group;
		if (!counted)
			add_cost(&card->cost, &finding->cost, model->steps.written_ns);
		if (finding->level > card->level) {
			card->level = finding->level;
			card->lead = card->findings[i];
		}
	}
}

/* By recoverable time, of which there is none behind a rewrite; the level is a tag. */
static int most_expensive_first(const void *a, const void *b)
{
	const struct tfs_model_card *one = a;
	const struct tfs_model_card *other = b;
	const double mine = isnan(one->cost.ns) ? 0 : one->cost.ns;
	const double its = isnan(other->cost.ns) ? 0 : other->cost.ns;

	if (one->repaired != other->repaired)
		return one->repaired ? 1 : -1;
	if (mine != its)
		return mine > its ? -1 : 1;
	if (one->level != other->level)
		return one->level > other->level ? -1 : 1;
	return (one->lead > other->lead) - (one->lead < other->lead);
}

void tfs_build_cards(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	struct tfs_arena *arena = &model->arena;
	const size_t count = model->finding_count;
	struct tfs_model_card *cards = tfs_arena_alloc(arena, count, sizeof(*cards));
	size_t *parents = tfs_arena_alloc(arena, count, sizeof(*parents));
	size_t *members = tfs_arena_alloc(arena, count, sizeof(*members));
	const struct start *starts = find_starts(build, arena);
	size_t used = 0;

	if (arena->failed)
		return;
	unite(model, parents);
	for (size_t i = 0; i < count; i++) {
		if (parents[i] != i)
			continue;
		struct tfs_model_card *card = &cards[model->card_count++];
		size_t *findings = &members[used];

		for (size_t j = i; j < count; j++)
			if (root_of(parents, j) == i)
				findings[card->finding_count++] = j;
		used += card->finding_count;
		sort_findings(build, starts, findings, card->finding_count);
		card->findings = findings;
		conclude(model, card);
	}
	if (count)
		qsort(cards, model->card_count, sizeof(*cards), most_expensive_first);
	model->cards = cards;
	for (size_t i = 0; i < model->card_count; i++)
		model->open_cards += !cards[i].repaired;
}
