/* SPDX-License-Identifier: MIT */
#include "reports/gate/gate_cards.h"

#include <stdio.h>

#include "reports/formats/text.h"
#include "reports/model/words.h"

static void print_growth(const struct tfs_standing_of *of, struct tfs_arena *arena)
{
	if (tfs_pairing_more_calls(of->calls, of->calls_before))
		printf("%s, %s in the baseline", tfs_words_calls(arena, of->calls),
			tfs_words_count(arena, of->calls_before));
	else
		printf("%s/step, %s in the baseline", tfs_words_bytes(arena, of->bytes),
			tfs_words_bytes(arena, of->bytes_before));
}

static void print_standing(const struct tfs_model_finding *finding,
	const struct tfs_standing_of *of, struct tfs_arena *arena)
{
	static const char *const words[] = {"new", "known", "known", "worse"};

	printf("  [%s", words[of->standing]);
	if (of->was && of->was->place.key != finding->place.key) {
		const struct tfs_model_frame *frame = tfs_model_best_frame(&of->was->place);

		fputs(", was at ", stdout);
		tfs_text_put(stdout, tfs_words_place(arena, &of->was->place));
		if (frame && frame->file && frame->function) {
			fputs(" in ", stdout);
			tfs_text_put(stdout, frame->function);
		}
	}
	if (of->standing == TFS_STANDING_SCALED || of->standing == TFS_STANDING_WORSE) {
		fputs(": ", stdout);
		print_growth(of, arena);
	}
	if (of->standing == TFS_STANDING_SCALED)
		fputs(", in proportion to the other calls of the step", stdout);
	putchar(']');
}

static bool known(enum tfs_standing standing)
{
	return standing == TFS_STANDING_KNOWN || standing == TFS_STANDING_SCALED;
}

static void put_place(const struct tfs_model_finding *finding, struct tfs_arena *arena)
{
	tfs_text_put(stdout, tfs_words_place(arena, &finding->place));
	if (finding->call) {
		fputs("  ", stdout);
		tfs_text_put(stdout, finding->call);
	}
	if (finding->count_per_step > 0)
		printf("  %s", tfs_words_calls(arena, finding->count_per_step));
}

static bool same_site(const struct tfs_model_finding *one, const struct tfs_model_finding *other)
{
	const struct tfs_model_frame *a = tfs_model_best_frame(&one->place);
	const struct tfs_model_frame *b = tfs_model_best_frame(&other->place);

	return one->place.key == other->place.key && a && b && a->line == b->line;
}

static size_t count_sites(const struct tfs_model *model, const struct tfs_model_card *card)
{
	size_t sites = 0;

	for (size_t i = 0; i < card->finding_count; i++) {
		const struct tfs_model_finding *finding = &model->findings[card->findings[i]];
		bool told = false;

		for (size_t j = 0; j < i; j++)
			told |= same_site(finding, &model->findings[card->findings[j]]);
		sites += !told;
	}
	return sites;
}

/* Of a card of which only some findings are known, those that are not. */
static void print_unknown(const struct tfs_model *model, const struct tfs_model_card *card,
	const struct tfs_standing_of *of, struct tfs_arena *arena)
{
	for (size_t i = 0; i < card->finding_count; i++) {
		const size_t at = card->findings[i];
		const struct tfs_model_finding *finding = &model->findings[at];

		if (known(of[at].standing))
			continue;
		printf("        %-5s %s %s  ", tfs_words_level(finding->level), finding->rule->id,
			finding->rule->slug);
		put_place(finding, arena);
		print_standing(finding, &of[at], arena);
		putchar('\n');
	}
}

void tfs_gate_card_print(const struct tfs_model *model, const struct tfs_model_card *card,
	const struct tfs_paint *paint, const struct tfs_standing_of *of, struct tfs_arena *arena)
{
	const struct tfs_model_finding *lead = &model->findings[card->lead];
	const size_t sites = count_sites(model, card);
	size_t unknown = 0;
	bool alike = true;

	for (size_t i = 0; of && i < card->finding_count; i++) {
		unknown += !known(of[card->findings[i]].standing);
		alike &= of[card->findings[i]].standing == of[card->lead].standing;
	}
	printf("%s%s %-5s%s %s  ", tfs_paint_level(paint, card->level), tfs_words_sign(card->level),
		tfs_words_level(card->level), paint->reset, tfs_words_ids(arena, model, card));
	put_place(lead, arena);
	if (sites > 1)
		printf(", first of %zu call sites", sites);
	if (card->cost.ns > 0)
		printf(", costs %s/step%s", tfs_words_time(arena, card->cost.ns),
			model->simulated ? " (modelled)" : "");
	if (of && (alike || !unknown))
		print_standing(lead, &of[card->lead], arena);
	else if (of)
		printf("  [not known or worse: %zu of %zu findings]", unknown, card->finding_count);
	putchar('\n');
	if (of && unknown && !alike)
		print_unknown(model, card, of, arena);
}
