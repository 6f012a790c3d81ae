/* SPDX-License-Identifier: MIT */
/*
 * Which functions of the driver's undocumented export tables who calls, and how often: a library
 * for LD_AUDIT, for this suite only. It answers cuGetExportTable with a copy of the driver's table
 * in which every function is a thunk that counts and goes on to the real one (slots.h). Only a
 * table that tells its size in its first word is copied; each requester gets a copy of its own.
 *
 *   SLOTS_OUT=FILE   where the counts go at the end: "table REQUESTER ID ASKED BYTES FUNCTIONS
 *                    STATE" and "slot REQUESTER ID WORD CALLS", word 0 being the size
 *   SLOTS_ONLY=IDS   only these tables are copied; "none" for none. A runtime that compares what
 *                    it was given with what the driver knows refuses copies, and is left alone.
 */
#include "tests/gpu/slots/slots.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TABLES = 256, WORDS = 1 << 16, RANGES = 8192, ID_BYTES = 16, ID_TEXT = 40 };

typedef int get_table_fn(const void **, const unsigned char *);
typedef int get_proc_fn(const char *, void **, int, uint64_t, void *);

struct table {
	const void *real, *requester;
	char id[ID_TEXT];
	const char *state; /* "copied", or why not */
	const uint64_t *given;
	unsigned asked, words, functions, first; /* first: its first thunk */
};

struct range {
	uintptr_t start, end;
	bool readable, executable;
};

uint64_t slots_counts[SLOTS_MOST];
void *slots_targets[SLOTS_MOST];
static struct table tables[TABLES];
static uint64_t copies[WORDS];
static struct range ranges[RANGES];
static unsigned table_count, word_count, thunk_count, range_count, too_many;
static atomic_flag busy = ATOMIC_FLAG_INIT;
static get_table_fn *real_table;
static get_proc_fn *real_proc, *real_proc_v2, *real_proc_found;
static pid_t process;

static void add_range(const char *line)
{
	unsigned long start, end;
	char rights[8];

	if (range_count == RANGES || sscanf(line, "%lx-%lx %7s", &start, &end, rights) != 3)
		return;
	ranges[range_count++] =
		(struct range){start, end, rights[0] == 'r', strchr(rights, 'x') != NULL};
}

static void read_ranges(void)
{
	const int file = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char line[512], bytes[4096];
	size_t used = 0;
	ssize_t got;

	range_count = 0;
	while (file >= 0 && (got = read(file, bytes, sizeof(bytes))) > 0)
		for (ssize_t i = 0; i < got; i++) {
			if (bytes[i] == '\n') {
				line[used] = '\0';
				add_range(line);
				used = 0;
			} else if (used + 1 < sizeof(line)) {
				line[used++] = bytes[i];
			}
		}
	if (file >= 0)
		close(file);
}

static bool is_readable(uintptr_t at, size_t bytes)
{
	for (unsigned i = 0; i < range_count && bytes; i++) {
		if (at < ranges[i].start || at >= ranges[i].end)
			continue;
		if (!ranges[i].readable)
			return false;
		const size_t here = ranges[i].end - at;
		if (here >= bytes)
			return true;
		at += here;
		bytes -= here;
	}
	return !bytes;
}

static bool is_code(uint64_t word)
{
	for (unsigned i = 0; i < range_count; i++)
		if (word >= ranges[i].start && word < ranges[i].end)
			return ranges[i].executable;
	return false;
}

/* Puts the copy into t->given, or says in t->state why there is none. */
static void copy_table(struct table *t)
{
	const uint64_t *real = t->real;
	const char *only = getenv("SLOTS_ONLY");
	unsigned functions = 0;

	t->given = real;
	read_ranges();
	t->state = "no-size-at-its-head";
	if (!is_readable((uintptr_t)real, sizeof(*real)) || real[0] < 2 * sizeof(*real) ||
		real[0] > sizeof(copies) || real[0] % sizeof(*real) ||
		!is_readable((uintptr_t)real, real[0]))
		return;
	t->words = (unsigned)(real[0] / sizeof(*real));
	for (unsigned i = 1; i < t->words; i++)
		functions += is_code(real[i]);
	t->functions = functions;
	t->state = "not-asked-for";
	if (only && !strstr(only, t->id))
		return;
	t->state = "no-room";
	if (word_count + t->words > WORDS || thunk_count + t->words > SLOTS_MOST)
		return;
	uint64_t *copy = &copies[word_count];
	t->first = thunk_count;
	for (unsigned i = 0; i < t->words; i++) {
		const bool function = i > 0 && is_code(real[i]);

		slots_targets[t->first + i] = (void *)real[i];
		copy[i] = function ? (uint64_t)slots_thunks[t->first + i] : real[i];
	}
	word_count += t->words;
	thunk_count += t->words;
	t->given = copy;
	t->state = "copied";
}

static void print_id(const unsigned char *id, char *out_text)
{
	for (unsigned i = 0; i < ID_BYTES; i++)
		out_text += sprintf(out_text, "%s%02x",
			i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "", id[i]);
}

static const void *object_of(const void *address)
{
	Dl_info info;

	return dladdr(address, &info) ? info.dli_fbase : NULL;
}

static const void *give(const void *real, const unsigned char *id, const void *requester)
{
	char text[ID_TEXT];
	unsigned i;

	print_id(id, text);
	for (i = 0; i < table_count; i++)
		if (tables[i].real == real && tables[i].requester == requester &&
			!strcmp(tables[i].id, text))
			break;
	if (i == TABLES) {
		too_many++;
		return real;
	}
	if (i == table_count) {
		tables[i] = (struct table){.real = real, .requester = requester};
		strcpy(tables[i].id, text);
		copy_table(&tables[i]);
		table_count++;
	}
	tables[i].asked++;
	return tables[i].given;
}

static int get_table(const void **out_table, const unsigned char *id)
{
	const void *requester = object_of(__builtin_return_address(0));
	const int status = real_table(out_table, id);

	if (status || !out_table || !*out_table || !id ||
		requester == object_of((const void *)real_table))
		return status;
	while (atomic_flag_test_and_set(&busy))
		sched_yield();
	*out_table = give(*out_table, id, requester);
	atomic_flag_clear(&busy);
	return status;
}

static int get_proc_found(
	const char *name, void **out_function, int version, uint64_t flags, void *out_found);

static int look_up(get_proc_fn *real, const char *name, void **out_function, int version,
	uint64_t flags, void *out_found)
{
	const int status = real(name, out_function, version, flags, out_found);

	if (status || !name || !out_function || !*out_function)
		return status;
	if (!strcmp(name, "cuGetExportTable")) {
		real_table = (get_table_fn *)*out_function;
		*out_function = (void *)get_table;
	} else if (!strcmp(name, "cuGetProcAddress")) {
		real_proc_found = (get_proc_fn *)*out_function;
		*out_function = (void *)get_proc_found;
	}
	return status;
}

static int get_proc(
	const char *name, void **out_function, int version, uint64_t flags, void *out_found)
{
	return look_up(real_proc, name, out_function, version, flags, out_found);
}

static int get_proc_v2(
	const char *name, void **out_function, int version, uint64_t flags, void *out_found)
{
	return look_up(real_proc_v2, name, out_function, version, flags, out_found);
}

static int get_proc_found(
	const char *name, void **out_function, int version, uint64_t flags, void *out_found)
{
	return look_up(real_proc_found, name, out_function, version, flags, out_found);
}

unsigned int la_version(unsigned int version)
{
	process = getpid();
	return version < LAV_CURRENT ? version : LAV_CURRENT;
}

unsigned int la_objopen(struct link_map *map, Lmid_t space, uintptr_t *cookie)
{
	(void)space;
	*cookie = map->l_addr;
	return LA_FLG_BINDTO | LA_FLG_BINDFROM;
}

uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int index, uintptr_t *from, uintptr_t *to,
	unsigned int *flags, const char *name)
{
	const uintptr_t real = symbol->st_value;

	(void)index, (void)flags;
	if (*from == *to || strncmp(name, "cuGet", 5))
		return real;
	if (!strcmp(name, "cuGetExportTable")) {
		real_table = (get_table_fn *)real;
		return (uintptr_t)get_table;
	}
	if (!strcmp(name, "cuGetProcAddress")) {
		real_proc = (get_proc_fn *)real;
		return (uintptr_t)get_proc;
	}
	if (!strcmp(name, "cuGetProcAddress_v2")) {
		real_proc_v2 = (get_proc_fn *)real;
		return (uintptr_t)get_proc_v2;
	}
	return real;
}

static void print_table(FILE *file, const struct table *t)
{
	const char *requester = "unknown", *slash;
	Dl_info info;

	if (t->requester && dladdr(t->requester, &info) && info.dli_fname) {
		slash = strrchr(info.dli_fname, '/');
		requester = slash ? slash + 1 : info.dli_fname;
	}
	fprintf(file, "table %s %s %u %zu %u %s\n", requester, t->id, t->asked,
		t->words * sizeof(uint64_t), t->functions, t->state);
	for (unsigned i = 1; t->given != t->real && i < t->words; i++)
		if (slots_counts[t->first + i])
			fprintf(file, "slot %s %s %u %llu\n", requester, t->id, i,
				(unsigned long long)slots_counts[t->first + i]);
}

__attribute__((destructor)) static void print_all(void)
{
	const char *path = getenv("SLOTS_OUT");
	FILE *file = NULL;

	/* Whatever started the program is audited too. */
	if (path && table_count && getpid() == process)
		file = fopen(path, "w");
	if (!file)
		return;
	for (unsigned i = 0; i < table_count; i++)
		print_table(file, &tables[i]);
	if (too_many)
		fprintf(file, "lost %u\n", too_many);
	fclose(file);
}
