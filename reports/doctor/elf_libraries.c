/* SPDX-License-Identifier: MIT */
#include "reports/doctor/elf_libraries.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST 1024u /* libraries; cycles end before, since each is visited once */

struct node {
	char *name;
	char *path; /* absolute; NULL = missing */
	struct node *by;
	bool of_system;
	bool read;
	struct tfs_elf_file file;
};

struct search {
	struct node *nodes[MOST];
	unsigned count;
	char *cache; /* what ldconfig prints; NULL = not asked yet */
};

#ifdef __aarch64__
#define CACHE_KIND "AArch64"
#else
#define CACHE_KIND "x86-64"
#endif

/* One folder of a search path, with $ORIGIN as the loader reads it. */
static bool find_in(const char *folder, size_t length, const char *origin, const char *name,
	char out_path[PATH_MAX])
{
	static const char *const words[] = {"$ORIGIN", "${ORIGIN}"};
	int made = -1;

	for (size_t i = 0; i < 2 && made < 0; i++) {
		size_t word = strlen(words[i]);

		if (length >= word && !strncmp(folder, words[i], word))
			made = snprintf(out_path, PATH_MAX, "%.*s%.*s/%s",
				(int)(strrchr(origin, '/') - origin), origin, (int)(length - word),
				folder + word, name);
	}
	if (made < 0)
		made = snprintf(out_path, PATH_MAX, "%.*s/%s", length ? (int)length : 1,
			length ? folder : ".", name);
	return made < PATH_MAX && tfs_elf_file_fits(out_path);
}

static bool find_on(const char *list, const char *origin, const char *name, char out_path[PATH_MAX])
{
	while (list && *list) {
		size_t length = strcspn(list, ":");

		if (find_in(list, length, origin, name, out_path))
			return true;
		list += length + (list[length] == ':');
	}
	return false;
}

/* The loader's cache, in the words of the command that makes it. */
static char *read_cache(void)
{
	size_t used = 0, room = 1u << 20;
	char *text = calloc(1, room);
	FILE *pipe = text ? popen("PATH=/sbin:/usr/sbin:$PATH ldconfig -p 2>/dev/null", "r") : NULL;

	while (pipe && used + 1 < room) {
		size_t got = fread(text + used, 1, room - 1 - used, pipe);

		if (!got)
			break;
		used += got;
	}
	if (pipe)
		pclose(pipe);
	return text;
}

/* A line of it is "	libm.so.6 (libc6,x86-64) => /lib/x86_64-linux-gnu/libm.so.6". */
static bool find_cached(struct search *search, const char *name, char out_path[PATH_MAX])
{
	size_t length = strlen(name);

	if (!search->cache)
		search->cache = read_cache();
	for (const char *line = search->cache; line && *line; line += strcspn(line, "\n") + 1) {
		size_t left = strcspn(line, "\n");
		const char *kind = memmem(line, left, CACHE_KIND, strlen(CACHE_KIND));
		const char *path = memmem(line, left, " => ", 4);

		if (left > length + 1 && !strncmp(line + 1, name, length) &&
			line[1 + length] == ' ' && kind && path) {
			snprintf(out_path, PATH_MAX, "%.*s",
				(int)(left - (size_t)(path + 4 - line)), path + 4);
			if (tfs_elf_file_fits(out_path))
				return true;
		}
		if (!line[left])
			break;
	}
	return false;
}

/* In the loader's order. */
static bool find(struct search *search, const struct node *by, const char *name,
	bool *out_of_system, char out_path[PATH_MAX])
{
	static const char folders[] = "/lib64:/usr/lib64:/lib:/usr/lib";

	*out_of_system = false;
	if (strchr(name, '/')) {
		snprintf(out_path, PATH_MAX, "%s", name);
		return tfs_elf_file_fits(out_path);
	}
	for (const struct node *node = by; node && !by->file.runpath_only_here; node = node->by)
		if (!node->file.runpath_only_here &&
			find_on(node->file.runpath, node->path, name, out_path))
			return true;
	if (find_on(getenv("LD_LIBRARY_PATH"), by->path, name, out_path))
		return true;
	if (by->file.runpath_only_here && find_on(by->file.runpath, by->path, name, out_path))
		return true;
	*out_of_system = true;
	return find_cached(search, name, out_path) || find_on(folders, by->path, name, out_path);
}

static struct node *add(struct search *search, struct node *by, const char *name)
{
	struct node *node = search->count < MOST ? calloc(1, sizeof(*node)) : NULL;

	if (node) {
		node->name = strdup(name);
		node->by = by;
		search->nodes[search->count++] = node;
	}
	return node;
}

static bool known(const struct search *search, const char *name)
{
	for (unsigned i = 0; i < search->count; i++)
		if (search->nodes[i]->name && !strcmp(search->nodes[i]->name, name))
			return true;
	return false;
}

static int visit(struct search *search, struct node *by, const char *name,
	const struct tfs_elf_visitor *visitor)
{
	struct node *node = add(search, by, name);
	char path[PATH_MAX];

	if (!node)
		return search->count < MOST ? -ENOMEM : 0;
	if (find(search, by, name, &node->of_system, path))
		node->path = realpath(path, NULL);
	node->read = node->path && visitor->wants(name) &&
		     !tfs_elf_file_read(node->path, &node->file) && node->file.is_elf;
	visitor->visit(visitor->argument, &(struct tfs_elf_library){.name = name,
						  .path = node->path,
						  .found = node->path ? path : NULL,
						  .by = by->path,
						  .of_system = node->of_system,
						  .file = node->read ? &node->file : NULL});
	return 0;
}

int tfs_elf_libraries(
	const char *path, const struct tfs_elf_file *file, const struct tfs_elf_visitor *visitor)
{
	struct search *search = calloc(1, sizeof(*search));
	struct node *program = search ? add(search, NULL, "") : NULL;
	int err = program ? 0 : -ENOMEM;

	if (program) {
		program->path = realpath(path, NULL);
		program->read = program->path != NULL;
		program->file = *file;
	}
	for (unsigned i = 0; !err && i < search->count; i++) {
		struct node *by = search->nodes[i];

		for (unsigned j = 0; by->read && !err && j < by->file.needed_count; j++)
			if (!known(search, by->file.needed[j]))
				err = visit(search, by, by->file.needed[j], visitor);
	}
	for (unsigned i = 0; search && i < search->count; i++) {
		free(search->nodes[i]->name);
		free(search->nodes[i]->path);
		free(search->nodes[i]);
	}
	if (search)
		free(search->cache);
	free(search);
	return err;
}
