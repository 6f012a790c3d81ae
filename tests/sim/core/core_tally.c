/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/core/core_private.h"

#define NAME_CHARS 250
/* What the line at the end of the run has room for. */
#define SHOWN_NAMES 16
#define SHOWN_CHARS 60

/* A copy of the name: whose it is may be unloaded. */
struct entry {
	char name[NAME_CHARS + 1];
	unsigned long long count;
};

struct tally {
	const char *what;
	unsigned long long total;
	struct entry *entries; /* by first appearance */
	size_t count, room;
};

static struct tally skipped = {.what = "kernel-skipped"};
static struct tally refused = {.what = "call-not-supported"};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

/* NULL without memory: the total still counts. */
static struct entry *entry_of(struct tally *tally, const char *name)
{
	size_t room = tally->room ? tally->room * 2 : 16;
	struct entry *entries, *entry;

	for (size_t i = 0; i < tally->count; i++)
		if (strncmp(tally->entries[i].name, name, NAME_CHARS) == 0)
			return &tally->entries[i];
	if (tally->count == tally->room) {
		entries = realloc(tally->entries, room * sizeof(*entries));
		if (!entries)
			return NULL;
		tally->entries = entries;
		tally->room = room;
	}
	entry = &tally->entries[tally->count++];
	snprintf(entry->name, sizeof(entry->name), "%s", name);
	entry->count = 0;
	return entry;
}

static void count(struct tally *tally, const char *name)
{
	struct entry *entry;

	pthread_mutex_lock(&lock);
	tally->total++;
	entry = entry_of(tally, name);
	if (entry)
		entry->count++;
	pthread_mutex_unlock(&lock);
}

/* A program may call nothing else: the count is told at the end all the same. */
void tfsim_not_supported(const char *name)
{
	sim_enter();
	count(&refused, name);
}

void tfsim_skipped(const char *kernel)
{
	count(&skipped, kernel);
}

static void add_names(FILE *line, const struct tally *tally)
{
	for (size_t i = 0; i < tally->count && i < SHOWN_NAMES; i++)
		fprintf(line, "%s%.*s", i ? " " : " (", SHOWN_CHARS, tally->entries[i].name);
	if (tally->count)
		fputc(')', line);
}

bool sim_tally_empty(void)
{
	return skipped.total == 0 && refused.total == 0;
}

void sim_tally_print(FILE *line)
{
	pthread_mutex_lock(&lock);
	fprintf(line, "%llu kernels skipped", skipped.total);
	add_names(line, &skipped);
	fprintf(line, ", %llu calls not supported", refused.total);
	add_names(line, &refused);
	pthread_mutex_unlock(&lock);
}

static int by_count(const void *a, const void *b)
{
	const struct entry *one = a, *other = b;

	if (one->count != other->count)
		return one->count < other->count ? 1 : -1;
	return strcmp(one->name, other->name);
}

static void list(FILE *file, struct tally *tally)
{
	if (tally->count)
		qsort(tally->entries, tally->count, sizeof(*tally->entries), by_count);
	for (size_t i = 0; i < tally->count; i++)
		fprintf(file, "%s\t%llu\t%s\n", tally->what, tally->entries[i].count,
			tally->entries[i].name);
}

void sim_tally_write(const char *path)
{
	FILE *file = fopen(path, "a");

	if (!file) {
		fprintf(stderr, "tfsim: cannot write %s\n", path);
		return;
	}
	pthread_mutex_lock(&lock);
	list(file, &refused);
	list(file, &skipped);
	pthread_mutex_unlock(&lock);
	fclose(file);
}
