/* SPDX-License-Identifier: MIT */
#include "rules/judge/visibility.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "rules/support/figures.h"
#include "rules/support/sentences.h"
#include "shim/trace/format/iterations.h"

/* Device work without a known call, above this share. */
#define UNEXPLAINED 0.05
/* Functions named one by one. */
#define NAMED 4u

/* "cudnn"; "?" for no library. */
static const char *library_name(uint32_t library)
{
	static const char *const names[] = {
#define X(number, name) [number] = #name,
		TFS_LIBRARIES(X)
#undef X
	};

	return library < sizeof(names) / sizeof(*names) && names[library] ? names[library] : "?";
}

const char *tfs_library_title(uint32_t library)
{
	switch (library) {
	case TFS_LIBRARY_cudnn:
		return "cuDNN";
	case TFS_LIBRARY_cublas:
		return "cuBLAS";
	case TFS_LIBRARY_cublaslt:
		return "cuBLASLt";
	case TFS_LIBRARY_curand:
		return "cuRAND";
	case TFS_LIBRARY_nccl:
		return "NCCL";
	default:
		return library_name(library);
	}
}

static const char *add(struct tfs_arena *arena, const char *list, const char *more)
{
	return tfs_arena_print(arena, "%s%s%s", list, *list ? "; " : "", more);
}

static double unexplained(const struct tfs_timeline *timeline)
{
	uint32_t lost = 0, all = 0;

	for (uint32_t i = 0; i < timeline->op_count; i++) {
		if (timeline->ops[i].step == TFS_NONE)
			continue;
		all++;
		lost += timeline->ops[i].call == TFS_NONE;
	}
	return all ? (double)lost / all : 0;
}

/* Whether one side saw more of a function than the other. */
static bool saw_more(const struct tfs_pairs *pairs, bool hooks)
{
	for (size_t i = 0; i < pairs->count && !pairs->why; i++)
		if (tfs_pair_differs(&pairs->pairs[i]) &&
			(pairs->pairs[i].hooks > pairs->pairs[i].cupti) == hooks)
			return true;
	return false;
}

/* A library that is linked in hides nothing where hooks see its calls of the driver. */
static bool hides(const struct tfs_library_record *library)
{
	return (library->flags & 3) == 2;
}

/* What ran unseen. */
struct unseen {
	bool differing; /* CUPTI saw a function called more or less often than the hooks did */
	bool hidden;    /* a library is linked in, and driver=0 */
	bool deepbind;  /* a library was opened with RTLD_DEEPBIND */
	double share;   /* of the device's work, without a known call; 0 = a small one */
};

static struct unseen look(const struct tfs_steady *steady)
{
	const struct tfs_trace *trace = steady->timeline->trace;
	const double share = steady->pairs->lost ? 0 : unexplained(steady->timeline);
	struct unseen unseen = {
		.differing = saw_more(steady->pairs, true) || saw_more(steady->pairs, false),
		.deepbind = tfs_trace_fact(trace, TFS_FACT_deepbind) != NULL,
		.share = share > UNEXPLAINED ? share : 0,
	};

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_library); i++)
		unseen.hidden |= hides(tfs_trace_at(trace, TFS_RECORD_library, i));
	return unseen;
}

bool tfs_visibility_partial(const struct tfs_steady *steady)
{
	const struct unseen unseen = look(steady);

	return unseen.differing || unseen.hidden || unseen.deepbind || unseen.share > 0;
}

/* Which functions CUPTI saw called more or less often than the hooks did, with both numbers,
 * separated by "; "; "" = none. */
static const char *mismatches_of(const struct tfs_pairs *pairs, struct tfs_arena *arena)
{
	const char *list = "";
	size_t found = 0;

	for (size_t i = 0; i < pairs->count && !pairs->why; i++) {
		const struct tfs_pair *pair = &pairs->pairs[i];

		if (tfs_pair_differs(pair) && found++ < NAMED)
			list = add(arena, list,
				tfs_arena_print(arena, "%s: %s seen by hooks, %s by CUPTI",
					pair->name,
					tfs_figure_number((double)pair->hooks, "call", "calls")
						.text,
					tfs_figure_count((double)pair->cupti).text));
	}
	return found <= NAMED ? list
			      : tfs_arena_print(arena, "%s; %s", list,
					tfs_figure_number((double)(found - NAMED), "more function",
						"more functions")
						.text);
}

static void compare(
	const struct tfs_pairs *pairs, struct tfs_arena *arena, struct tfs_visibility *out)
{
	out->pairs = pairs;
	out->agrees = !pairs->why && !saw_more(pairs, true) && !saw_more(pairs, false);
	if (pairs->why)
		out->compared = tfs_arena_print(arena, "not comparable: %s", pairs->why);
	else if (!out->agrees)
		out->compared = mismatches_of(pairs, arena);
	else
		out->compared = tfs_arena_print(arena, "%s: %s seen by hooks, %s by CUPTI",
			tfs_figure_number(
				(double)pairs->count, "function agrees", "functions agree")
				.text,
			tfs_figure_number((double)pairs->hooks, "call", "calls").text,
			tfs_figure_count((double)pairs->cupti).text);
}

/* What was done inside calls of a library; inside none of a hooked one, if 0. */
static const char *inside(const struct tfs_pairs *pairs, uint32_t library, struct tfs_arena *arena)
{
	const char *work = tfs_pairs_work(arena, pairs->within[library]);

	if (!pairs->allocations[library])
		return work;
	return tfs_arena_print(arena, "%s%s%s of %s in total", work, *work ? ", " : "",
		tfs_figure_number((double)pairs->allocations[library], "allocation", "allocations")
			.text,
		tfs_figure_bytes((double)pairs->allocated[library]).text);
}

/* Who did what with a runtime that no hook reaches. */
static const char *runtimes(
	const struct tfs_timeline *timeline, const struct tfs_pairs *pairs, struct tfs_arena *arena)
{
	const char *list = "", *work = inside(pairs, 0, arena);

	if (!tfs_trace_count(timeline->trace, TFS_RECORD_device_api))
		return "not measurable: CUPTI recorded no calls";
	for (uint32_t i = 1; i < sizeof(pairs->within) / sizeof(*pairs->within); i++) {
		const char *theirs = i == TFS_LIBRARY_cudart || i == TFS_LIBRARY_cuda
					     ? ""
					     : inside(pairs, i, arena);

		if (*theirs)
			list = add(arena, list,
				tfs_arena_print(arena, "inside calls of %s: %s",
					tfs_library_title(i), theirs));
	}
	if (*work && pairs->strange_threads)
		work = tfs_arena_print(arena, "%s (threads that no hook saw: %" PRIu32 ")", work,
			pairs->strange_threads);
	if (*work)
		list = add(arena, list,
			tfs_arena_print(arena, "inside no call that a hook saw: %s", work));
	return *list ? list : "none";
}

const char *tfs_visibility_gaps(const struct tfs_steady *steady, struct tfs_arena *arena)
{
	const struct tfs_trace *trace = steady->timeline->trace;
	const struct unseen unseen = look(steady);
	const char *list = mismatches_of(steady->pairs, arena);

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_library); i++) {
		const struct tfs_library_record *library =
			tfs_trace_at(trace, TFS_RECORD_library, i);

		if (hides(library))
			list = add(arena, list,
				tfs_arena_print(arena,
					"no shared %s is loaded, and with driver=0 driver calls are not seen",
					library_name(library->library)));
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_fact); i++) {
		const struct tfs_fact_record *fact = tfs_trace_at(trace, TFS_RECORD_fact, i);
		const char *key, *text;

		if (fact->fact == TFS_FACT_deepbind &&
			tfs_sentence_fact(trace, i, arena, &key, &text))
			list = add(arena, list, text);
	}
	if (unseen.share > 0)
		list = add(arena, list,
			tfs_arena_print(arena, "%s of the GPU activity has no known call",
				tfs_figure_share(unseen.share).text));
	return list;
}

static const char *also(struct tfs_arena *arena, const char *advice, const char *more)
{
	return tfs_arena_print(arena, "%s%s%s", advice, *advice ? " " : "", more);
}

/* What is known of the runtime: flags of its record, 0 = nothing. */
static uint32_t runtime_flags(const struct tfs_trace *trace)
{
	const struct tfs_library_record *library =
		tfs_trace_find(trace, TFS_RECORD_library, TFS_LIBRARY_cudart);

	return library ? library->flags : 0;
}

const char *tfs_visibility_advice(const struct tfs_steady *steady, struct tfs_arena *arena)
{
	const struct tfs_trace *trace = steady->timeline->trace;
	const uint32_t runtime = runtime_flags(trace);
	const struct unseen unseen = look(steady);
	const bool past = saw_more(steady->pairs, false) || unseen.share > 0;
	const char *advice = "";

	if ((runtime & 3) == 2)
		advice = also(arena, advice, "Remove driver=0 from TFSHIM_OPTIONS.");
	if (runtime & 2 && (past || !(runtime & 1)))
		advice = also(arena, advice,
			"Where the program has a CUDA runtime linked in, which is nvcc's default, "
			"build it with `nvcc -cudart shared`.");
	if (past)
		advice = also(arena, advice,
			"Where the program gets functions from a library's own table, link that library instead. "
			"Calls by a library that tfshim has no hooks for need no change.");
	if (unseen.deepbind)
		advice = also(arena, advice,
			"Add deepbind=0 to TFSHIM_OPTIONS and compare the program's results: "
			"without RTLD_DEEPBIND the library may bind to other functions.");
	if (saw_more(steady->pairs, true))
		advice = also(arena, advice,
			"Where the hooks saw more calls than CUPTI, nothing needs to change: "
			"GPU times of these calls may be missing.");
	return advice;
}

static void list_facts(
	const struct tfs_trace *trace, struct tfs_arena *arena, struct tfs_visibility *out)
{
	size_t count = tfs_trace_count(trace, TFS_RECORD_fact);

	out->facts = tfs_arena_alloc(arena, count, sizeof(*out->facts));
	for (size_t i = 0; i < count && out->facts; i++) {
		struct tfs_fact_line *line = &out->facts[out->fact_count];

		out->fact_count += tfs_sentence_fact(trace, i, arena, &line->key, &line->text);
	}
}

/* The libraries of which hooks saw calls, one bit each. */
static uint32_t called(const struct tfs_trace *trace)
{
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	uint32_t libraries = 0;

	for (size_t i = tfs_trace_totals(trace, &totals, &shares); i > 0; i--) {
		const struct tfs_function_record *function =
			tfs_trace_find(trace, TFS_RECORD_function, totals[i - 1].sum.function);

		if (function && function->library < 32 && totals[i - 1].sum.count)
			libraries |= 1u << function->library;
	}
	return libraries;
}

static bool is_called(uint32_t libraries, unsigned library)
{
	return library < 32 && (libraries >> library & 1) != 0;
}

static void list_libraries(
	const struct tfs_trace *trace, struct tfs_arena *arena, struct tfs_visibility *out)
{
	const uint32_t libraries = called(trace);
	size_t count = tfs_trace_count(trace, TFS_RECORD_library);

	out->libraries = tfs_arena_alloc(arena, count, sizeof(*out->libraries));
	for (size_t i = 0; i < count && out->libraries; i++) {
		const struct tfs_library_record *library =
			tfs_trace_at(trace, TFS_RECORD_library, i);
		const bool statically = (library->flags & 2) != 0;

		out->libraries[out->library_count++] =
			(struct tfs_library_line){library_name(library->library),
				tfs_trace_string(trace, library->path), library->version,
				(library->flags & 1) != 0 &&
					is_called(libraries,
						statically ? TFS_LIBRARY_cuda : library->library),
				statically};
	}
}

void tfs_visibility_describe(const struct tfs_steady *steady, struct tfs_arena *arena,
	struct tfs_visibility *out_visibility)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const char *gaps = tfs_visibility_gaps(steady, arena);
	struct tfs_visibility *out = out_visibility;

	memset(out, 0, sizeof(*out));
	out->steps = timeline->step_source != 0;
	out->calls =
		out->steps ? steady->call_count > 0 : (timeline->evidence & TFS_NEEDS_CALLS) != 0;
	out->device = out->steps ? steady->activity : (timeline->evidence & TFS_NEEDS_DEVICE) != 0;
	out->untied = out->steps && steady->untied;
	out->lost = !out->device && timeline->work_lost;
	out->partial = tfs_visibility_partial(steady);
	snprintf(out->text, sizeof(out->text), "calls %s, GPU activity %s, training steps %s%s%s",
		out->calls ? "recorded" : "not recorded",
		out->device   ? "recorded"
		: out->untied ? "tied to no call"
		: out->lost   ? "mostly lost"
			      : "not recorded",
		timeline->step_source == TFS_STEP_ITERATIONS
			? "not found (iterations of a loop stand for them)"
		: out->steps ? "found"
			     : "not found",
		out->partial ? "; " : "", gaps);
	compare(steady->pairs, arena, out);
	out->runtimes = runtimes(timeline, steady->pairs, arena);
	list_facts(timeline->trace, arena, out);
	list_libraries(timeline->trace, arena, out);
}
