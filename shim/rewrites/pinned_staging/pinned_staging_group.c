/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/pinned_staging/pinned_staging_group.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define NO_LIMIT UINT64_MAX

/* A group's folder, without a slash at its end. */
struct group {
	char path[512];
	size_t root_length;
	int version;
};

const char *tfs_staging_read(const char *path, char *buffer, size_t bytes)
{
	const int file = open(path, O_RDONLY | O_CLOEXEC);
	const ssize_t got = file >= 0 ? read(file, buffer, bytes - 1) : -1;

	if (file >= 0)
		close(file);
	buffer[got > 0 ? got : 0] = '\0';
	return buffer;
}

static const char *read_file(const struct group *group, const char *name, char *text, size_t bytes)
{
	char path[600];

	snprintf(path, sizeof(path), "%s/%s", group->path, name);
	return tfs_staging_read(path, text, bytes);
}

/* "max", and what version 1 says instead, is no limit. */
static uint64_t read_number(const struct group *group, const char *name)
{
	char text[64];
	char *end = text;

	read_file(group, name, text, sizeof(text));
	const uint64_t number = strtoull(text, &end, 10);
	return end == text || *text == '-' || number >= UINT64_C(1) << 60 ? NO_LIMIT : number;
}

/* Is the controller among the names up to the colon? Version 2 has none. */
static bool names(const char *text, const char *controller)
{
	const size_t length = strlen(controller);

	if (length == 0)
		return *text == ':';
	for (; *text != ':' && *text != '\0'; text += *text == ',') {
		const size_t word = strcspn(text, ",:");

		if (word == length && strncmp(text, controller, length) == 0)
			return true;
		text += word;
	}
	return false;
}

/* "4:memory:/path" per line. */
static bool find_group(
	const char *root, const char *list, const char *controller, struct group *out_group)
{
	char text[4096];

	tfs_staging_read(list, text, sizeof(text));
	for (const char *line = text; *line != '\0';) {
		const size_t length = strcspn(line, "\n");
		const char *name = memchr(line, ':', length);
		const char *folder = name ? strchr(name + 1, ':') : NULL;

		if (folder && folder < line + length && names(name + 1, controller)) {
			const int bytes = (int)(line + length - folder - 1);
			const char *slash = *controller != '\0' ? "/" : "";

			out_group->version = *controller != '\0' ? 1 : 2;
			out_group->root_length = (size_t)snprintf(out_group->path,
				sizeof(out_group->path), "%s%s%s", root, slash, controller);
			snprintf(out_group->path, sizeof(out_group->path), "%s%s%s%.*s", root,
				slash, controller, bytes > 1 ? bytes : 0, folder + 1);
			return true;
		}
		line += length + (line[length] == '\n');
	}
	return false;
}

/* Up to the one that holds all others; false above that. */
static bool go_up(struct group *group)
{
	char *slash = strrchr(group->path, '/');

	if (strlen(group->path) <= group->root_length || !slash)
		return false;
	*slash = '\0';
	return true;
}

static uint64_t processors(const struct group *group)
{
	char text[64];
	uint64_t quota;
	uint64_t period = 0;

	if (group->version == 1) {
		quota = read_number(group, "cpu.cfs_quota_us");
		period = read_number(group, "cpu.cfs_period_us");
	} else {
		char *end = text;

		read_file(group, "cpu.max", text, sizeof(text));
		quota = strtoull(text, &end, 10);
		if (end == text)
			return NO_LIMIT;
		period = strtoull(end, NULL, 10);
	}
	if (quota == NO_LIMIT || period == NO_LIMIT || period == 0)
		return NO_LIMIT;
	return quota >= period ? quota / period : 1;
}

static uint64_t number_after(const char *text, const char *key)
{
	const char *at = strstr(text, key);

	return at ? strtoull(at + strlen(key), NULL, 10) : 0;
}

static uint64_t memory(const struct group *group)
{
	const bool old = group->version == 1;
	const uint64_t most = read_number(group, old ? "memory.limit_in_bytes" : "memory.max");
	uint64_t used = read_number(group, old ? "memory.usage_in_bytes" : "memory.current");
	char text[4096];

	if (most == NO_LIMIT || used == NO_LIMIT)
		return NO_LIMIT;
	read_file(group, "memory.stat", text, sizeof(text));
	const uint64_t cached = number_after(text, old ? "\ntotal_cache " : "\nfile ");
	used -= cached < used ? cached : used;
	return most > used ? most - used : 0;
}

static uint64_t least(const char *root, const char *list, const char *controller,
	uint64_t (*ask)(const struct group *))
{
	uint64_t least = NO_LIMIT;
	struct group group;

	for (int version = 1; version <= 2; version++) {
		if (!find_group(root, list, version == 1 ? controller : "", &group))
			continue;
		do {
			const uint64_t one = ask(&group);

			least = one < least ? one : least;
		} while (go_up(&group));
	}
	return least;
}

uint32_t tfs_staging_group_processors(const char *root, const char *list)
{
	const uint64_t number = least(root, list, "cpu", processors);

	return number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
}

uint64_t tfs_staging_group_memory(const char *root, const char *list)
{
	return least(root, list, "memory", memory);
}
