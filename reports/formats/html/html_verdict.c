/* SPDX-License-Identifier: MIT */
#include <math.h>

#include "reports/formats/html.h"
#include "reports/model/words.h"

static const char *verdict_class(const struct tfs_model *model)
{
	if (!model->usable)
		return "warn";
	if (model->levels[TFS_LEVEL_ERROR])
		return "error";
	return model->levels[TFS_LEVEL_WARN] ? "warn" : "good";
}

static const char *verdict_sign(const struct tfs_model *model)
{
	if (!model->usable)
		return "?";
	if (model->levels[TFS_LEVEL_ERROR])
		return "\xc3\x97";
	return model->levels[TFS_LEVEL_WARN] ? "!" : "\xe2\x9c\x93";
}

static void tile(struct tfs_html *html, const char *title, const char *figure, const char *detail)
{
	tfs_html_print(html,
		"<div class=\"tile\"><dt>%s</dt><dd><b>%s</b><small>%s</small></dd></div>\n", title,
		figure, detail);
}

static void step_tile(struct tfs_html *html)
{
	const struct tfs_model_steps *steps = &html->model->steps;
	struct tfs_arena *arena = &html->arena;
	if (!steps->count) {
		tile(html, "Step time", "no steps", "what depends on steps is not measurable");
		return;
	}
	tile(html, steps->iterations ? "All iterations, median" : "All steps, median",
		tfs_words_time(arena, steps->median_ns),
		tfs_arena_print(arena, "p95 %s \xc2\xb7 %s", tfs_words_time(arena, steps->p95_ns),
			tfs_words_number(arena, (double)steps->count, tfs_words_step(html->model),
				tfs_words_steps(html->model))));
}

static void quality_tile(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	struct tfs_arena *arena = &html->arena;
	size_t limits = 0;
	for (size_t i = 0; i < model->visibility_count; i++)
		limits += model->visibility[i].limits;
	uint64_t lost = 0;
	for (size_t i = 0; i < model->loss_count; i++)
		lost += model->losses[i].count;
	const char *figure = limits || lost ? "limited" : "complete";
	tile(html, "Evidence", figure,
		tfs_arena_print(arena, "%s judged \xc2\xb7 %s \xc2\xb7 %s",
			tfs_words_number(arena, (double)model->steps.judged, tfs_words_step(model),
				tfs_words_steps(model)),
			tfs_words_number(arena, (double)limits, "blind spot", "blind spots"),
			tfs_words_number(
				arena, (double)lost, "record dropped", "records dropped")));
}

static void gpu_tiles(struct tfs_html *html)
{
	const struct tfs_model_steps *steps = &html->model->steps;
	struct tfs_arena *arena = &html->arena;
	if (isnan(steps->gpu_busy)) {
		tile(html, "GPU busy", "not measurable", "no GPU activity was recorded");
		return;
	}
	tile(html, "GPU busy", tfs_words_share(arena, steps->gpu_busy),
		tfs_arena_print(arena, "of the judged %s", tfs_words_steps(html->model)));
	tile(html, "Copy overlap",
		isnan(steps->copy_overlap) ? "no copies"
					   : tfs_words_share(arena, steps->copy_overlap),
		"of copy time overlapped by computation");
}

void tfs_html_verdict(struct tfs_html *html)
{
	const struct tfs_model *model = html->model;
	struct tfs_arena *arena = &html->arena;
	tfs_html_raw(html, "<header>\n<div class=\"brand\"><span>tfshim</span> report"
			   "<span class=\"tools\" id=\"tools\"></span></div>\n");
	tfs_html_print(html, "<h1>%s</h1>\n<p class=\"meta\">", model->program_name);
	tfs_html_print(html, "<span>%s</span>", model->device ? model->device : "no GPU seen");
	tfs_html_print(html, "<span>%s</span>", model->started);
	if (!isnan(model->duration_ns))
		tfs_html_print(
			html, "<span>ran %s</span>", tfs_words_time(arena, model->duration_ns));
	tfs_html_print(
		html, "<span>rank %n, pid %n</span>", (double)model->rank, (double)model->pid);
	tfs_html_print(html, "<span class=\"path\">%s%s%s</span></p>\n", model->program,
		model->interpreter ? ", run by " : "",
		model->interpreter ? model->interpreter : "");
	if (model->simulated)
		tfs_html_raw(html,
			"<p class=\"simulated\">"
			"<b>Simulated device.</b> Counts and bytes are real; "
			"every cost is <em>modelled</em> and says nothing about the speed of any GPU.</p>\n");
	if (model->usable)
		tfs_html_states(html);
	tfs_html_print(html,
		"<div class=\"verdict %s\"><span aria-hidden=\"true\">%s</span><p>%s</p></div>\n",
		verdict_class(model), verdict_sign(model), model->verdict);
	if (!model->usable)
		tfs_html_states(html);
	tfs_html_raw(html, "<dl class=\"tiles\">\n");
	step_tile(html);
	gpu_tiles(html);
	quality_tile(html);
	tfs_html_raw(html, "</dl>\n</header>\n");
}
