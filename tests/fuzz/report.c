/* SPDX-License-Identifier: MIT */
/*
 * Everything that `tfshim report` and `tfshim check --baseline` do with a recording: read, lay out,
 * judge, resolve, write in every format, compare. An input is one recording, or two behind each
 * other, of which the second is the baseline; alone, a recording is its own. What is written must
 * be well formed, and must not steer a terminal or a page.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/format.h"
#include "reports/formats/page.h"
#include "reports/gate/gate.h"
#include "reports/support/load.h"
#include "reports/support/save.h"
#include "shim/trace/format/format.h"
#include "tests/fuzz/well_formed.h"

const char tfs_page_style[] = "";
const char tfs_page_script[] = "";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void need(const char *wrong, const char *what, const char *text, size_t size, size_t at)
{
	if (!wrong)
		return;
	const size_t from = at > 160 ? at - 160 : 0;

	fprintf(stderr, "%s: %s at byte %zu of %zu:\n%.*s\n", what, wrong, at, size,
		(int)(at - from + 40), text + from);
	abort();
}

static void need_all(const struct tfs_format *format, const char *text, size_t size)
{
	const bool html = !strcmp(format->name, "html");
	const char *name = format->name;
	size_t at;

	need(well_formed_text(text, size, html, &at), name, text, size, at);
	if (!strcmp(name, "json"))
		need(well_formed_json(text, size, &at), name, text, size, at);
	if (!html)
		return;
	need(well_formed_html(text, size, 2, &at), name, text, size, at);
	static const char mark[] = "id=\"data\">";
	const char *data = strstr(text, mark);
	const char *end = data ? strstr(data, "</script>") : NULL;

	need(end ? NULL : "no data", name, text, size, 0);
	char *copy = strndup(data + strlen(mark), (size_t)(end - data) - strlen(mark));

	if (copy)
		need(well_formed_json(copy, strlen(copy), &at), "the page's data", copy,
			strlen(copy), at);
	free(copy);
}

static void write_all(const struct tfs_model *model)
{
	for (size_t i = 0; tfs_formats[i]; i++) {
		char *text = NULL;
		size_t size = 0;
		FILE *out = open_memstream(&text, &size);

		tfs_formats[i]->write(model, out, &tfs_paint_plain);
		fclose(out);
		need_all(tfs_formats[i], text, size);
		free(text);
	}
}

/* What a command prints, which may go to a terminal. */
static void say(const struct tfs_model *now, const struct tfs_model *before)
{
	struct tfs_gate gate = {.baseline = "baseline.tfs", .colour = TFS_COLOUR_NEVER};
	struct tfs_comparison comparison;
	FILE *const out = stdout, *const err = stderr;
	char *text = NULL;
	size_t size = 0, at;
	FILE *said = open_memstream(&text, &size);

	tfs_baseline_compare(now, before, &comparison);
	stdout = stderr = said;
	tfs_save_summary(now);
	tfs_gate_print(&gate, now, &comparison);
	tfs_gate_print(&gate, now, NULL);
	stdout = out;
	stderr = err;
	fclose(said);
	need(well_formed_text(text, size, 0, &at), "what is said", text, size, at);
	free(text);
	tfs_baseline_finish(&comparison);
}

static int load(const uint8_t *data, size_t size, bool charts, struct tfs_model *out_model)
{
	const struct tfs_load_options options = {.charts = charts};
	struct tfs_trace *trace = NULL;
	char *why = NULL;
	int err = tfs_trace_open_memory(data, size, NULL, &trace);

	if (err)
		return err;
	err = tfs_load_trace(trace, "recording.tfs", &options, out_model, &why);
	free(why);
	tfs_trace_close(trace);
	return err;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const size_t length = sizeof(TFS_MAGIC) - 1;
	const uint8_t *second =
		size > length ? memmem(data + length, size - length, TFS_MAGIC, length) : NULL;
	const size_t first = second ? (size_t)(second - data) : size;
	struct tfs_model now, before;

	if (load(data, first, true, &now))
		return 0;
	write_all(&now);
	if (second && load(second, size - first, false, &before) == 0) {
		say(&now, &before);
		say(&before, &now);
		tfs_model_finish(&before);
	} else {
		say(&now, &now);
	}
	tfs_model_finish(&now);
	return 0;
}
