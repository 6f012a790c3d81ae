/* SPDX-License-Identifier: MIT */
#include "reports/formats/json.h"

#include <math.h>
#include <string.h>

#include "reports/formats/format.h"
#include "reports/formats/json_writer.h"
#include "reports/model/words.h"

/* That the copy inside the page has, which is to stay small. */
#define PAGE_FINDINGS 1000u

static void write_cost(
	struct tfs_json *json, const struct tfs_model *model, const struct tfs_cost *cost)
{
	const bool none = tfs_words_costless(cost) || model->per_run;
	tfs_json_number(json, "ns_per_step", none ? NAN : cost->ns);
	tfs_json_number(json, "low", none ? NAN : cost->low_ns);
	tfs_json_number(json, "high", none ? NAN : cost->high_ns);
	tfs_json_string(json, "method", tfs_words_method(cost));
}

static void write_place(struct tfs_json *json, const char *key, const struct tfs_model_place *place,
	const char *call)
{
	const struct tfs_model_frame *best = tfs_model_best_frame(place);
	char text[24];
	tfs_json_open(json, key, '{');
	tfs_json_string(json, "file", best ? best->file : NULL);
	if (best && best->line)
		tfs_json_unsigned(json, "line", best->line);
	else
		tfs_json_null(json, "line");
	tfs_json_string(json, "function", best ? best->function : NULL);
	tfs_json_string(json, "call", call);
	snprintf(text, sizeof(text), "%016llx", (unsigned long long)place->key);
	tfs_json_string(json, "key", text);
	tfs_json_open(json, "stack", '[');
	for (size_t i = 0; i < place->frame_count; i++) {
		const struct tfs_model_frame *frame = &place->frames[i];
		tfs_json_open(json, NULL, '{');
		tfs_json_string(json, "function", frame->function);
		tfs_json_string(json, "file", frame->file);
		if (frame->line)
			tfs_json_unsigned(json, "line", frame->line);
		else
			tfs_json_null(json, "line");
		tfs_json_string(json, "module", frame->module);
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
	tfs_json_close(json, '}');
}

static void write_program(struct tfs_json *json, const struct tfs_model *model)
{
	tfs_json_string(json, "schema", "tfshim-report/2");
	tfs_json_open(json, "program", '{');
	tfs_json_string(json, "name", model->program_name);
	tfs_json_string(json, "path", model->program);
	if (model->interpreter)
		tfs_json_string(json, "interpreter", model->interpreter);
	tfs_json_unsigned(json, "pid", model->pid);
	tfs_json_unsigned(json, "rank", model->rank);
	tfs_json_number(json, "processes", model->processes ? model->processes : NAN);
	tfs_json_string(json, "started", model->started);
	tfs_json_number(json, "duration_ns", model->duration_ns);
	if (model->imported)
		tfs_json_null(json, "finished");
	else
		tfs_json_bool(json, "finished", model->finished);
	tfs_json_string(json, "recording", model->recording);
	tfs_json_string(json, "tfshim", model->version);
	tfs_json_close(json, '}');

	tfs_json_open(json, "device", '{');
	tfs_json_string(json, "name", model->device);
	tfs_json_bool(json, "simulated", model->simulated);
	tfs_json_unsigned(json, "memory_bytes", model->device_memory);
	tfs_json_close(json, '}');

	tfs_json_open(json, "verdict", '{');
	tfs_json_bool(json, "usable", model->usable);
	tfs_json_string(json, "text", model->verdict);
	for (unsigned level = 3; level-- > 0;)
		tfs_json_unsigned(
			json, tfs_words_level((enum tfs_level)level), model->levels[level]);
	tfs_json_close(json, '}');
}

static void write_facts(
	struct tfs_json *json, const char *key, const struct tfs_model_fact *facts, size_t count)
{
	tfs_json_open(json, key, '[');
	for (size_t i = 0; i < count; i++) {
		tfs_json_open(json, NULL, '{');
		tfs_json_string(json, "key", facts[i].key);
		tfs_json_string(json, "text", facts[i].text);
		tfs_json_bool(json, "limits", facts[i].limits);
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
}

static void write_seen(struct tfs_json *json, const struct tfs_model *model)
{
	tfs_json_open(json, "functions", '[');
	for (size_t i = 0; i < model->seen_count; i++) {
		tfs_json_open(json, NULL, '{');
		tfs_json_string(json, "function", model->seen[i].function);
		tfs_json_unsigned(json, "hooks", model->seen[i].hooks);
		tfs_json_unsigned(json, "cupti", model->seen[i].cupti);
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
}

static void write_rules(struct tfs_json *json, const struct tfs_model *model)
{
	tfs_json_open(json, "rules", '[');
	for (size_t i = 0; i < model->rule_count; i++) {
		const struct tfs_model_rule *line = &model->rules[i];
		tfs_json_open(json, NULL, '{');
		tfs_json_string(json, "id", line->rule->id);
		tfs_json_string(json, "slug", line->rule->slug);
		tfs_json_string(json, "state", tfs_words_state(line->state));
		tfs_json_string(json, "reason", line->reason);
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
}

static void write_unwritten(struct tfs_json *json)
{
	const char *id, *slug;

	tfs_json_open(json, "not_looked_for", '[');
	for (size_t i = 0; tfs_words_unwritten_at(i, &id, &slug); i++) {
		tfs_json_open(json, NULL, '{');
		tfs_json_string(json, "id", id);
		tfs_json_string(json, "slug", slug);
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
}

/* What is per step where steps are known. */
static void write_in_run(struct tfs_json *json, const struct tfs_model_finding *finding)
{
	const bool none = tfs_words_costless(&finding->cost);

	tfs_json_open(json, "in_run", '{');
	tfs_json_number(json, "count", finding->count_per_step);
	tfs_json_number(json, "bytes", finding->bytes_per_step);
	tfs_json_number(json, "time_ns", finding->time_per_step_ns);
	tfs_json_number(json, "cost_ns", none ? NAN : finding->cost.ns);
	tfs_json_number(json, "cost_low", none ? NAN : finding->cost.low_ns);
	tfs_json_number(json, "cost_high", none ? NAN : finding->cost.high_ns);
	tfs_json_close(json, '}');
}

static void write_source(struct tfs_json *json, const struct tfs_model_source *source)
{
	if (!source->count) {
		tfs_json_null(json, "source");
		return;
	}
	tfs_json_open(json, "source", '{');
	tfs_json_unsigned(json, "first", source->first);
	tfs_json_open(json, "lines", '[');
	for (size_t i = 0; i < source->count; i++)
		tfs_json_string(json, NULL, source->lines[i]);
	tfs_json_close(json, ']');
	tfs_json_close(json, '}');
}

static void write_finding(struct tfs_json *json, const struct tfs_model *model,
	const struct tfs_model_finding *finding)
{
	const bool run = model->per_run;

	tfs_json_open(json, NULL, '{');
	tfs_json_string(json, "id", finding->rule->id);
	tfs_json_string(json, "slug", finding->rule->slug);
	tfs_json_string(json, "level", tfs_words_level(finding->level));
	if (finding->group)
		tfs_json_unsigned(json, "group", finding->group);
	else
		tfs_json_null(json, "group");
	write_place(json, "callsite", &finding->place, finding->call);
	write_source(json, &finding->source);
	tfs_json_string(json, "stream", finding->stream);
	tfs_json_open(json, "per_step", '{');
	tfs_json_number(json, "count", run ? NAN : finding->count_per_step);
	tfs_json_number(json, "bytes", run ? NAN : finding->bytes_per_step);
	tfs_json_number(json, "time_ns", run ? NAN : finding->time_per_step_ns);
	tfs_json_close(json, '}');
	tfs_json_unsigned(json, "count_total", finding->count_total);
	tfs_json_open(json, "cost", '{');
	write_cost(json, model, &finding->cost);
	tfs_json_close(json, '}');
	if (run)
		write_in_run(json, finding);
	tfs_json_bool(json, "low_confidence", finding->doubt != NULL);
	tfs_json_string(json, "doubt", finding->doubt);
	tfs_json_string(json, "message", finding->message);
	tfs_json_string(json, "advice", finding->advice);
	tfs_json_string(json, "patch", finding->patch);
	tfs_json_string(json, "evidence", finding->evidence);
	tfs_json_open(json, "rewrite", '{');
	tfs_json_string(json, "name", finding->rewrite);
	tfs_json_string(json, "state", finding->rewrite_state);
	tfs_json_string(json, "reason", finding->rewrite_reason);
	tfs_json_close(json, '}');
	tfs_json_bool(json, "repaired", finding->repaired);
	tfs_json_close(json, '}');
}

static void write_card(
	struct tfs_json *json, const struct tfs_model *model, const struct tfs_model_card *card)
{
	tfs_json_open(json, NULL, '{');
	tfs_json_open(json, "ids", '[');
	for (size_t i = 0; i < card->finding_count; i++) {
		const struct tfs_rule_text *rule = model->findings[card->findings[i]].rule;
		bool named = false;

		for (size_t j = 0; j < i; j++)
			named |= model->findings[card->findings[j]].rule == rule;
		if (!named)
			tfs_json_string(json, NULL, rule->id);
	}
	tfs_json_close(json, ']');
	tfs_json_string(json, "level", tfs_words_level(card->level));
	tfs_json_open(json, "findings", '[');
	for (size_t i = 0; i < card->finding_count; i++)
		tfs_json_unsigned(json, NULL, card->findings[i]);
	tfs_json_close(json, ']');
	tfs_json_unsigned(json, "lead", card->lead);
	tfs_json_open(json, "cost", '{');
	write_cost(json, model, &card->cost);
	tfs_json_close(json, '}');
	tfs_json_bool(json, "repaired", card->repaired);
	tfs_json_close(json, '}');
}

/* The first findings, and the cards that hold no others. */
static void write_findings(struct tfs_json *json, const struct tfs_model *model, size_t most)
{
	tfs_json_open(json, "findings", '[');
	for (size_t i = 0; i < model->finding_count && i < most; i++)
		write_finding(json, model, &model->findings[i]);
	tfs_json_close(json, ']');
	tfs_json_open(json, "cards", '[');
	for (size_t i = 0; i < model->card_count; i++) {
		const struct tfs_model_card *card = &model->cards[i];
		bool held = true;

		for (size_t j = 0; j < card->finding_count; j++)
			held &= card->findings[j] < most;
		if (held)
			write_card(json, model, card);
	}
	tfs_json_close(json, ']');
}

static void write_rewrite(struct tfs_json *json, const struct tfs_model_rewrite *rewrite)
{
	tfs_json_open(json, NULL, '{');
	tfs_json_string(json, "name", rewrite->name);
	tfs_json_string(json, "class", rewrite->class_name);
	tfs_json_string(json, "state", rewrite->state);
	tfs_json_string(json, "measured", rewrite->measured);
	tfs_json_string(json, "reason", rewrite->reason);
	tfs_json_unsigned(json, "applied", rewrite->applied);
	tfs_json_unsigned(json, "bytes", rewrite->bytes);
	/* One number per failed check; call sites are in "refusals". */
	tfs_json_open(json, "refused", '{');
	for (size_t i = 0; i < rewrite->refusal_count; i++) {
		const char *check = rewrite->refusals[i].check;
		uint64_t count = 0;
		bool first = true;
		for (size_t j = 0; j < rewrite->refusal_count; j++) {
			if (strcmp(rewrite->refusals[j].check, check))
				continue;
			first = first && j >= i;
			count += rewrite->refusals[j].count;
		}
		if (first)
			tfs_json_unsigned(json, check, count);
	}
	tfs_json_close(json, '}');
	tfs_json_number(json, "predicted", rewrite->predicted_ns);
	tfs_json_number(json, "realised", rewrite->realised_ns);
	tfs_json_number(json, "realised_low", rewrite->realised_low_ns);
	tfs_json_number(json, "realised_high", rewrite->realised_high_ns);
	tfs_json_string(json, "proof", rewrite->proof);
	tfs_json_open(json, "refusals", '[');
	for (size_t i = 0; i < rewrite->refusal_count; i++) {
		tfs_json_open(json, NULL, '{');
		tfs_json_string(json, "check", rewrite->refusals[i].check);
		tfs_json_string(json, "text", rewrite->refusals[i].text);
		tfs_json_unsigned(json, "count", rewrite->refusals[i].count);
		write_place(json, "callsite", &rewrite->refusals[i].place, NULL);
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
	tfs_json_close(json, '}');
}

static void write_calls(struct tfs_json *json, const struct tfs_model *model)
{
	tfs_json_open(json, "calls", '[');
	for (size_t i = 0; i < model->call_count; i++) {
		const struct tfs_model_call *call = &model->calls[i];
		tfs_json_open(json, NULL, '{');
		write_place(json, "callsite", &call->place, call->function);
		tfs_json_unsigned(json, "count", call->count);
		tfs_json_unsigned(json, "bytes", call->amount);
		tfs_json_open(json, "per_step", '{');
		tfs_json_number(json, "count", call->per_step);
		tfs_json_number(json, "bytes", call->bytes_per_step);
		tfs_json_close(json, '}');
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
}

static void write_expenses(struct tfs_json *json, const struct tfs_model *model)
{
	tfs_json_open(json, "whole_run", '[');
	for (size_t i = 0; i < model->expense_count; i++) {
		const struct tfs_model_expenses *list = &model->expenses[i];

		tfs_json_open(json, NULL, '{');
		tfs_json_string(json, "kind", list->key);
		tfs_json_number(json, "whole", list->whole);
		tfs_json_open(json, "callsites", '[');
		for (size_t j = 0; j < list->count; j++) {
			tfs_json_open(json, NULL, '{');
			write_place(
				json, "callsite", &list->items[j].place, list->items[j].function);
			tfs_json_unsigned(json, "callers", list->items[j].sites);
			tfs_json_unsigned(json, "calls", list->items[j].calls);
			tfs_json_number(json, "amount", list->items[j].amount);
			tfs_json_number(json, "share", list->items[j].amount / list->whole);
			tfs_json_close(json, '}');
		}
		tfs_json_close(json, ']');
		tfs_json_unsigned(json, "more", list->more);
		tfs_json_number(json, "more_amount", list->more_amount);
		tfs_json_number(json, "unrecorded_amount", list->unowned);
		tfs_json_close(json, '}');
	}
	tfs_json_close(json, ']');
}

void tfs_json_report(const struct tfs_model *model, struct tfs_json *json, bool with_calls)
{
	tfs_json_open(json, NULL, '{');
	write_program(json, model);
	tfs_json_headline(json, model);
	tfs_json_open(json, "visibility", '{');
	tfs_json_string(json, "text", model->sight);
	write_facts(json, "facts", model->visibility, model->visibility_count);
	write_seen(json, model);
	tfs_json_close(json, '}');
	tfs_json_times(json, model);
	write_expenses(json, model);
	write_rules(json, model);
	write_unwritten(json);
	write_findings(json, model, with_calls ? SIZE_MAX : PAGE_FINDINGS);
	tfs_json_open(json, "joint_saving", '{');
	tfs_json_unsigned(json, "findings", model->joint_count);
	write_cost(json, model, &model->joint);
	tfs_json_close(json, '}');
	tfs_json_open(json, "rewrites", '[');
	for (size_t i = 0; i < model->rewrite_count; i++)
		write_rewrite(json, &model->rewrites[i]);
	tfs_json_close(json, ']');
	tfs_json_open(json, "losses", '{');
	for (size_t i = 0; i < model->loss_count; i++)
		tfs_json_unsigned(json, model->losses[i].name, model->losses[i].count);
	tfs_json_close(json, '}');
	write_facts(json, "measured", model->method, model->method_count);
	if (with_calls)
		write_calls(json, model);
	tfs_json_close(json, '}');
}

static int write_document(const struct tfs_model *model, FILE *out, const struct tfs_paint *paint)
{
	struct tfs_json json;
	(void)paint;
	tfs_json_init(&json, out, false);
	tfs_json_report(model, &json, true);
	return 0;
}

const struct tfs_format tfs_format_json = {
	.name = "json",
	.suffix = ".json",
	.title = "for machines; reports/formats/JSON.md describes it",
	.beside = true,
	.write = write_document,
};
