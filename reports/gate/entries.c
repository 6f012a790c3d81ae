/* SPDX-License-Identifier: MIT */
#include "reports/gate/entries.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "reports/formats/text.h"
#include "reports/support/must.h"
#include "reports/support/newest.h"

void tfs_entries_complain(const struct tfs_command *command, const char *path, const char *text)
{
	tfs_text_line(stderr, "tfshim %s: %s: %s", command->name, path, text);
}

static int is_recording(const struct dirent *entry)
{
	size_t length = strlen(entry->d_name);

	return length > 4 && !strcmp(entry->d_name + length - 4, ".tfs");
}

static void add(struct tfs_entries *entries, char *path, bool named, const char *replaced)
{
	if (!path)
		return;
	entries->entries =
		tfs_must_grow(entries->entries, entries->count, sizeof(*entries->entries));
	entries->entries[entries->count++] =
		(struct tfs_entry){path, named, replaced ? strdup(replaced) : NULL};
}

/* Takes the paths over. */
static void add_folder(struct tfs_entries *entries, const struct tfs_command *command,
	const char *folder, char **paths, size_t count, bool newest)
{
	struct tfs_later *later = calloc(count + 1, sizeof(*later));
	size_t left = 0;

	if (later && newest)
		tfs_newest_find(paths, count, later);
	for (size_t i = 0; i < count; i++) {
		if (later && later[i].same_path)
			left++;
		else
			add(entries, paths[i], false,
				later && later[i].other_path ? paths[later[i].other_last] : NULL);
	}
	for (size_t i = 0; later && i < count; i++)
		if (later[i].same_path)
			free(paths[i]);
	if (left)
		tfs_text_line(stderr,
			"tfshim %s: %s: %zu recording%s of earlier runs left out; "
			"name a recording to judge it",
			command->name, folder, left, left == 1 ? "" : "s");
	free(later);
}

int tfs_entries_add(struct tfs_entries *entries, const struct tfs_command *command,
	const char *path, bool newest)
{
	struct dirent **found;
	struct stat about;
	const size_t before = entries->count;

	if (stat(path, &about) || !S_ISDIR(about.st_mode)) {
		add(entries, strdup(path), true, NULL);
		return 0;
	}
	const int count = scandir(path, &found, is_recording, alphasort);

	if (count < 0) {
		tfs_entries_complain(command, path, strerror(errno));
		return TFS_EXIT_NO_DATA;
	}
	char **paths = calloc((size_t)count + 1, sizeof(*paths));
	size_t kept = 0;

	for (int i = 0; i < count; i++) {
		if (paths && asprintf(&paths[kept], "%s/%s", path, found[i]->d_name) >= 0)
			kept++;
		free(found[i]);
	}
	free(found);
	add_folder(entries, command, path, paths, kept, newest);
	free(paths);
	if (entries->count > before)
		return 0;
	tfs_entries_complain(command, path,
		"no recordings (.tfs) in this folder; make one with 'tfshim run -o FOLDER/NAME'");
	return TFS_EXIT_NO_DATA;
}

void tfs_entries_finish(struct tfs_entries *entries)
{
	for (size_t i = 0; i < entries->count; i++) {
		free(entries->entries[i].path);
		free(entries->entries[i].replaced);
	}
	free(entries->entries);
}
