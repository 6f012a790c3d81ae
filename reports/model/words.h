/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_MODEL_WORDS_H
#define TFS_REPORTS_MODEL_WORDS_H

/*
 * Figures and names as people and machines read them, the same in every format.
 */

#include <stdbool.h>
#include <stddef.h>

#include "reports/model/model.h"
#include "rules/support/arena.h"

/* rules/support/figures.h, with texts that live as long as the arena. */
const char *tfs_words_time(struct tfs_arena *arena, double ns);
const char *tfs_words_bytes(struct tfs_arena *arena, double bytes);
const char *tfs_words_count(struct tfs_arena *arena, double count);
const char *tfs_words_number(
	struct tfs_arena *arena, double count, const char *one, const char *many);
const char *tfs_words_calls(struct tfs_arena *arena, double per_step);
/* "step", or "iteration" where these stand for steps; and several. */
const char *tfs_words_step(const struct tfs_model *model);
const char *tfs_words_steps(const struct tfs_model *model);
/* "per step", or what stands for it. */
const char *tfs_words_each(const struct tfs_model *model);
const char *tfs_words_share(struct tfs_arena *arena, double share);

/* "1.58×" */
const char *tfs_words_factor(struct tfs_arena *arena, double factor);
/* "1.1 ms to 1.4 ms"; says so where there is no interval. */
const char *tfs_words_span(struct tfs_arena *arena, double low_ns, double high_ns);
/* A step as written, now and possible in one line; NULL where no step is known. */
const char *tfs_words_headline(struct tfs_arena *arena, const struct tfs_model *model);

/* The rewrites that are off and have nothing to tell: "jemalloc, memoise"; "" = none. */
const char *tfs_words_off(struct tfs_arena *arena, const struct tfs_model *model);

/* No cost was looked for, or none could be told, which is not one of 0. */
bool tfs_words_costless(const struct tfs_cost *cost);

/* "replay": how it was found. */
const char *tfs_words_method(const struct tfs_cost *cost);

/* "1.20 ms (1.1 to 1.4)", or "none measurable" when there is no cost. */
const char *tfs_words_cost(struct tfs_arena *arena, const struct tfs_cost *cost);

/* "train.c:42", the innermost frame with a line; else a function, else a module. */
const char *tfs_words_place(struct tfs_arena *arena, const struct tfs_model_place *place);

/* "train.c:42 (upload)" for a frame. */
const char *tfs_words_frame(struct tfs_arena *arena, const struct tfs_model_frame *frame);

const char *tfs_words_level(enum tfs_level level);
/* For machines, for people, and a sign. */
const char *tfs_words_state(enum tfs_state state);
const char *tfs_words_state_text(enum tfs_state state);
const char *tfs_words_state_sign(enum tfs_state state);
/* For people: a rewrite's state by its name for machines. */
const char *tfs_words_rewrite_state(const char *state);

/* The n-th rule that is not looked for, in order of id; false behind the last. */
bool tfs_words_unwritten_at(size_t n, const char **out_id, const char **out_slug);

/* "TFS102 blocking-copy, ...": all of them. */
const char *tfs_words_unwritten(struct tfs_arena *arena, size_t *out_count);

/* "TFS101 pageable-copy + TFS203 read-back-each-step": every rule of a card, each once. */
const char *tfs_words_ids(
	struct tfs_arena *arena, const struct tfs_model *model, const struct tfs_model_card *card);

/* "980 more like these: TFS101 (900), TFS402 (80)": the cards from `first` to before `end`. */
const char *tfs_words_more(
	struct tfs_arena *arena, const struct tfs_model *model, size_t first, size_t end);

/* A sign beside the level's colour: "x", "!", "i". */
const char *tfs_words_sign(enum tfs_level level);

#endif
