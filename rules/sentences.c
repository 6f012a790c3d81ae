/* SPDX-License-Identifier: MIT */
#include "rules/sentences.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#define LONGEST 400u
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

/* NULL: of a check that this program does not know. */
static const char *check_sentence(uint64_t check)
{
	return check < sizeof(checks) / sizeof(*checks) ? checks[check] : NULL;
}

const char *tfs_sentence_refusal(const struct tfs_trace *trace,
	const struct tfs_refusal_record *record, struct tfs_pool *pool)
{
	const char *object = tfs_trace_string(trace, record->object);
	const char *sentence = check_sentence(record->check);

	if (!sentence)
		return tfs_pool_print(
			pool, "a check that this tfshim does not know (%u)", record->check);
	return *object ? tfs_pool_print(pool, "%s (%s)", sentence, object) : sentence;
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

const char *tfs_sentence_reason(const struct tfs_trace *trace,
	const struct tfs_rewrite_record *record, struct tfs_pool *pool)
{
	const uint16_t code = record->reason.code;
	struct sentence sentence = {.used = 0};

	if (code == TFS_REASON_none)
		return "";
	if (code >= sizeof(reasons) / sizeof(*reasons) || !reasons[code])
		return tfs_pool_print(pool, "a reason that this tfshim does not know (%u)", code);
	for (const char *at = reasons[code]; *at; at++) {
		const size_t plain = strcspn(at, "{");

		add(&sentence, at, plain);
		at += plain;
		if (!*at)
			break;
		const size_t inside = strcspn(++at, "}");
		fill(&sentence, trace, record, at, inside);
		at += inside;
	}
	return tfs_pool_print(pool, "%s", sentence.text);
}
