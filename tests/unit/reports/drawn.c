/* SPDX-License-Identifier: MIT */
/* Where the page's charts put what they draw: lengths and positions by hand. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/formats/html.h"
#include "tests/test.h"

#define MANY 2001u
#define MERGED 300u /* spans of a lane: too many to point at */

/* One section of the page; the caller frees it. */
static char *section(const struct tfs_model *model, void (*write)(struct tfs_html *html))
{
	char *text = NULL;
	size_t bytes = 0;
	struct tfs_html html = {.out = open_memstream(&text, &bytes), .model = model};

	TEST_NEED(html.out);
	write(&html);
	TEST_NEED(!fclose(html.out));
	tfs_arena_finish(&html.arena);
	return text;
}

static unsigned times(const char *text, const char *part)
{
	unsigned count = 0;

	for (; (text = strstr(text, part)); text++)
		count++;
	return count;
}

static void has(const char *text, const char *part)
{
	if (!TEST_EQ(times(text, part), 1))
		printf("  %s\n", part);
}

/* The edge is one and a half times the 95th percentile of what is no warm-up: 3 ms. */
static void step_times(void)
{
	static const struct tfs_chart_step steps[] = {
		{.index = 7, .duration_ns = 20e6, .phase = TFS_CHART_WARMUP},
		{.index = 8, .duration_ns = 1e6, .phase = TFS_CHART_TRAINING, .in_window = true},
		{.index = 9,
			.duration_ns = 2e6,
			.phase = TFS_CHART_TRAINING,
			.in_window = true,
			.rewritten = true},
		{.index = 10,
			.duration_ns = 2e6,
			.phase = TFS_CHART_EVALUATION,
			.rewritten = true}};
	struct tfs_model model = {.steps = {.median_ns = 1.5e6, .p95_ns = 4e6}};

	model.charts.steps = steps;
	model.charts.step_count = 4;
	model.charts.steps_merged = 1;
	char *text = section(&model, tfs_html_timeline);

	has(text, "<rect class=\"step warmup\" x=\"64\" y=\"14\" width=\"256.5\" height=\"150\">");
	has(text, "<path class=\"outlier\" d=\"M192.75 5l4 6h-8z\"><title>20.0 ms<");
	has(text,
		"<rect class=\"step training\" x=\"321.5\" y=\"114\" width=\"256.5\" height=\"50\">"
		"<title>step 8 (training): 1.00 ms</title>");
	has(text,
		"<rect class=\"step rewritten\" x=\"579\" y=\"64\" width=\"256.5\" height=\"100\">");
	has(text, "<rect class=\"step evaluation\" x=\"836.5\" y=\"64\" ");
	has(text, "<rect class=\"band\" x=\"64\" y=\"14\" width=\"257.5\" height=\"150\"/>");
	has(text, "<rect class=\"window\" x=\"321.5\" y=\"169\" width=\"515\" height=\"6\"/>");
	has(text,
		"d=\"M64 164H1094\"/><text class=\"tick\" x=\"56\" y=\"168\" text-anchor=\"end\">0<");
	has(text, "d=\"M64 14H1094\"/><text class=\"tick\" x=\"56\" y=\"18\" "
		  "text-anchor=\"end\">3.00 ms<");
	has(text, "<path class=\"line\" d=\"M64 89H1094\"/>");
	has(text, "x=\"1090\" y=\"105\" text-anchor=\"end\">median 1.50 ms<");
	/* Above the edge no line is drawn. */
	TEST_EQ(times(text, "class=\"line\""), 1);
	has(text, "<text class=\"tick\" x=\"64\" y=\"196\">step 7<");
	has(text, "<text class=\"tick\" x=\"1094\" y=\"196\" text-anchor=\"end\">step 10<");
	has(text, "<tr><td>training</td><td class=\"num\">2</td><td class=\"num\">1.00 ms</td>"
		  "<td class=\"num\">1.50 ms</td><td class=\"num\">2.00 ms</td></tr>");
	free(text);
	/* What is hardly longer than the 95th percentile is not cut. */
	struct tfs_chart_step even[] = {steps[1], steps[2], steps[3]};

	even[0].duration_ns = 3.8e6;
	model.charts.steps = even;
	model.charts.step_count = 3;
	text = section(&model, tfs_html_timeline);
	TEST_EQ(times(text, "class=\"outlier\" d="), 0);
	has(text, "text-anchor=\"end\">3.99 ms<");
	free(text);
}

/* Three steps to a bar: the longest of them. */
static void many_step_times(void)
{
	struct tfs_chart_step *steps = calloc(MANY, sizeof(*steps));
	struct tfs_model model = {
		.charts = {.steps = steps, .step_count = MANY, .steps_merged = 1}};

	TEST_NEED(steps);
	for (unsigned i = 0; i < MANY; i++)
		steps[i] = (struct tfs_chart_step){.index = i,
			.duration_ns = i % 3 == 1 ? 2e6 : 1e6,
			.phase = TFS_CHART_TRAINING};
	char *text = section(&model, tfs_html_timeline);

	TEST_EQ(times(text, "<rect class=\"step training\""), MANY / 3);
	TEST_EQ(times(text, "2.00 ms, the longest of 3</title>"), MANY / 3);
	has(text, "<title>step 1999 (training): 2.00 ms, the longest of 3<");
	free(text);
	free(steps);
}

static void memory_in_use(void)
{
	static const double parts[] = {0, 100, 200, 200, 50};
	static const struct tfs_chart_window window = {2.5e6, 5e6};
	struct tfs_model model = {
		.charts = {.memory = {parts, 5, 10e6, 200, 4e6, 50, 400, &window, 1}}};
	char *text = section(&model, tfs_html_memory);

	/* Half of the device's memory is in use: the chart reaches up to all of it. */
	has(text, "<path class=\"memory\" d=\"M84 124H286V96.5H488V69H892V110.25H1094V124Z\"/>");
	has(text, "<rect class=\"window\" x=\"336.5\" y=\"129\" width=\"252.5\" height=\"6\"/>");
	has(text,
		"d=\"M84 69H1094\"/><text class=\"tick\" x=\"76\" y=\"73\" text-anchor=\"end\">200 B<");
	has(text,
		"d=\"M84 14H1094\"/><text class=\"tick\" x=\"76\" y=\"18\" text-anchor=\"end\">400 B<");
	has(text, "text-anchor=\"end\">10.0 ms<");
	has(text, "Reached after</th><td class=\"num\">4.00 ms<");
	has(text, "In use at the end</th><td class=\"num\">50 B<");
	has(text, "The device has</th><td class=\"num\">400 B<");
	free(text);
	/* Little of a large device's is: up to what there is, and some air. */
	model.charts.memory.device_bytes = 501;
	text = section(&model, tfs_html_memory);
	has(text, "text-anchor=\"end\">230 B<");
	free(text);
}

static void inside_a_step(void)
{
	static const char *const names[] = {"unknown", "first", "second", "up"};
	/* A hundredth of a millisecond is a point wide. */
	static const struct tfs_chart_span spans[] = {{0, 1e5, 1, TFS_LANE_HOST},
		{1e6, 2.5e6, 1, TFS_LANE_COMPUTE}, {2e6, 3e6, 2, TFS_LANE_COMPUTE},
		{5e6, 5.25e6, 2, TFS_LANE_COMPUTE}, {2e6, 4e6, 3, TFS_LANE_H2D}};
	static const struct tfs_chart_detail detail = {"median", 12, 9.45e6, spans, 5};
	struct tfs_model model = {
		.charts = {.names = names, .name_count = 4, .details = &detail, .detail_count = 1}};
	char *text = section(&model, tfs_html_lanes);

	has(text, "<rect class=\"span host\" x=\"0\" y=\"0\" width=\"10\" height=\"24\">");
	has(text, "<rect class=\"span compute\" x=\"100\" y=\"30\" width=\"150\" height=\"24\">"
		  "<title>first: 1.50 ms at 1.00 ms<");
	has(text, "<rect class=\"span h2d\" x=\"200\" y=\"60\" width=\"200\" height=\"24\">");
	has(text, "<path class=\"span overlap\" d=\"M200 96h100v12h-100z\"/>");
	has(text, "<path class=\"span idle\" d=\"M0 118h100v12h-100zM400 118h100v12h-100zM525 "
		  "118h420v12h-420z\"/>");
	/* Every millisecond. */
	has(text, "<path class=\"grid\" d=\"M132 0V136\"/>");
	has(text, "<path class=\"grid\" d=\"M232 0V136\"/>");
	TEST_EQ(times(text, "class=\"grid\""), 10);
	has(text, "compute</td><td class=\"num\">3</td><td class=\"num\">2.25 ms</td>"
		  "<td class=\"num\">24 %</td><td><code>first</code> \xc3\x97"
		  "1, 1.50 ms; <code>second</code> \xc3\x97"
		  "2, 1.25 ms</td>");
	has(text, "copies overlapped by computation</td><td class=\"num\">1</td>"
		  "<td class=\"num\">1.00 ms</td>");
	has(text, "GPU idle</td><td class=\"num\">3</td><td class=\"num\">6.20 ms</td>");
	free(text);
}

/* What shares a pixel is one piece; where there is a gap, another begins. */
static void too_many_spans(void)
{
	static struct tfs_chart_span spans[MERGED];
	static const struct tfs_chart_detail detail = {"worst", 3, 18.9e6, spans, MERGED};
	struct tfs_model model = {.charts = {.details = &detail, .detail_count = 1}};

	for (unsigned i = 0; i < MERGED; i++) {
		const double start_ns = i * 2e4 + (i < 100 ? 0 : 4e6);

		spans[i] = (struct tfs_chart_span){start_ns, start_ns + 16e3, 0, TFS_LANE_COMPUTE};
	}
	char *text = section(&model, tfs_html_lanes);

	has(text,
		"<path class=\"span compute\" d=\"M0 0h99.8v24h-99.8zM300 0h199.8v24h-199.8z\"/>");
	has(text, "300 merged");
	/* Every 2 ms. */
	TEST_EQ(times(text, "class=\"grid\""), 10);
	free(text);
}

static void shares_of_the_gpu(void)
{
	static const struct tfs_chart_share shares[] = {
		{"computing", 2e6, true}, {"idle, the host ran its own code", 3e6, false}};
	static const struct tfs_model_idle idle = {.text = "why", .ns = 1e6};
	struct tfs_model model = {.charts = {.shares = shares, .share_count = 2},
		.idle_ns = 3e6,
		.idle_explained = 0.25,
		.idles = &idle,
		.idle_count = 1};
	char *text = section(&model, tfs_html_gpu);

	has(text, "<rect class=\"share s0\" x=\"0\" width=\"399\" height=\"34\">");
	has(text, "<rect class=\"share s1\" x=\"400\" width=\"599\" height=\"34\">");
	has(text, "<rect class=\"hatch\" x=\"400\" width=\"599\" height=\"34\">");
	has(text, "<td class=\"num\">2.00 ms</td><td class=\"num\">40 %</td>");
	has(text, "Findings explain 25 % of the idle time; the largest of the rest:");
	has(text, "<li>1.00 ms: why</li>");
	free(text);
}

/* 10 ms, of which a rewrite has gained 2 and 3 are to be gained. */
static void from_written_to_possible(void)
{
	static const struct tfs_model_rewrite rewrites[] = {
		{.name = "doubtful", .gain = {1e6, 1e6, 1e6}},
		{.name = "proven", .proof = "A/B test", .gain = {2e6, 1e6, 3e6}}};
	struct tfs_model model = {.rewrites = rewrites, .rewrite_count = 2};
	struct tfs_model_headline *headline = &model.headline;
	const struct tfs_span written = {10e6, 9e6, 11e6};

	headline->text = "a line";
	headline->causes = 1;
	headline->open = (struct tfs_span){3e6, 2e6, 4e6};
	headline->as_written = tfs_headline_state(written, (struct tfs_span){0, 0, 0});
	headline->now = tfs_headline_state(written, rewrites[1].gain);
	headline->possible =
		tfs_headline_state(written, tfs_headline_sum(rewrites[1].gain, headline->open));
	char *text = section(&model, tfs_html_states);

	TEST_EQ(times(text, "<rect class=\"fill \" x=\"0\" width=\"100\" height=\"10\"/>"), 1);
	has(text, "<rect class=\"fill gained\" x=\"80\" width=\"20\" height=\"10\"/>");
	has(text, "<rect class=\"fill \" x=\"0\" width=\"80\" height=\"10\"/>");
	has(text, "<rect class=\"fill open\" x=\"50\" width=\"30\" height=\"10\"/>");
	has(text, "<rect class=\"fill \" x=\"0\" width=\"50\" height=\"10\"/>");
	TEST_EQ(times(text, "doubtful"), 0);
	free(text);
	/* What is not to be had is not drawn. */
	headline->possible = tfs_headline_unknown("no device");
	text = section(&model, tfs_html_states);
	TEST_EQ(times(text, "fix these"), 0);
	TEST_EQ(times(text, "<th scope=\"row\">possible"), 0);
	free(text);
}

static void gains_of_rewrites(void)
{
	static const struct tfs_model_rewrite rewrite = {.name = "one",
		.class_name = "exact",
		.state = "apply",
		.acts = true,
		.applied = 4,
		.off = "off",
		.predicted_ns = 1e6,
		.realised_ns = 5e5,
		.realised_low_ns = 2.5e5,
		.realised_high_ns = 2e6};
	struct tfs_model model = {.rewrites = &rewrite, .rewrite_count = 1, .whole = true};
	char *text = section(&model, tfs_html_fixed);

	has(text, "<rect class=\"fill soft\" width=\"50\" height=\"10\"/>");
	has(text, "<rect class=\"fill\" width=\"25\" height=\"10\"/>"
		  "<path class=\"whisker\" d=\"M12.5 5H100\"/>");
	has(text, "not proven: not counted as gained");
	free(text);
}

static void a_tree_of_calls(void)
{
	/* The second child has no children, and the GPU's time of it is not known. */
	static const struct tfs_chart_node nodes[] = {
		{.name = "whole program", .host_ns = 6e6, .gpu_ns = 4e6, .first_child = 1},
		{.name = "main", .host_ns = 5e6, .gpu_ns = 4e6, .first_child = 2, .next = 3},
		{.name = "cudaMemcpy",
			.is_call = true,
			.calls = 2,
			.bytes = 10,
			.host_ns = 2e6,
			.own_host_ns = 2e6,
			.gpu_ns = 3e6,
			.own_gpu_ns = 3e6},
		{.name = "start", .host_ns = 1e6, .gpu_ns = NAN, .own_gpu_ns = NAN}};
	struct tfs_model model = {.charts = {.nodes = nodes, .node_count = 4}};
	char *text = section(&model, tfs_html_tree);

	has(text, "<rect class=\"fill\" width=\"90\" height=\"10\"/>");
	has(text, "<rect class=\"fill\" width=\"50\" height=\"10\"/>");
	has(text, "<rect class=\"fill\" width=\"10\" height=\"10\"/>");
	TEST_EQ(times(text, "<li><details open>"), 1);
	has(text, "<code class=\"call\">cudaMemcpy</code>");
	has(text, "<span class=\"num\">not recorded</span>");
	free(text);
}

static void layers_of_a_step(void)
{
	static const struct tfs_model_layer layers[] = {
		{"forward", "", 0, 1, 12, 1e6, 9e5}, {"conv", "net", 2, 2, 4, 5e5, 4e5}};
	struct tfs_model model = {
		.layers = layers, .layer_count = 2, .layers_more = 3, .steps = {.judged_ns = 2e6}};
	char *text = section(&model, tfs_html_layers);

	has(text, "<td style=\"padding-left:0.6em\">forward</td>");
	has(text, "<td style=\"padding-left:3em\">net: conv</td>");
	has(text, "<td class=\"num\">50 %</td>");
	has(text, "<td class=\"num\">25 %</td>");
	has(text, "3 shorter ranges not shown.");
	free(text);
}

int main(void)
{
	step_times();
	many_step_times();
	memory_in_use();
	inside_a_step();
	too_many_spans();
	shares_of_the_gpu();
	from_written_to_possible();
	gains_of_rewrites();
	a_tree_of_calls();
	layers_of_a_step();
	return test_result();
}
