/* SPDX-License-Identifier: MIT */
#include "rules/evidence/findings.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rules/evidence/guards.h"
#include "rules/evidence/streams.h"
#include "rules/support/figures.h"
#include "rules/support/sort.h"
#include "rules/timeline/timeline.h"

/* More than this nobody reads; but so many of each rule, or those behind would seem to have
 * passed. */
#define MOST_FINDINGS 1000u
#define LEAST_OF_RULE 20u

void tfs_hits_add(struct tfs_hits *hits, uint32_t call, uint64_t bytes, struct tfs_edit edit)
{
	if (hits->count == hits->room) {
		size_t room = hits->room ? hits->room * 2 : 64;
		struct tfs_hit *items = realloc(hits->items, room * sizeof(*items));

		if (!items)
			return;
		hits->items = items;
		hits->room = room;
	}
	hits->items[hits->count++] = (struct tfs_hit){call, bytes, edit};
	hits->sorted = false;
}

void tfs_hits_finish(struct tfs_hits *hits)
{
	free(hits->items);
	memset(hits, 0, sizeof(*hits));
}

void tfs_hits_fold(struct tfs_hits *hits)
{
	hits->by_code = true;
	hits->sorted = false;
}

/* The address that the call returns to. */
static uint64_t code_of(const struct tfs_trace *trace, uint32_t site)
{
	const uint64_t *addresses;

	return tfs_trace_frames(trace, site, &addresses) ? addresses[0] : site;
}

struct order {
	const struct tfs_timeline *timeline;
	bool by_code;
};

static uint64_t place_of(const struct order *order, const struct tfs_hit *hit)
{
	const uint32_t site = order->timeline->calls[hit->call].record->site;

	return order->by_code ? code_of(order->timeline->trace, site) : site;
}

static int compare_hits(const void *a, const void *b, void *context)
{
	const struct order *order = context;
	const struct tfs_hit *first = a, *second = b;
	const struct tfs_host_call *x = &order->timeline->calls[first->call];
	const struct tfs_host_call *y = &order->timeline->calls[second->call];
	const uint64_t at = place_of(order, first), other = place_of(order, second);

	if (at != other)
		return at < other ? -1 : 1;
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	return (first->call > second->call) - (first->call < second->call);
}

bool tfs_hits_next(const struct tfs_steady *steady, struct tfs_hits *hits, struct tfs_place *place)
{
	const struct tfs_timeline *timeline = steady->timeline;
	struct order order = {timeline, hits->by_code};
	size_t first = place->next;
	uint32_t step = TFS_NONE;

	if (!hits->sorted && hits->count)
		qsort_r(hits->items, hits->count, sizeof(*hits->items), compare_hits, &order);
	hits->sorted = true;
	if (first >= hits->count)
		return false;
	memset(place, 0, sizeof(*place));
	place->items = &hits->items[first];
	place->site = timeline->calls[place->items->call].record->site;
	place->function = timeline->calls[place->items->call].function;
	for (place->next = first; place->next < hits->count; place->next++) {
		const struct tfs_hit *hit = &hits->items[place->next];
		const struct tfs_host_call *call = &timeline->calls[hit->call];

		if (place_of(&order, hit) != place_of(&order, place->items) ||
			call->function != place->function)
			break;
		place->folded |= call->record->site != place->site;
		place->count++;
		place->bytes += hit->bytes;
		place->largest = hit->bytes > place->largest ? hit->bytes : place->largest;
		place->time_ns += (double)(call->end_ns - call->start_ns);
		place->steps += call->step != step;
		step = call->step;
	}
	place->seldom = tfs_steady_seldom(steady, place->steps);
	return true;
}

/* Of all sites and functions that the hits are of; 0 without memory. */
static uint64_t total_of_all(const struct tfs_steady *steady, const struct tfs_place *place)
{
	struct tfs_key *keys = calloc(place->count + 1u, sizeof(*keys));
	uint64_t total = 0;

	for (size_t i = 0; keys && i < place->count; i++) {
		const struct tfs_host_call *call = &steady->timeline->calls[place->items[i].call];

		keys[i].key = (uint64_t)call->record->site << 16 | call->function;
	}
	if (keys && tfs_sort_keys(keys, place->count)) {
		free(keys);
		return 0;
	}
	for (size_t i = 0; keys && i < place->count; i++)
		if (i == 0 || keys[i].key != keys[i - 1].key)
			total += tfs_steady_total(
				steady, (uint32_t)(keys[i].key >> 16), (uint16_t)keys[i].key);
	free(keys);
	return total;
}

/* Calls in the whole run. */
static uint64_t total_of(const struct tfs_steady *steady, const struct tfs_place *place)
{
	const struct tfs_trace *trace = steady->timeline->trace;
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	uint64_t total = 0;

	if (place->spread)
		return total_of_all(steady, place);
	if (!place->folded)
		return tfs_steady_total(steady, place->site, place->function);
	for (size_t i = tfs_trace_totals(trace, &totals, &shares); i-- > 0;)
		if (totals[i].sum.function == place->function &&
			code_of(trace, totals[i].sum.site) == code_of(trace, place->site))
			total += totals[i].sum.count;
	return total;
}

struct tfs_figure tfs_place_calls(const struct tfs_place *place, const struct tfs_steady *steady)
{
	if (steady->run)
		return tfs_figure_number((double)place->count, "call in the recorded run",
			"calls in the recorded run");
	return tfs_figure_calls(tfs_place_per_step(place, steady));
}

bool tfs_hits_next_usual(const struct tfs_steady *steady, struct tfs_hits *hits,
	struct tfs_place *place, unsigned *rare)
{
	while (tfs_hits_next(steady, hits, place)) {
		if (!place->seldom)
			return true;
		++*rare;
	}
	return false;
}

size_t tfs_hits_join(const struct tfs_steady *steady, struct tfs_hits *hits,
	double (*weigh)(const struct tfs_steady *steady, const struct tfs_hit *hits, size_t count),
	struct tfs_hits *out_usual, struct tfs_place *out_place)
{
	struct tfs_place place = {0};
	double most = -1;
	unsigned rare = 0;
	size_t count = 0;

	*out_place = (struct tfs_place){0};
	while (tfs_hits_next_usual(steady, hits, &place, &rare)) {
		const double weight = weigh(steady, place.items, place.count);

		for (size_t i = 0; i < place.count; i++)
			tfs_hits_add(out_usual, place.items[i].call, place.items[i].bytes,
				place.items[i].edit);
		if (weight > most) {
			most = weight;
			out_place->site = place.site;
			out_place->function = place.function;
		}
		out_place->bytes += place.bytes;
		if (place.largest > out_place->largest)
			out_place->largest = place.largest;
		out_place->time_ns += place.time_ns;
		if (place.steps > out_place->steps)
			out_place->steps = place.steps;
		count++;
	}
	out_place->items = out_usual->items;
	out_place->count = out_usual->count;
	out_place->spread = count > 1;
	return count;
}

double tfs_place_per_step(const struct tfs_place *place, const struct tfs_steady *steady)
{
	return (double)place->count / (double)steady->step_count;
}

static struct tfs_draft *draft_new(struct tfs_findings *findings)
{
	const struct tfs_rule *rule = findings->rule;
	struct tfs_draft *draft;

	if (findings->asked != rule) {
		findings->asked = rule;
		findings->first = findings->count;
		findings->dropped = 0;
	}
	if (findings->count >= MOST_FINDINGS &&
		findings->count - findings->first >= LEAST_OF_RULE) {
		findings->dropped++;
		return NULL;
	}
	if (findings->count == findings->room) {
		size_t room = findings->room ? findings->room * 2 : 32;
		struct tfs_draft *items = realloc(findings->items, room * sizeof(*items));

		if (!items) {
			findings->failed = true;
			return NULL;
		}
		findings->items = items;
		findings->room = room;
	}
	draft = &findings->items[findings->count];
	memset(draft, 0, sizeof(*draft));
	draft->finding.rule = rule;
	draft->finding.advice = rule->advice;
	draft->finding.evidence = "";
	draft->most = TFS_LEVEL_ERROR;
	draft->serial = ++findings->serial;
	draft->parent = (uint32_t)findings->count++;
	return draft;
}

struct tfs_draft *tfs_findings_add(struct tfs_findings *findings, const struct tfs_place *place,
	const struct tfs_hits *extra, const char *message, ...)
{
	const struct tfs_steady *steady = findings->steady;
	struct tfs_draft *draft = draft_new(findings);
	size_t more = extra ? extra->count : 0;
	double steps = steady->step_count ? steady->step_count : 1;
	struct tfs_finding *finding;
	va_list arguments;

	if (!draft)
		return NULL;
	finding = &draft->finding;
	finding->site = place->site;
	finding->function = place->function;
	finding->stream = tfs_stream_name(findings->arena, steady->timeline, place);
	finding->count_per_step = (double)place->count / steps;
	finding->bytes_per_step = (double)place->bytes / steps;
	finding->time_per_step_ns = place->time_ns / steps;
	finding->count_total = total_of(steady, place);
	draft->spread = place->spread;
	finding->evidence =
		steady->run ? tfs_arena_print(findings->arena, "%s in the recorded run",
				      tfs_figure_number((double)place->count, "call", "calls").text)
			    : tfs_arena_print(findings->arena, "%s in %u of %s",
				      tfs_figure_number((double)place->count, "call", "calls").text,
				      place->steps,
				      tfs_figure_number(
					      steady->step_count, "judged step", "judged steps")
					      .text);
	va_start(arguments, message);
	finding->message = tfs_arena_text(findings->arena, message, arguments);
	va_end(arguments);
	draft->hits = tfs_arena_alloc(findings->arena, place->count + more, sizeof(*draft->hits));
	if (draft->hits) {
		draft->hit_count = place->count + more;
		memcpy(draft->hits, place->items, place->count * sizeof(*draft->hits));
		if (more)
			memcpy(draft->hits + place->count, extra->items,
				more * sizeof(*draft->hits));
	}
	return draft;
}

void tfs_draft_needed(
	struct tfs_findings *findings, struct tfs_draft *draft, uint32_t needed, const char *then)
{
	if (!draft)
		return;
	draft->finding.advice = tfs_guards_advice(findings->arena, needed, then);
	draft->most = TFS_LEVEL_NOTE;
	draft->unrepaired = true;
	draft->finding.removes = false;
	draft->needed = needed != TFS_GUARDS_UNKNOWN;
	draft->unsure |= needed == TFS_GUARDS_UNKNOWN;
}

void tfs_findings_own(struct tfs_findings *findings, const struct tfs_draft *draft, uint32_t idle)
{
	const uint32_t count = findings->steady->timeline->idle_count;

	if (!findings->owners)
		findings->owners =
			tfs_arena_alloc(findings->arena, count, sizeof(*findings->owners));
	if (findings->owners)
		findings->owners[idle] = draft->serial;
}

const bool *tfs_findings_owned(const struct tfs_findings *findings)
{
	const uint32_t count = findings->steady->timeline->idle_count;
	bool *stayed, *owned;

	if (!findings->owners)
		return NULL;
	stayed = tfs_arena_alloc(findings->arena, findings->serial + 1u, sizeof(*stayed));
	owned = tfs_arena_alloc(findings->arena, count, sizeof(*owned));
	if (!stayed || !owned)
		return NULL;
	for (size_t i = 0; i < findings->count; i++)
		stayed[findings->items[i].serial] = true;
	for (uint32_t i = 0; i < count; i++)
		owned[i] = stayed[findings->owners[i]];
	return owned;
}

struct tfs_draft *tfs_findings_note(struct tfs_findings *findings, const char *message, ...)
{
	struct tfs_draft *draft = draft_new(findings);
	va_list arguments;

	if (!draft)
		return NULL;
	va_start(arguments, message);
	draft->finding.message = tfs_arena_text(findings->arena, message, arguments);
	va_end(arguments);
	return draft;
}

/* A text that did not fit, without the pieces of a character at its end. */
static void end_whole(char *text, size_t bytes)
{
	while (bytes && (text[bytes - 1] & 0x80))
		bytes--;
	text[bytes] = '\0';
}

void tfs_verdict_set(struct tfs_verdict *verdict, const struct tfs_findings *findings,
	size_t before, enum tfs_state otherwise, const char *reason, ...)
{
	va_list arguments;

	verdict->state = findings->count > before ? TFS_STATE_VIOLATED : otherwise;
	if (verdict->state == TFS_STATE_VIOLATED) {
		snprintf(verdict->reason, sizeof(verdict->reason), "%s%s",
			tfs_figure_number((double)(findings->count - before), "finding", "findings")
				.text,
			findings->dropped && findings->asked == findings->rule
				? "; more are not listed"
				: "");
		return;
	}
	va_start(arguments, reason);
	if (vsnprintf(verdict->reason, sizeof(verdict->reason), reason, arguments) >=
		(int)sizeof(verdict->reason))
		end_whole(verdict->reason, sizeof(verdict->reason) - 1);
	va_end(arguments);
}
