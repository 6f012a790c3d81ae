/* SPDX-License-Identifier: MIT */
#include "reports/formats/text_steps.h"

#include <math.h>

#include "reports/formats/text.h"
#include "reports/model/model.h"
#include "reports/model/words.h"

static void count_steps(const struct tfs_model_steps *steps, FILE *out, struct tfs_arena *arena)
{
	if (steps->iterations) {
		tfs_text_line(out,
			"steps     none found: no weight update was seen; %s of the loop with most calls stand for them",
			tfs_words_number(arena, (double)steps->count, "iteration", "iterations"));
		return;
	}
	tfs_text_line(out, "steps     %s%s; step boundaries from %s",
		tfs_words_number(arena, (double)steps->count, "training step", "training steps"),
		steps->warmup ? tfs_arena_print(arena, " after %s",
					tfs_words_number(arena, (double)steps->warmup,
						"warm-up step", "warm-up steps"))
			      : "",
		steps->source);
}

void tfs_text_steps(const struct tfs_model *model, FILE *out, struct tfs_arena *arena)
{
	const struct tfs_model_steps *steps = &model->steps;
	const bool overlap = !isnan(steps->copy_overlap);

	if (!steps->source || !steps->count) {
		fputs("steps     none found\n", out);
	} else {
		count_steps(steps, out, arena);
		fprintf(out, "          median %s, p95 %s%s\n",
			tfs_words_time(arena, steps->median_ns),
			tfs_words_time(arena, steps->p95_ns),
			model->simulated ? " (host clock; device times are modelled)" : "");
		if (steps->ahead)
			tfs_text_line(out,
				"          the host runs ahead of the device: %s lasts from the end of one %s's work on the device to that of the next",
				steps->iterations ? "an iteration" : "a step",
				tfs_words_step(model));
	}
	if (!isnan(steps->gpu_busy))
		fprintf(out, "gpu       busy %s of the %s; %s%s\n",
			tfs_words_share(arena, steps->gpu_busy), tfs_words_step(model),
			overlap ? tfs_words_share(arena, steps->copy_overlap) : "no copies",
			overlap ? " of copy time overlapped" : "");
}
