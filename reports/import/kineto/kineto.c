/* SPDX-License-Identifier: MIT */
#include "reports/import/kineto/kineto.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "reports/import/collected/choice.h"
#include "reports/import/collected/collected.h"
#include "reports/import/kineto/kineto_event.h"
#include "reports/import/kineto/processes.h"
#include "reports/import/kineto/source.h"

#define MOST_KEY 64u

struct reading {
	struct tfs_source source;
	struct tfs_collected *collected;
	struct tfs_kineto_processes processes;
	const char *why;
	bool events; /* there was a list of them */
};

/* Numbers as doubles, so that no digit more makes a file unreadable. */
static json_t *parse(const struct reading *reading)
{
	json_error_t error;

	return json_loadb(reading->source.value, reading->source.bytes,
		JSON_DECODE_ANY | JSON_DECODE_INT_AS_REAL, &error);
}

/* Of all events only those with a duration and the names of processes are of use. */
static bool is_of_use(const struct tfs_source *source)
{
	const char *at = memmem(source->value, source->bytes, "\"ph\"", 4);

	if (!at)
		return false;
	at += 4;
	at += strspn(at, " \t\r\n:");
	return !strncmp(at, "\"X\"", 3) || !strncmp(at, "\"M\"", 3);
}

static int read_event(struct reading *reading)
{
	const int first = tfs_source_next(&reading->source);
	if (first != '{') {
		reading->why = first < 0 ? "the file ends early" : "an event is not a JSON object";
		return -EILSEQ;
	}
	int err = tfs_source_value(&reading->source, true);
	if (err || !is_of_use(&reading->source))
		return err;
	json_t *event = parse(reading);
	if (!event) {
		/* Kineto itself has written infinite rates. */
		reading->collected->not_taken++;
		return 0;
	}
	err = tfs_kineto_event(reading->collected, &reading->processes, event);
	json_decref(event);
	return err;
}

/* The items of a list, or the members of an object, in turn; `read` reads one. */
static int read_items(struct reading *reading, char first, char last, int (*read)(struct reading *))
{
	struct tfs_source *source = &reading->source;

	if (!tfs_source_pass(source, first))
		return -EILSEQ;
	if (tfs_source_pass(source, last))
		return 0;
	for (;;) {
		int err = read(reading);
		if (err)
			return err;
		if (tfs_source_pass(source, last))
			return 0;
		if (!tfs_source_pass(source, ','))
			return -EILSEQ;
	}
}

static int read_fact(struct reading *reading, const char *key)
{
	int err = tfs_source_value(&reading->source, true);
	json_t *value = err ? NULL : parse(reading);

	if (!value)
		return err ? err : -EILSEQ;
	err = tfs_kineto_fact(reading->collected, &reading->processes, key, value);
	json_decref(value);
	return err;
}

/* What is not asked for by its name is passed over: such a file may hold an environment. */
static int read_member(struct reading *reading)
{
	struct tfs_source *source = &reading->source;
	char key[MOST_KEY] = "";

	if (tfs_source_next(source) != '"')
		return -EILSEQ;
	int err = tfs_source_value(source, true);
	if (err)
		return err;
	if (source->bytes - 2 < sizeof(key))
		memcpy(key, source->value + 1, source->bytes - 2);
	if (!tfs_source_pass(source, ':'))
		return -EILSEQ;
	if (!strcmp(key, "traceEvents") && tfs_source_next(source) == '[') {
		reading->events = true;
		return read_items(reading, '[', ']', read_event);
	}
	if (!strcmp(key, "deviceProperties") || !strcmp(key, "distributedInfo") ||
		!strcmp(key, "baseTimeNanoseconds"))
		return read_fact(reading, key);
	return tfs_source_value(source, false);
}

static int read_all(struct reading *reading)
{
	int err;

	if (tfs_source_next(&reading->source) == '[') {
		reading->events = true;
		err = read_items(reading, '[', ']', read_event);
	} else {
		err = read_items(reading, '{', '}', read_member);
	}
	if (err)
		return err;
	if (tfs_source_next(&reading->source) >= 0 || reading->source.why) {
		reading->why = "not JSON: text after the end";
		return -EILSEQ;
	}
	const struct tfs_collected *collected = reading->collected;
	if (collected->not_taken && !collected->call_count && !collected->op_count) {
		reading->why = "no event can be read";
		return -EILSEQ;
	}
	return reading->events ? 0 : -ENOTSUP;
}

static void say(struct reading *reading, int err, char *out_why, size_t why_bytes)
{
	const char *why = reading->source.why ? reading->source.why : reading->why;

	if (!why && err == -EILSEQ)
		why = tfs_source_next(&reading->source) < 0 ? "the file ends early" : "not JSON";
	snprintf(out_why, why_bytes, "%s (at byte %llu)", why ? why : strerror(-err),
		(unsigned long long)tfs_source_offset(&reading->source));
}

int tfs_kineto_read(const struct tfs_choice *choice, struct tfs_collected *collected, char *out_why,
	size_t why_bytes)
{
	struct reading reading = {.collected = collected, .processes = {.choice = choice}};
	int err = tfs_source_open(&reading.source, choice->file);

	if (err)
		return err;
	const int first = tfs_source_next(&reading.source);
	if (first == 'S' && tfs_source_packed(&reading.source)) {
		snprintf(out_why, why_bytes, "packed, and no JSON: unpack it");
		err = -EILSEQ;
	} else if (first != '{' && first != '[' && !reading.source.why) {
		err = -ENOTSUP;
	} else {
		snprintf(collected->tool, sizeof(collected->tool), "PyTorch's profiler");
		err = read_all(&reading);
		if (!err)
			err = tfs_kineto_settle(&reading.processes, collected, out_why, why_bytes);
	}
	if (err && err != -ENOTSUP && !*out_why)
		say(&reading, err, out_why, why_bytes);
	tfs_kineto_processes_finish(&reading.processes);
	tfs_source_close(&reading.source);
	return err;
}
