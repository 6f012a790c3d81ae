/* SPDX-License-Identifier: MIT */
#include "reports/symbols/symbols_file.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <elfutils/libdwfl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define SERVERS "DEBUGINFOD_URLS"

struct tfs_symbols_file {
	Dwfl *dwfl;
	Dwfl_Module *module;
};

/* No call of a program is made there, and unpacking its lines would take longer than all else. */
static bool is_c_library(const char *file)
{
	const char *slash = strrchr(file, '/');

	return strcmp(slash ? slash + 1 : file, "libc.so.6") == 0;
}

/*
 * Only what is on this machine: a search over the network could take longer than the report. And
 * nothing by the file's name alone, which proves nothing.
 */
static int find_debuginfo(Dwfl_Module *module, void **data, const char *name, Dwarf_Addr base,
	const char *file, const char *link, GElf_Word checksum, char **out_file)
{
	if (file && is_c_library(file))
		return -1;
	if (!link)
		return dwfl_build_id_find_debuginfo(
			module, data, name, base, file, NULL, 0, out_file);
	const char *urls = getenv(SERVERS);
	char *kept = urls ? strdup(urls) : NULL;

	if (urls && !kept)
		return -1;
	unsetenv(SERVERS);
	const int found = dwfl_standard_find_debuginfo(
		module, data, name, base, file, link, checksum, out_file);
	if (kept)
		setenv(SERVERS, kept, 1);
	free(kept);
	return found;
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_build_id_find_elf,
	.find_debuginfo = find_debuginfo,
	.section_address = dwfl_offline_section_address,
};

/* A pipe or a device under that name would block or worse. */
static bool is_file(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 && S_ISREG(status.st_mode);
}

static bool is_same(Dwfl_Module *module, const struct tfs_module_record *record, const char *path)
{
	const unsigned char *bits;
	GElf_Addr place;
	int bytes = dwfl_module_build_id(module, &bits, &place);

	/* a relative name without a build id could be any file */
	if (record->build_id_bytes == 0)
		return path[0] == '/';
	return bytes > 0 && record->build_id_bytes <= sizeof(record->build_id) &&
	       (size_t)bytes >= record->build_id_bytes &&
	       memcmp(bits, record->build_id, record->build_id_bytes) == 0;
}

/* The file whoever it belongs to, at its place. */
static struct tfs_symbols_file *open_file(const char *path, uint64_t bias)
{
	struct tfs_symbols_file *file;

	if (!is_file(path))
		return NULL;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->dwfl = dwfl_begin(&callbacks);
	if (file->dwfl) {
		dwfl_report_begin(file->dwfl);
		file->module = dwfl_report_elf(file->dwfl, path, path, -1, bias, true);
		dwfl_report_end(file->dwfl, NULL, NULL);
	}
	return file;
}

struct tfs_symbols_file *tfs_symbols_file_open(
	const char *path, const struct tfs_module_record *record, bool *out_changed)
{
	struct tfs_symbols_file *file = open_file(path, record->load_bias);

	if (!file)
		return NULL;
	if (file->module && is_same(file->module, record, path))
		return file;
	*out_changed = file->module != NULL;
	tfs_symbols_file_close(file);
	return NULL;
}

bool tfs_symbols_file_has_lines(const char *path)
{
	struct tfs_symbols_file *file = open_file(path, 0);
	Dwarf_Die *unit = NULL;
	Dwarf_Addr bias;
	Dwarf_Lines *lines;
	size_t count = 0;

	while (file && file->module && !count &&
		(unit = dwfl_module_nextcu(file->module, unit, &bias)))
		if (dwarf_getsrclines(unit, &lines, &count))
			count = 0;
	tfs_symbols_file_close(file);
	return count > 0;
}

static const char *die_name(Dwarf_Die *die)
{
	Dwarf_Attribute attribute;
	const char *name = NULL;

	if (dwarf_attr_integrate(die, DW_AT_linkage_name, &attribute))
		name = dwarf_formstring(&attribute);
	return name ? name : dwarf_diename(die);
}

/* Where an inlined function was called: the line its caller is at. */
static void read_call(
	Dwarf_Die *unit, Dwarf_Die *inlined, const char **out_file, unsigned *out_line)
{
	Dwarf_Attribute attribute;
	Dwarf_Word number;
	Dwarf_Files *files;
	size_t count;

	*out_file = NULL;
	*out_line = 0;
	if (dwarf_attr(inlined, DW_AT_call_file, &attribute) &&
		dwarf_formudata(&attribute, &number) == 0 &&
		dwarf_getsrcfiles(unit, &files, &count) == 0 && number < count)
		*out_file = dwarf_filesrc(files, number, NULL, NULL);
	if (dwarf_attr(inlined, DW_AT_call_line, &attribute) &&
		dwarf_formudata(&attribute, &number) == 0)
		*out_line = (unsigned)number;
}

/* The functions around an address, from the innermost inlined one to the one that was called. */
static size_t read_scopes(Dwarf_Die *unit, Dwarf_Addr address, const char *source, unsigned line,
	struct tfs_symbol *out_found, size_t most)
{
	Dwarf_Die *scopes = NULL, *chain = NULL;
	int scope_count = dwarf_getscopes(unit, address, &scopes), chain_count = 0;
	size_t count = 0;

	/* the scopes of inlined code go on in its definition; those of the entry itself do not */
	if (scope_count > 0)
		chain_count = dwarf_getscopes_die(&scopes[0], &chain);
	for (int i = 0; i < chain_count && count < most; i++) {
		int tag = dwarf_tag(&chain[i]);

		if (tag != DW_TAG_inlined_subroutine && tag != DW_TAG_subprogram)
			continue;
		out_found[count++] = (struct tfs_symbol){.function = die_name(&chain[i]),
			.file = source,
			.line = line,
			.inlined = tag == DW_TAG_inlined_subroutine};
		if (tag == DW_TAG_subprogram)
			break;
		read_call(unit, &chain[i], &source, &line);
	}
	free(chain);
	free(scopes);
	return count;
}

/* The compilation unit of an address. Not every compiler writes the table that leads there. */
static Dwarf_Die *find_unit(Dwfl_Module *module, Dwarf_Addr address, Dwarf_Addr *out_bias)
{
	Dwarf_Die *unit = dwfl_module_addrdie(module, address, out_bias);

	if (unit)
		return unit;
	while ((unit = dwfl_module_nextcu(module, unit, out_bias)))
		if (dwarf_haspc(unit, address - *out_bias) == 1)
			return unit;
	return NULL;
}

static const char *folder_of(Dwarf_Die *unit)
{
	Dwarf_Attribute attribute;

	return unit && dwarf_attr(unit, DW_AT_comp_dir, &attribute) ? dwarf_formstring(&attribute)
								    : NULL;
}

size_t tfs_symbols_file_find(
	struct tfs_symbols_file *file, uint64_t address, struct tfs_symbol *out_found, size_t most)
{
	const char *source = NULL, *name;
	Dwarf_Addr bias = 0;
	Dwarf_Die *unit = find_unit(file->module, address, &bias);
	Dwarf_Line *place = unit ? dwarf_getsrc_die(unit, address - bias) : NULL;
	int line = 0;
	size_t count = 0;

	if (place && dwarf_lineno(place, &line) == 0)
		source = dwarf_linesrc(place, NULL, NULL);
	if (unit)
		count = read_scopes(unit, address - bias, source, line > 0 ? (unsigned)line : 0,
			out_found, most);
	for (size_t i = 0; i < count; i++)
		out_found[i].folder = folder_of(unit);
	if (count)
		return count;
	name = dwfl_module_addrname(file->module, address);
	if (!name && !source)
		return 0;
	*out_found = (struct tfs_symbol){.function = name,
		.file = source,
		.folder = folder_of(unit),
		.line = line > 0 ? (unsigned)line : 0};
	return 1;
}

void tfs_symbols_file_close(struct tfs_symbols_file *file)
{
	if (!file)
		return;
	if (file->dwfl)
		dwfl_end(file->dwfl);
	free(file);
}
