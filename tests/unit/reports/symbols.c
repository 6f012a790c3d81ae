/* SPDX-License-Identifier: MIT */
/* Addresses of this very program as functions, files and lines. */
#include "reports/symbols/symbols.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <unistd.h>

#include "reports/symbols/demangle.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

static uint64_t seen;
static int sink;

__attribute__((noinline)) static void remember(void)
{
	seen = (uint64_t)(uintptr_t)__builtin_return_address(0);
	sink++;
}

static inline __attribute__((always_inline)) void helper(void)
{
	remember();
	sink++;
}
enum { HELPER_LINE = __LINE__ - 3 };

__attribute__((noinline)) static void caller(void)
{
	helper();
	sink++;
}
enum { CALLER_LINE = __LINE__ - 3 };

static struct tfs_module_record own;

static int describe(struct dl_phdr_info *object, size_t bytes, void *nothing)
{
	(void)bytes;
	(void)nothing;
	own.load_bias = object->dlpi_addr;
	for (int i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &object->dlpi_phdr[i];

		if (part->p_type != PT_LOAD || !(part->p_flags & PF_X))
			continue;
		own.start = object->dlpi_addr + part->p_vaddr;
		own.end = own.start + part->p_memsz;
		own.file_offset = part->p_offset;
	}
	return 1; /* the program itself comes first */
}

static struct builder *record_self(const char *path)
{
	struct builder *builder = builder_create();

	dl_iterate_phdr(describe, NULL);
	own.path = builder_string(builder, path);
	builder_record(builder, TFS_RECORD_module, &own, sizeof(own));
	return builder;
}

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;

	return slash ? slash + 1 : path;
}

static void check_lines(const char *path)
{
	struct builder *builder = record_self(path);
	struct tfs_trace *trace = builder_open(builder);
	struct tfs_symbols *symbols;
	const struct tfs_symbol *found = NULL, *again = NULL;
	uint64_t offset = 0;

	TEST_NEED(trace);
	symbols = tfs_symbols_create(trace);
	TEST_NEED(symbols);
	caller();
	TEST_NEED(tfs_symbols_find(symbols, seen, &found) == 2);
	TEST_STR(found[0].function, "helper");
	TEST_STR(base_name(found[0].file), "symbols.c");
	TEST_EQ(found[0].line, HELPER_LINE);
	TEST_TRUE(found[0].inlined);
	TEST_STR(found[1].function, "caller");
	TEST_STR(base_name(found[1].file), "symbols.c");
	TEST_EQ(found[1].line, CALLER_LINE);
	TEST_TRUE(!found[1].inlined);
	TEST_EQ(tfs_symbols_find(symbols, seen, &again), 2);
	TEST_TRUE(found == again);
	TEST_STR(tfs_symbols_module(symbols, seen, &offset), path);
	TEST_EQ(offset, seen - own.start + own.file_offset);
	TEST_EQ(tfs_symbols_find(symbols, 0, &again), 0);
	TEST_EQ(tfs_symbols_find(symbols, 1, &again), 0);
	TEST_TRUE(!tfs_symbols_module(symbols, 1, &offset));
	TEST_EQ(tfs_symbols_changed(symbols), 0);
	for (uint64_t i = 0; i < 5000; i++)
		tfs_symbols_find(symbols, own.start + i, &again);
	TEST_EQ(tfs_symbols_find(symbols, seen, &again), 2);
	TEST_TRUE(found == again);
	tfs_symbols_destroy(symbols);
	tfs_trace_close(trace);
	builder_destroy(builder);
}

/* Another build id, a file that is gone, one that is no program. */
static void check_unusable(const char *path)
{
	static const char *const paths[] = {"/nonexistent", "/dev/null", "/etc/passwd", "/"};
	const struct tfs_symbol *found;
	struct tfs_symbols *symbols;
	struct builder *builder;
	struct tfs_trace *trace;

	caller();
	for (size_t i = 0; i <= sizeof(paths) / sizeof(*paths); i++) {
		bool rebuilt = i == sizeof(paths) / sizeof(*paths);

		own.build_id_bytes = rebuilt ? 20 : 0;
		builder = record_self(rebuilt ? path : paths[i]);
		trace = builder_open(builder);
		TEST_NEED(trace);
		symbols = tfs_symbols_create(trace);
		TEST_NEED(symbols);
		TEST_EQ(tfs_symbols_find(symbols, seen, &found), 0);
		TEST_EQ(tfs_symbols_changed(symbols), rebuilt);
		tfs_symbols_destroy(symbols);
		tfs_trace_close(trace);
		builder_destroy(builder);
	}
	own.build_id_bytes = 0;
}

static void check_demangle(void)
{
	char *name = tfs_demangle("_Z5scalePff", true);

	if (name) {
		TEST_STR(name, "scale(float*, float)");
		free(name);
		name = tfs_demangle("_ZN7Trainer4stepEv", false);
		TEST_STR(name, "Trainer::step");
		free(name);
	}
	TEST_TRUE(!tfs_demangle("main", false));
	TEST_TRUE(!tfs_demangle("", false));
	free(tfs_demangle("_ZZZZZZ", true));
}

static unsigned line_of(const char *path)
{
	struct builder *builder = record_self(path);
	struct tfs_trace *trace = builder_open(builder);
	struct tfs_symbols *symbols = trace ? tfs_symbols_create(trace) : NULL;
	const struct tfs_symbol *found = NULL;
	unsigned line = 0;

	TEST_TRUE(symbols);
	if (symbols && tfs_symbols_find(symbols, seen, &found) != 0)
		line = found->line;
	tfs_symbols_destroy(symbols);
	tfs_trace_close(trace);
	builder_destroy(builder);
	return line;
}

/* With the debug information in a file apart, that the program names; the C library's is not
 * unpacked. */
static void check_apart(const char *path)
{
	char folder[] = "/tmp/symbolsXXXXXX";
	char command[3 * 4096], program[sizeof(folder) + 16];

	TEST_NEED(mkdtemp(folder));
	snprintf(program, sizeof(program), "%s/split", folder);
	snprintf(command, sizeof(command),
		"cd %s && objcopy --only-keep-debug '%s' apart && "
		"objcopy -S --add-gnu-debuglink=apart '%s' split && ln split libc.so.6",
		folder, path, path);
	TEST_EQ(system(command), 0);
	check_lines(program);
	TEST_EQ(line_of(program), HELPER_LINE);
	snprintf(program, sizeof(program), "%s/libc.so.6", folder);
	TEST_EQ(line_of(program), 0);
	snprintf(command, sizeof(command), "rm -r %s", folder);
	TEST_EQ(system(command), 0);
}

int main(void)
{
	char path[4096];
	ssize_t length = readlink("/proc/self/exe", path, sizeof(path) - 1);

	TEST_NEED(length > 0);
	path[length] = 0;
	check_demangle();
	if (!dlsym(RTLD_DEFAULT, "dwfl_begin")) {
		puts("skipped: built without libdw");
		return test_result() ? 1 : 77;
	}
	caller();
	check_lines(path);
	check_apart(path);
	check_unusable(path);
	return test_result();
}
