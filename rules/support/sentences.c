/* SPDX-License-Identifier: MIT */
#include "rules/support/sentences.h"
#include "rules/support/figures.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 400u
#define MOST_ERRNO 4095u
#define NUMBERS (sizeof(((struct tfs_reason *)0)->numbers) / sizeof(uint64_t))

static const char *const checks[] = {
#define X(number, constant, name, sentence) [number] = sentence,
	TFS_CHECKS(X)
#undef X
};

static const char *const reasons[] = {
#define X(number, constant, sentence) [number] = sentence,
	TFS_REASONS(X)
#undef X
};

static const struct fact {
	const char *key;
	enum tfs_fact_kind kind;
	const char *sentence;
} fact_rows[] = {
#define X(number, constant, key, kind, sentence) [number] = {key, TFS_FACT_KIND_##kind, sentence},
	TFS_FACTS(X)
#undef X
};

/* NULL: of a check that this program does not know. */
static const char *check_sentence(uint64_t check)
{
	return check < sizeof(checks) / sizeof(*checks) ? checks[check] : NULL;
}

const char *tfs_sentence_refusal(const struct tfs_trace *trace,
	const struct tfs_refusal_record *record, struct tfs_arena *arena)
{
	const char *object = tfs_trace_string(trace, record->object);
	const char *sentence = check_sentence(record->check);

	if (!sentence)
		return tfs_arena_print(
			arena, "a check that this tfshim does not know (%u)", record->check);
	return *object ? tfs_arena_print(arena, "%s (%s)", sentence, object) : sentence;
}

/* What is being written, cut to fit. */
struct sentence {
	char text[LONGEST];
	size_t used;
};

static void add(struct sentence *sentence, const char *text, size_t bytes)
{
	const size_t room = sizeof(sentence->text) - 1 - sentence->used;

	bytes = bytes < room ? bytes : room;
	memcpy(sentence->text + sentence->used, text, bytes);
	sentence->used += bytes;
}

/* A text with the number in the place of #. */
static void add_with(struct sentence *sentence, const char *text, size_t bytes, const char *number)
{
	const char *mark = memchr(text, '#', bytes);
	const size_t before = mark ? (size_t)(mark - text) : bytes;

	add(sentence, text, before);
	if (!mark)
		return;
	add(sentence, number, strlen(number));
	add(sentence, mark + 1, bytes - before - 1);
}

static const char *model(const struct tfs_rewrite_record *record)
{
	return record->predicted_ns > 0      ? "; kept, its own model predicts a gain"
	       : isnan(record->predicted_ns) ? "; not kept, too few calls for its own model"
					     : "; off, its own model predicts no gain";
}

/* One placeholder, without its braces. */
static void fill(struct sentence *sentence, const struct tfs_trace *trace,
	const struct tfs_rewrite_record *record, const char *what, size_t bytes)
{
	const struct tfs_reason *reason = &record->reason;
	const unsigned digit = (unsigned)(what[*what == 'v'] - '0');
	char number[32];

	if (!strncmp(what, "model", 5)) {
		add(sentence, model(record), strlen(model(record)));
	} else if (!strncmp(what, "check", 5)) {
		const char *check = check_sentence(reason->numbers[0]);

		check = check ? check : "a check that this tfshim does not know";
		add(sentence, check, strlen(check));
	} else if (!strncmp(what, "object", 6)) {
		const char *object = tfs_trace_string(trace, reason->object);

		add(sentence, object, strlen(object));
	} else if (!strncmp(what, "time", 4)) {
		const struct tfs_figure figure = tfs_figure_time((double)reason->numbers[0]);

		add(sentence, figure.text, strlen(figure.text));
	} else if (!strncmp(what, "bytes", 5)) {
		const struct tfs_figure figure = tfs_figure_bytes((double)reason->numbers[0]);

		add(sentence, figure.text, strlen(figure.text));
	} else if (!strncmp(what, "error", 5) && reason->numbers[0] <= MOST_ERRNO) {
		const char *text = reason->numbers[0] ? strerror((int)reason->numbers[0]) : "";

		add_with(sentence, *text ? " (#)" : "", *text ? 4 : 0, text);
	} else if (*what == 'v' && digit < 2 && bytes > 2 && what[2] == '?') {
		snprintf(number, sizeof(number), "%.0f", reason->values[digit]);
		if (reason->values[digit] >= 1 && reason->values[digit] < 1e15)
			add_with(sentence, what + 3, bytes - 3, number);
	} else if (*what == 'v' && digit < 2) {
		snprintf(number, sizeof(number), "%.2g", reason->values[digit]);
		add(sentence, number, strlen(number));
	} else if (digit < NUMBERS) {
		snprintf(number, sizeof(number), "%" PRIu64, reason->numbers[digit]);
		if (what[1] != '?')
			add(sentence, number, strlen(number));
		else if (reason->numbers[digit])
			add_with(sentence, what + 2, bytes - 2, number);
	}
}

static const char *fill_in(const struct tfs_trace *trace, const struct tfs_rewrite_record *record,
	const char *text, struct tfs_arena *arena)
{
	struct sentence sentence = {.used = 0};

	for (const char *at = text; *at; at++) {
		const size_t plain = strcspn(at, "{");

		add(&sentence, at, plain);
		at += plain;
		if (!*at)
			break;
		const size_t inside = strcspn(++at, "}");
		fill(&sentence, trace, record, at, inside);
		at += inside;
	}
	return tfs_arena_print(arena, "%s", sentence.text);
}

const char *tfs_sentence_reason(const struct tfs_trace *trace,
	const struct tfs_rewrite_record *record, struct tfs_arena *arena)
{
	const uint16_t code = record->reason.code;

	if (code == TFS_REASON_none)
		return "";
	if (code >= sizeof(reasons) / sizeof(*reasons) || !reasons[code])
		return tfs_arena_print(arena, "a reason that this tfshim does not know (%u)", code);
	return fill_in(trace, record, reasons[code], arena);
}

/* NULL: of a fact that this program does not know. */
static const struct fact *fact_row(const struct tfs_fact_record *record)
{
	const uint16_t code = record->fact;

	return code < sizeof(fact_rows) / sizeof(*fact_rows) && fact_rows[code].key
		       ? &fact_rows[code]
		       : NULL;
}

static const struct tfs_fact_record *fact_at(const struct tfs_trace *trace, size_t number)
{
	return tfs_trace_at(trace, TFS_RECORD_fact, number);
}

static const char *fact_sentence(const struct tfs_trace *trace,
	const struct tfs_fact_record *record, struct tfs_arena *arena)
{
	const struct tfs_rewrite_record figures = {
		.reason = {.object = record->object,
			.numbers = {record->numbers[0], record->numbers[1]}}};

	return fill_in(trace, &figures, fact_row(record)->sentence, arena);
}

static bool are_alike(const struct tfs_fact_record *one, const struct tfs_fact_record *other)
{
	const struct fact *row = fact_row(one), *beside = fact_row(other);

	return row && beside && !strcmp(row->key, beside->key) &&
	       (row->kind != TFS_FACT_KIND_each || one->object == other->object);
}

/* What was told of the same before, from the first part of a story on. */
static const char *story(const struct tfs_trace *trace, size_t number, struct tfs_arena *arena)
{
	const char *text = "";

	for (size_t i = 0; i <= number && strlen(text) < LONGEST; i++) {
		const struct tfs_fact_record *one = fact_at(trace, i);

		if (are_alike(one, fact_at(trace, number)) &&
			(*text || fact_row(one)->kind == TFS_FACT_KIND_story))
			text = tfs_arena_print(arena, "%s%s%s", text, *text ? "; " : "",
				fact_sentence(trace, one, arena));
	}
	return text;
}

bool tfs_sentence_fact(const struct tfs_trace *trace, size_t number, struct tfs_arena *arena,
	const char **out_key, const char **out_text)
{
	const struct tfs_fact_record *record = fact_at(trace, number);
	const struct fact *row = fact_row(record);

	if (!row)
		return false;
	for (size_t i = number + 1; i < tfs_trace_count(trace, TFS_RECORD_fact); i++)
		if (are_alike(fact_at(trace, i), record))
			return false;
	*out_key = row->kind == TFS_FACT_KIND_each
			   ? tfs_arena_print(arena, "%s%s", row->key,
				     tfs_trace_string(trace, record->object))
			   : row->key;
	*out_text = story(trace, number, arena);
	if (!**out_text)
		*out_text = fact_sentence(trace, record, arena);
	return true;
}

const char *tfs_sentence_key(
	const struct tfs_trace *trace, const char *key, struct tfs_arena *arena)
{
	const char *own, *text;

	for (size_t i = tfs_trace_count(trace, TFS_RECORD_fact); i-- > 0;)
		if (tfs_sentence_fact(trace, i, arena, &own, &text) && !strcmp(own, key))
			return text;
	return "";
}
