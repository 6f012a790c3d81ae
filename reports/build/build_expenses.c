/* SPDX-License-Identifier: MIT */
#include "reports/build/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reports/build/places.h"
#include "reports/model/words.h"

#define MOST_SHOWN 10u

static const struct {
	const char *key;
	const char *title;
	const char *whole; /* behind "of" */
} kinds[TFS_EXPENSES] = {
	[TFS_EXPENSE_BLOCKED] = {"blocked", "host time in blocking calls", "the recorded time"},
	[TFS_EXPENSE_DEVICE] = {"gpu", "GPU time", "the time in which GPU activity was recorded"},
	[TFS_EXPENSE_BYTES] = {"bytes", "bytes copied and set", "all bytes"},
};

static int by_name(const void *a, const void *b)
{
	const struct tfs_model_expense *one = a, *two = b;
	const int order = strcmp(one->where, two->where);

	return order ? order : strcmp(one->function, two->function);
}

static int by_amount(const void *a, const void *b)
{
	const struct tfs_model_expense *one = a, *two = b;

	if (one->amount != two->amount)
		return one->amount > two->amount ? -1 : 1;
	return by_name(a, b);
}

/* Call sites that read alike, as they differ only in their callers, become one. */
static size_t join(struct tfs_model_expense *items, size_t count)
{
	size_t kept = 0;

	if (count)
		qsort(items, count, sizeof(*items), by_name);
	for (size_t i = 0; i < count; i++) {
		if (kept && !by_name(&items[kept - 1], &items[i])) {
			items[kept - 1].sites++;
			items[kept - 1].calls += items[i].calls;
			items[kept - 1].amount += items[i].amount;
		} else {
			items[kept++] = items[i];
		}
	}
	if (kept)
		qsort(items, kept, sizeof(*items), by_amount);
	return kept;
}

static void fill(
	struct tfs_build *build, enum tfs_expense_kind kind, struct tfs_model_expenses *out_list)
{
	const struct tfs_expenses *list = &build->judgement->expenses[kind];
	struct tfs_arena *arena = &build->model->arena;
	struct tfs_model_expense *items = tfs_arena_alloc(arena, list->count + 1, sizeof(*items));

	if (!items)
		return;
	for (size_t i = 0; i < list->count; i++) {
		const struct tfs_model_place place =
			tfs_places_find(build->places, list->items[i].site);

		items[i] = (struct tfs_model_expense){
			.function = tfs_arena_string(
				arena, tfs_trace_function(build->trace, list->items[i].function)),
			.place = place,
			.where = place.frame_count ? tfs_words_place(arena, &place)
						   : "unknown call site",
			.sites = 1,
			.calls = list->items[i].calls,
			.amount = list->items[i].amount};
	}
	out_list->key = kinds[kind].key;
	out_list->title = kinds[kind].title;
	out_list->whole_name = kinds[kind].whole;
	out_list->bytes = kind == TFS_EXPENSE_BYTES;
	out_list->whole = list->whole > 0 ? list->whole : NAN;
	out_list->unowned = list->unowned;
	out_list->items = items;
	out_list->count = join(items, list->count);
	while (out_list->count > MOST_SHOWN) {
		out_list->more++;
		out_list->more_amount += items[--out_list->count].amount;
	}
}

/* What the verdict can say of a run whose steps are not known: where its time went. */
static const char *verdict(const struct tfs_build *build, const struct tfs_model_expenses *list)
{
	struct tfs_arena *arena = &build->model->arena;
	const struct tfs_model_expense *first = list->items;

	return tfs_arena_print(arena, "%s; the whole run: %s at %s takes %s of the %s%s%s",
		build->judgement->verdict, first->function, first->where,
		tfs_words_time(arena, first->amount), list->title,
		isnan(list->whole) ? "" : ", which is ",
		isnan(list->whole) ? ""
				   : tfs_arena_print(arena, "%s of %s",
					     tfs_words_share(arena, first->amount / list->whole),
					     list->whole_name));
}

void tfs_build_expenses(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	struct tfs_model_expenses *lists;

	if (model->steps.judged)
		return;
	lists = tfs_arena_alloc(&model->arena, TFS_EXPENSES, sizeof(*lists));
	if (!lists)
		return;
	for (unsigned i = 0; i < TFS_EXPENSES; i++) {
		fill(build, (enum tfs_expense_kind)i, &lists[model->expense_count]);
		if (lists[model->expense_count].count || lists[model->expense_count].unowned > 0)
			model->expense_count++;
		else
			lists[model->expense_count] = (struct tfs_model_expenses){0};
	}
	model->expenses = lists;
	for (size_t i = 0; i < model->expense_count && !model->usable; i++) {
		if (!lists[i].count || lists[i].bytes)
			continue;
		model->verdict = verdict(build, &lists[i]);
		break;
	}
}
