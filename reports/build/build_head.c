/* SPDX-License-Identifier: MIT */
#include "reports/build/build.h"

#include <math.h>
#include <string.h>
#include <time.h>

#include "reports/build/places.h"
#include "reports/model/words.h"
#include "rules/timeline/recording_cost.h"
#include "shim/trace/format/iterations.h"

static const char *fact_name(struct tfs_arena *arena, const char *key)
{
	static const char *const names[][2] = {
		{"cudnn-search live", "cudnn-search, compared"},
		{"cupti", "GPU activity (CUPTI)"},
		{"nvtx", "NVTX"},
		{"steps", "search for steps"},
		{"steps.warmup", "warm-up of the search"},
	};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(key, names[i][0]))
			return names[i][1];
	char *name = tfs_arena_string(arena, key);
	for (char *c = name; *c; c++)
		*c = *c == '_' || *c == '.' ? ' ' : *c;
	return name;
}

/* How many processes the launcher's variables gave the job: that is told first. What NCCL's calls
 * tell later is more where a process holds several ranks. */
static uint32_t launched(const struct tfs_trace *trace, uint32_t latest)
{
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_fact); i++) {
		const struct tfs_fact_record *fact = tfs_trace_at(trace, TFS_RECORD_fact, i);

		if (fact->fact == TFS_FACT_processes)
			return fact->numbers[0] > 1 && fact->numbers[0] <= UINT32_MAX
				       ? (uint32_t)fact->numbers[0]
				       : latest;
	}
	return latest;
}

static void set_program(struct tfs_build *build, const char *path)
{
	struct tfs_model *model = build->model;
	struct tfs_arena *arena = &model->arena;
	const struct tfs_judgement *judgement = build->judgement;
	const struct tfs_file_header *header = tfs_trace_header(build->trace);

	model->program = tfs_arena_string(arena, judgement->program ? judgement->program : "");
	model->imported = tfs_trace_fact(build->trace, TFS_FACT_imported) != NULL;
	const char *script = model->imported ? NULL : tfs_places_script(build->places);
	if (script) {
		model->interpreter = model->program;
		model->program = script;
	}
	const char *slash = strrchr(model->program, '/');
	model->program_name = slash ? slash + 1 : model->program;
	model->version = tfs_arena_print(
		arena, "%.*s", (int)sizeof(header->version_text), header->version_text);
	model->recording = tfs_arena_string(arena, path);
	model->pid = judgement->pid;
	model->rank = judgement->rank;
	model->finished = judgement->finished;
	model->whole = judgement->whole;
	model->cut = tfs_trace_summary(build->trace)->cut;
	model->usable = judgement->usable;
	model->verdict = judgement->usable && !judgement->finding_count
				 ? "no rule is broken"
				 : tfs_arena_string(arena, judgement->verdict);

	const struct tfs_fact_record *processes = tfs_trace_fact(build->trace, TFS_FACT_processes);

	model->processes = processes && processes->numbers[0] <= UINT32_MAX
				   ? (uint32_t)processes->numbers[0]
				   : 0;
	model->job_processes = launched(build->trace, model->processes);
	model->start_ns = header->start_realtime_ns;
	model->run = header->run;
	time_t seconds = (time_t)(header->start_realtime_ns / 1000000000u);
	struct tm utc;
	char text[32] = "";
	if (seconds && gmtime_r(&seconds, &utc))
		strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%SZ", &utc);
	model->started = tfs_arena_string(arena, text);
	model->duration_ns = NAN;
	size_t clocks = tfs_trace_count(build->trace, TFS_RECORD_clock);
	if (clocks) {
		const struct tfs_clock_record *last =
			tfs_trace_at(build->trace, TFS_RECORD_clock, clocks - 1);
		if (last->monotonic_ns > header->start_ns)
			model->duration_ns = (double)(last->monotonic_ns - header->start_ns);
	}
}

static void set_device(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	const struct tfs_judgement *judgement = build->judgement;
	if (judgement->device_name && *judgement->device_name)
		model->device = tfs_arena_string(&model->arena, judgement->device_name);
	model->simulated = judgement->simulated;
	if (tfs_trace_count(build->trace, TFS_RECORD_device)) {
		const struct tfs_device_record *device =
			tfs_trace_at(build->trace, TFS_RECORD_device, 0);
		model->device_memory = device->memory_bytes;
		model->device_bandwidth = device->bandwidth;
	}
}

static void set_steps(struct tfs_build *build)
{
	struct tfs_model_steps *steps = &build->model->steps;
	const struct tfs_step_summary *summary = &build->judgement->steps;
	bool found = summary->source && strcmp(summary->source, "none") != 0;
	steps->count = summary->count;
	steps->warmup = summary->warmup;
	steps->judged = summary->judged;
	steps->median_ns = summary->count ? summary->median_ns : NAN;
	steps->p95_ns = summary->count ? summary->p95_ns : NAN;
	steps->judged_ns = summary->judged ? summary->judged_median_ns : NAN;
	steps->recorded_ns = summary->judged ? summary->recorded_ns : NAN;
	steps->written_ns = summary->judged ? summary->written_ns : NAN;
	steps->iterations = build->timeline->step_source == TFS_STEP_ITERATIONS;
	steps->source = found ? tfs_arena_string(&build->model->arena, summary->source) : NULL;
	steps->replay_error = summary->replay_error < 0 ? NAN : summary->replay_error;
	build->model->per_run = !found;
	steps->worst_step = summary->worst_step;
	steps->host_load = summary->host_load;
	steps->unpriced = summary->unpriced;
	steps->ahead = summary->ahead;
	steps->gpu_busy = summary->ahead ? summary->ahead_busy : NAN;
	steps->copy_overlap = NAN;
}

/* Whether a program without a shared runtime has another one cannot be told from within. */
static const char *library_text(struct tfs_arena *arena, const struct tfs_library_line *line)
{
	const char *seen =
		line->static_copy && line->hooked
			? "no shared library loaded; calls of a linked-in copy are seen at the driver"
		: line->static_copy
			? "no shared library loaded; calls of a linked-in copy are not seen"
		: line->hooked ? "calls seen"
			       : "no calls seen";
	const char *version =
		line->version ? tfs_arena_print(arena, "version %u, ", line->version) : "";

	return tfs_arena_print(arena, "%s%s%s%s", version, seen,
		line->path && *line->path ? ", " : "", line->path ? line->path : "");
}

static size_t add_recorded(
	const struct tfs_visibility *seen, bool iterations, struct tfs_model_fact *facts)
{
	facts[0] = (struct tfs_model_fact){"steps", "training steps",
		iterations    ? "not found: iterations of the loop with most calls stand for them"
		: seen->steps ? "found"
			      : "not found: what depends on them is not measurable",
		iterations || !seen->steps};
	facts[1] = (struct tfs_model_fact){"calls",
		seen->steps ? "calls of the judged steps" : "calls",
		seen->calls ? "recorded" : "not recorded", !seen->calls};
	facts[2] = (struct tfs_model_fact){"device",
		seen->steps ? "GPU activity of these steps" : "GPU activity",
		seen->device ? "recorded"
		: seen->untied
			? "recorded, but most of it is tied to no call: what calls cost the GPU is not measurable"
		: seen->lost
			? "mostly lost, as records were dropped: GPU time and idle time are not measurable"
			: "not recorded: GPU time and idle time are not measurable",
		!seen->device};
	return 3;
}

static void set_visibility(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	struct tfs_arena *arena = &model->arena;
	const struct tfs_visibility *seen = &build->judgement->visibility;
	struct tfs_model_fact *facts =
		tfs_arena_alloc(arena, 6 + seen->library_count, sizeof(*facts));
	size_t count = 0;

	if (!facts)
		return;
	model->sight = tfs_arena_string(arena, seen->text);
	count += add_recorded(seen, model->steps.iterations, facts);
	facts[count++] = (struct tfs_model_fact){"compared", "hook and CUPTI call counts",
		tfs_arena_string(arena, seen->compared), !seen->agrees};
	facts[count++] = (struct tfs_model_fact){"runtimes", "runtime calls in libraries",
		tfs_arena_string(arena, seen->runtimes), false};
	if (tfs_places_changed(build->places))
		facts[count++] = (struct tfs_model_fact){"symbols", "names and lines",
			tfs_arena_print(arena,
				"%s rebuilt or removed after the run: call sites there are offsets",
				tfs_words_number(arena, tfs_places_changed(build->places),
					"file was", "files were")),
			true};
	for (size_t i = 0; i < seen->library_count; i++) {
		const struct tfs_library_line *line = &seen->libraries[i];

		facts[count++] =
			(struct tfs_model_fact){tfs_arena_print(arena, "library.%s", line->name),
				tfs_arena_string(arena, line->name), library_text(arena, line),
				line->static_copy && !line->hooked};
	}
	model->visibility = facts;
	model->visibility_count = count;
}

static void set_seen(struct tfs_build *build)
{
	struct tfs_arena *arena = &build->model->arena;
	const struct tfs_pairs *pairs = build->judgement->visibility.pairs;
	struct tfs_model_seen *seen = tfs_arena_alloc(arena, pairs->count, sizeof(*seen));

	if (!seen)
		return;
	for (size_t i = 0; i < pairs->count; i++) {
		const struct tfs_pair *pair = &pairs->pairs[i];

		seen[i] = (struct tfs_model_seen){tfs_arena_string(arena, pair->name), pair->hooks,
			pair->cupti, !pairs->why && tfs_pair_differs(pair)};
	}
	build->model->seen = seen;
	build->model->seen_count = pairs->count;
}

static void set_losses(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	const struct tfs_judgement *judgement = build->judgement;
	struct tfs_model_loss *losses =
		tfs_arena_alloc(&model->arena, judgement->loss_count, sizeof(*losses));
	if (!losses)
		return;
	for (size_t i = 0; i < judgement->loss_count; i++) {
		losses[i].name = tfs_arena_string(&model->arena, judgement->losses[i].name);
		losses[i].text = tfs_arena_string(&model->arena, judgement->losses[i].text);
		losses[i].count = judgement->losses[i].count;
	}
	model->losses = losses;
	model->loss_count = judgement->loss_count;
}

static const char *window_text(struct tfs_build *build)
{
	const struct tfs_timeline *timeline = build->timeline;
	if (!timeline->window_count)
		return "none: only call counts were recorded";
	struct tfs_arena *arena = &build->model->arena;
	return tfs_arena_print(arena, "%s with %s, of which %s judged",
		tfs_words_number(arena, timeline->window_count, "window", "windows"),
		tfs_words_number(
			arena, (double)timeline->inside.count, "training step", "training steps"),
		tfs_words_number(arena, (double)build->judgement->steps.judged, "was", "were"));
}

/* Switched off, CUPTI goes on costing: see docs/limits.md. */
static bool has_cupti(const struct tfs_build *build)
{
	for (size_t i = 0; i < tfs_trace_count(build->trace, TFS_RECORD_fact); i++) {
		const struct tfs_fact_record *fact = tfs_trace_at(build->trace, TFS_RECORD_fact, i);

		if (fact->fact == TFS_FACT_cupti_in_windows)
			return !build->model->simulated;
	}
	return false;
}

static const char *overhead_text(struct tfs_build *build)
{
	const struct tfs_step_times *inside = &build->timeline->inside;
	const struct tfs_step_times *outside = &build->timeline->outside;
	struct tfs_arena *arena = &build->model->arena;
	double low, high;

	if (!inside->count || !outside->count)
		return "not measurable: no steps both inside and outside of windows";
	if (!tfs_recording_cost(build->timeline, &low, &high))
		return tfs_arena_print(arena,
			"not measurable: fewer than %u steps inside or outside of windows",
			TFS_COST_LEAST_STEPS);
	return tfs_arena_print(arena,
		"%s inside windows (95 %% interval; median %s inside, %s outside)%s",
		high > 0 ? tfs_arena_print(arena, "a step takes %s to %s longer",
				   tfs_words_share(arena, low), tfs_words_share(arena, high))
			 : "none measurable: a step takes no longer",
		tfs_words_time(arena, inside->median_ns), tfs_words_time(arena, outside->median_ns),
		has_cupti(build)
			? "; outside of them CUPTI still takes time in each CUDA call, 0.3 to 1.3 \302\265s on an H200, which the step as written has in it: record=none runs without"
			: "");
}

static struct tfs_model_fact ended(const struct tfs_build *build)
{
	const bool finished = tfs_trace_header(build->trace)->finished;
	const char *text = build->model->imported ? "not known: another tool recorded the program"
			   : finished
				   ? "closed by the program's normal exit"
				   : "not closed: the program was ended from outside or by _exit";

	return (struct tfs_model_fact){"ended", "end of the recording", text, !finished};
}

/* A host that loses less than this of a step to something else is as quiet as they are. */
#define QUIET_LOAD 0.02

static struct tfs_model_fact replay_fact(
	struct tfs_arena *arena, const struct tfs_model_steps *steps)
{
	const bool loaded = steps->host_load >= QUIET_LOAD;
	const char *text = "not measurable: the judged steps could not be replayed";

	if (steps->unpriced)
		text = tfs_arena_print(arena, "not measurable: %s", steps->unpriced);
	else if (!isnan(steps->replay_error))
		text = tfs_arena_print(arena,
			"what-if replay of the judged steps; replayed with median delays, "
			"they differ by at most %s from the measured steps (step %s)%s%s",
			tfs_words_share(arena, steps->replay_error),
			tfs_words_count(arena, (double)steps->worst_step),
			loaded ? "; calls that wait for nothing were interrupted, as on a busy machine: "
				 "every interval is wider by "
			       : "",
			loaded ? tfs_arena_print(arena, "%s of the step",
					 tfs_words_share(arena, steps->host_load))
			       : "");
	return (struct tfs_model_fact){"replay", "costs", text,
		!(steps->replay_error <= 0.05) || steps->unpriced || loaded};
}

static void set_method(struct tfs_build *build)
{
	struct tfs_model *model = build->model;
	struct tfs_arena *arena = &model->arena;
	const struct tfs_visibility *seen = &build->judgement->visibility;
	const struct tfs_trace_summary *summary = tfs_trace_summary(build->trace);
	struct tfs_model_fact *facts = tfs_arena_alloc(arena, 8 + seen->fact_count, sizeof(*facts));
	size_t n = 0;

	if (!facts)
		return;
	facts[n++] = (struct tfs_model_fact){"recording", "recording",
		tfs_arena_print(arena, "%s, %s, %s", model->recording,
			tfs_words_bytes(arena, (double)summary->bytes),
			tfs_words_number(arena, (double)summary->records, "record", "records")),
		false};
	facts[n++] = ended(build);
	if (summary->damages || summary->cut)
		facts[n++] = (struct tfs_model_fact){"damage", "damage",
			tfs_arena_print(arena, "%s not readable%s",
				tfs_words_number(arena, (double)summary->damages,
					"part of the file is", "parts of the file are"),
				summary->cut ? "; the file is truncated" : ""),
			true};
	facts[n++] = (struct tfs_model_fact){
		"windows", "recording windows", window_text(build), !build->timeline->window_count};
	facts[n++] = (struct tfs_model_fact){
		"overhead", "cost of recording", overhead_text(build), false};
	facts[n++] = replay_fact(arena, &model->steps);
	/* Of what it is imported from, the fact says that. */
	if (!model->imported)
		facts[n++] = (struct tfs_model_fact){"version", "recorded by",
			tfs_arena_print(arena, "tfshim %s", model->version), false};
	for (size_t i = 0; i < seen->fact_count; i++) {
		const struct tfs_fact_line *line = &seen->facts[i];
		facts[n++] = (struct tfs_model_fact){tfs_arena_string(arena, line->key),
			fact_name(arena, line->key), tfs_arena_string(arena, line->text), false};
	}
	model->method = facts;
	model->method_count = n;
}

void tfs_build_head(struct tfs_build *build, const char *path)
{
	set_program(build, path);
	set_device(build);
	set_steps(build);
	set_visibility(build);
	set_seen(build);
	set_losses(build);
	set_method(build);
}
