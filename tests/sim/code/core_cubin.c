/* SPDX-License-Identifier: MIT */
/* Cubins are ELF files: kernels are marked symbols, their parameters stand in notes beside. */
#include <elf.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/code/core_image.h"

#define INFO_PREFIX ".nv.info."
#define MAX_SECTIONS (1u << 20)
#define STO_ENTRY 0x10 /* of a symbol's "other" field: a kernel */

/* Formats of notes: a byte of format, one of what it is, and the value or the value's size. */
enum { NOTE_NONE = 1, NOTE_BYTE = 2, NOTE_HALF = 3, NOTE_SIZED = 4 };
#define NOTE_PARAM 0x17
#define NOTE_PARAM_LARGE 0x45 /* since CUDA 12: kernels with one of 16 KiB or more */

struct note_param {
	uint32_t index;
	uint16_t ordinal, offset;
	/* The size from bit 18 on; large: in the lower half. */
	uint32_t packed;
};

struct cubin {
	const char *bytes;
	size_t size;
	Elf64_Ehdr head;
	uint32_t section_count;
	Elf64_Shdr names, symbols;
	uint32_t *info; /* by section of code: the section of its notes, or 0 */
};

static bool cut(const struct cubin *c, uint64_t at, void *out, size_t size)
{
	if (at > c->size || c->size - at < size)
		return false;
	memcpy(out, c->bytes + at, size);
	return true;
}

static bool section_at(const struct cubin *c, uint32_t index, Elf64_Shdr *out)
{
	return index < c->section_count &&
	       cut(c, c->head.e_shoff + (uint64_t)index * sizeof(*out), out, sizeof(*out));
}

static const char *contents(const struct cubin *c, const Elf64_Shdr *section)
{
	if (section->sh_type == SHT_NOBITS || section->sh_offset > c->size ||
		section->sh_size > c->size - section->sh_offset)
		return NULL;
	return c->bytes + section->sh_offset;
}

static const char *string_at(const struct cubin *c, const Elf64_Shdr *table, uint32_t at)
{
	const char *strings = contents(c, table);

	if (!strings || at >= table->sh_size || !memchr(strings + at, 0, table->sh_size - at))
		return NULL;
	return strings + at;
}

/* Where there are too many sections for the head, the first one tells. */
static bool open_sections(struct cubin *c)
{
	Elf64_Shdr first;
	uint64_t count;
	uint32_t names;

	if (!cut(c, 0, &c->head, sizeof(c->head)) ||
		memcmp(c->head.e_ident, ELFMAG, SELFMAG) != 0 ||
		c->head.e_ident[EI_CLASS] != ELFCLASS64 || c->head.e_machine != EM_CUDA ||
		c->head.e_shentsize != sizeof(first) ||
		!cut(c, c->head.e_shoff, &first, sizeof(first)))
		return false;
	count = c->head.e_shnum ? c->head.e_shnum : first.sh_size;
	names = c->head.e_shstrndx == SHN_XINDEX ? first.sh_link : c->head.e_shstrndx;
	if (count > MAX_SECTIONS)
		return false;
	c->section_count = (uint32_t)count;
	return section_at(c, names, &c->names);
}

static bool map_info(struct cubin *c)
{
	Elf64_Shdr section;

	c->info = calloc(c->section_count, sizeof(*c->info));
	if (!c->info)
		return false;
	for (uint32_t i = 0; i < c->section_count; i++) {
		const char *name;

		if (!section_at(c, i, &section))
			return false;
		name = string_at(c, &c->names, section.sh_name);
		if (section.sh_type == SHT_SYMTAB) {
			c->symbols = section;
		} else if (name && strncmp(name, INFO_PREFIX, strlen(INFO_PREFIX)) == 0 &&
			   section.sh_info < c->section_count) {
			c->info[section.sh_info] = i;
		}
	}
	return c->symbols.sh_type == SHT_SYMTAB;
}

/* The next parameter in the notes; false at their end. */
static bool next_param(const char **at, const char *end, struct note_param *out, bool *out_large)
{
	while (end - *at >= 4) {
		unsigned char head[2];
		uint16_t value;
		const char *payload = *at + 4;

		memcpy(head, *at, sizeof(head));
		memcpy(&value, *at + 2, sizeof(value));
		if (head[0] < NOTE_NONE || head[0] > NOTE_SIZED)
			return false;
		if (head[0] == NOTE_SIZED && value > end - payload)
			return false;
		*at = payload + (head[0] == NOTE_SIZED ? value : 0);
		if (head[0] == NOTE_SIZED && value == sizeof(*out) &&
			(head[1] == NOTE_PARAM || head[1] == NOTE_PARAM_LARGE)) {
			memcpy(out, payload, sizeof(*out));
			*out_large = head[1] == NOTE_PARAM_LARGE;
			return true;
		}
	}
	return false;
}

/* They stand there in any order. NULL unless every one is there once. */
static struct sim_params *read_params(const char *notes, size_t size)
{
	const char *at = notes, *end = notes + size;
	struct sim_params *params;
	struct note_param note;
	uint32_t count = 0;
	bool large, fine;

	while (next_param(&at, end, &note, &large))
		count++;
	params = calloc(1, sizeof(*params) + count * sizeof(params->at[0]));
	if (!params)
		return NULL;
	params->count = count;
	fine = true;
	for (at = notes; fine && next_param(&at, end, &note, &large);) {
		struct sim_param *param = &params->at[note.ordinal < count ? note.ordinal : 0];

		fine = note.ordinal < count && param->size == 0;
		param->offset = note.offset;
		param->size = large ? note.packed & 0xffff : note.packed >> 18;
		fine = fine && param->size > 0;
		if (note.offset + param->size > params->bytes)
			params->bytes = note.offset + param->size;
	}
	if (fine)
		return params;
	free(params);
	return NULL;
}

static bool read_kernel(
	struct tfsim_module *module, const struct cubin *c, uint32_t code, const char *name)
{
	Elf64_Shdr section;
	const char *notes = NULL;

	if (code < c->section_count && c->info[code] && section_at(c, c->info[code], &section))
		notes = contents(c, &section);
	return sim_module_kernel(module, name, notes ? read_params(notes, section.sh_size) : NULL);
}

static bool read_variable(struct tfsim_module *module, const struct cubin *c,
	const Elf64_Sym *symbol, const char *name)
{
	Elf64_Shdr section;
	const char *values = NULL;

	if (section_at(c, symbol->st_shndx, &section) && section.sh_type == SHT_PROGBITS)
		values = contents(c, &section);
	if (!values || symbol->st_value > section.sh_size ||
		symbol->st_size > section.sh_size - symbol->st_value)
		return true;
	return sim_module_variable(module, name, values + symbol->st_value, symbol->st_size);
}

static bool read_symbols(struct tfsim_module *module, const struct cubin *c)
{
	const Elf64_Shdr *symbols = &c->symbols;
	Elf64_Shdr strings;
	bool fine = contents(c, symbols) && section_at(c, symbols->sh_link, &strings);

	for (uint64_t i = 0; fine && i < symbols->sh_size / sizeof(Elf64_Sym); i++) {
		Elf64_Sym symbol;
		const char *name;

		fine = cut(c, symbols->sh_offset + i * sizeof(symbol), &symbol, sizeof(symbol));
		name = fine ? string_at(c, &strings, symbol.st_name) : NULL;
		if (!name || symbol.st_shndx == SHN_UNDEF)
			continue;
		if (ELF64_ST_TYPE(symbol.st_info) == STT_FUNC && symbol.st_other & STO_ENTRY)
			fine = read_kernel(module, c, symbol.st_shndx, name);
		else if (ELF64_ST_TYPE(symbol.st_info) == STT_OBJECT)
			fine = read_variable(module, c, &symbol, name);
	}
	return fine;
}

bool sim_cubin_read(struct tfsim_module *module, const void *image, size_t size)
{
	struct cubin c = {.bytes = image, .size = size};
	bool read = open_sections(&c) && map_info(&c) && read_symbols(module, &c);

	free(c.info);
	return read;
}
