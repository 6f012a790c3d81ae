/* SPDX-License-Identifier: MIT */
#include "shim/host/host_others.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "shim/host/host_task.h"

/* More are not counted. */
#define MOST_COUNTED 4096u
#define OWN_NAME "tfshim"

struct search {
	const char *root;
	pid_t tid;
	struct tfs_host_others_record *record;
};

static void count(struct tfs_host_crowd *crowd, char state)
{
	if (state == 'Z' || state == 'X')
		return;
	crowd->count++;
	crowd->running += state == 'R';
	crowd->disk += state == 'D';
}

/* The state that a stat file tells; 0 = there is none, or it is a thread of the shim's. */
static char state_in(const char *path)
{
	char text[512];

	if (!tfs_host_text(path, text, sizeof(text)))
		return 0;
	const char *name = strchr(text, '(');
	const char *rest = strrchr(text, ')');
	if (!name || !rest || strncmp(name + 1, OWN_NAME, strlen(OWN_NAME)) == 0)
		return 0;
	return rest[1] == ' ' ? rest[2] : 0;
}

static void count_children(const struct search *search, long tid)
{
	char path[160];
	char list[1024];
	char *next = list;

	snprintf(path, sizeof(path), "%s/self/task/%ld/children", search->root, tid);
	if (!tfs_host_text(path, list, sizeof(list)))
		return;
	while (search->record->children.count < MOST_COUNTED) {
		char *end;
		const long pid = strtol(next, &end, 10);

		/* The last one may be cut. */
		if (end == next || *end != ' ')
			return;
		next = end;
		snprintf(path, sizeof(path), "%s/%ld/stat", search->root, pid);
		const char state = state_in(path);
		if (state)
			count(&search->record->children, state);
	}
}

static void count_task(const struct search *search, long tid)
{
	char path[160];

	count_children(search, tid);
	if (tid == search->tid)
		return;
	snprintf(path, sizeof(path), "%s/self/task/%ld/stat", search->root, tid);
	const char state = state_in(path);
	if (state)
		count(&search->record->threads, state);
}

/* As the kernel writes it: the C library's reader of folders would take memory of the program's
 * heap. */
struct entry {
	uint64_t inode;
	int64_t offset;
	uint16_t bytes;
	uint8_t type;
	char name[];
};

static void count_tasks(const struct search *search, int folder)
{
	char entries[1024] __attribute__((aligned(8)));
	unsigned tasks = 0;
	long got;

	while ((got = syscall(SYS_getdents64, folder, entries, sizeof(entries))) > 0)
		for (long at = 0; at < got && tasks < MOST_COUNTED;) {
			const struct entry *entry = (const void *)(entries + at);
			const long tid = strtol(entry->name, NULL, 10);

			at += entry->bytes;
			if (tid <= 0)
				continue;
			count_task(search, tid);
			tasks++;
		}
}

void tfs_host_others_count(const char *root, pid_t tid, struct tfs_host_others_record *out_record)
{
	const struct search search = {root, tid, out_record};
	char path[128];

	out_record->tid = (uint32_t)tid;
	memset(&out_record->threads, 0, sizeof(out_record->threads));
	memset(&out_record->children, 0, sizeof(out_record->children));
	snprintf(path, sizeof(path), "%s/self/task", root);
	const int folder = tfs_host_open(path);
	if (folder < 0)
		return;
	count_tasks(&search, folder);
	tfs_host_close(folder);
}
