/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/code/core_image.h"

/* CUDA allows 32,764 bytes of parameters. */
#define MAX_BYTES 65536
/* A larger initial value is not believed. */
#define MAX_VALUE (64u << 20)

static const char *blanks(const char *at)
{
	while (isspace((unsigned char)*at))
		at++;
	return at;
}

static size_t word(const char *at)
{
	size_t length = 0;

	while (isalnum((unsigned char)at[length]) || strchr("_$.%", at[length] ? at[length] : ' '))
		length++;
	return length;
}

/* .u8 .b16 .f32 ...: the bits at the end of the type. */
static uint32_t type_size(const char *type, size_t length)
{
	size_t digits = length;

	while (digits > 0 && isdigit((unsigned char)type[digits - 1]))
		digits--;
	return (uint32_t)strtoul(type + digits, NULL, 10) / 8;
}

struct declared {
	const char *name;
	size_t name_length;
	uint32_t element, alignment, count;
};

/*
 * What stands behind .param, .global or .const: ".align 8 .b8 name[24]", ".u64 .ptr .global name".
 * Returns where it ends.
 */
static const char *read_declared(const char *at, struct declared *out)
{
	struct declared d = {.count = 1};

	for (at = blanks(at); *at && !strchr(",)=;", *at); at = blanks(at)) {
		size_t length = word(at);

		if (strncmp(at, ".align", 6) == 0) {
			uint32_t value = (uint32_t)strtoul(at + 6, NULL, 10);

			d.alignment = d.element ? d.alignment : value;
			at = blanks(at + 6);
			at += word(at);
		} else if (strncmp(at, ".attribute", 10) == 0) {
			at += strcspn(at, ")");
			at += *at == ')';
		} else if (*at == '.' && !d.element && type_size(at, length)) {
			d.element = type_size(at, length);
			at += length;
		} else if (*at == '[') {
			d.count = (uint32_t)strtoul(at + 1, NULL, 10);
			at += strcspn(at, "]");
			at += *at == ']';
		} else {
			if (*at != '.') {
				d.name = at;
				d.name_length = length;
			}
			at += length ? length : 1;
		}
	}
	d.alignment = d.alignment ? d.alignment : d.element ? d.element : 1;
	*out = d;
	return at;
}

/* NULL, and nothing is left of params, without memory or when it cannot be. */
static struct sim_params *add_param(struct sim_params *params, const struct declared *d)
{
	uint64_t size = (uint64_t)d->element * d->count;
	uint64_t offset =
		((uint64_t)params->bytes + d->alignment - 1) / d->alignment * d->alignment;
	struct sim_params *grown = NULL;

	if (size > 0 && size <= MAX_BYTES && offset <= MAX_BYTES - size)
		grown = realloc(
			params, sizeof(*grown) + (params->count + 1) * sizeof(grown->at[0]));
	if (!grown) {
		free(params);
		return NULL;
	}
	grown->at[grown->count++] = (struct sim_param){(uint32_t)offset, (uint32_t)size};
	grown->bytes = (uint32_t)(offset + size);
	return grown;
}

static bool read_entry(struct tfsim_module *module, const char *at)
{
	size_t length = word(at = blanks(at));
	struct sim_params *params = calloc(1, sizeof(*params));
	char *name = strndup(at, length);
	struct declared d;
	bool fine;

	at = blanks(at + length);
	while (*at == '(' || *at == ',') {
		at = blanks(at + 1);
		if (strncmp(at, ".param", 6) != 0)
			break;
		at = read_declared(at + 6, &d);
		params = params ? add_param(params, &d) : NULL;
	}
	fine = name && sim_module_kernel(module, name, params);
	free(name);
	return fine;
}

/* A whole number, or the bits of a float. */
static const char *read_number(const char *at, uint64_t *out)
{
	bool bits = at[0] == '0' && at[1] && strchr("fFdD", at[1]);
	char *end;

	*out = strtoull(bits ? at + 2 : at, &end, bits ? 16 : 0);
	return end == at ? NULL : end;
}

/* From the "=" on. Values that are addresses are not known, nor nested lists. */
static bool read_values(const char *at, const struct declared *d, unsigned char *out)
{
	uint32_t bytes = d->element < 8 ? d->element : 8;
	uint64_t value;

	at = blanks(at + 1);
	at = blanks(at + (*at == '{'));
	for (uint32_t i = 0; at && i < d->count && *at && !strchr("};", *at); i++) {
		at = read_number(at, &value);
		if (at) {
			memcpy(out + (size_t)i * d->element, &value, bytes);
			at = blanks(at);
			at = blanks(at + (*at == ','));
		}
	}
	return at && strchr("};", *at);
}

static bool read_variable(struct tfsim_module *module, const char *at)
{
	struct declared d;
	unsigned char *value;
	bool fine = true;
	char *name;

	at = read_declared(at, &d);
	if (*at != '=' || !d.name || (uint64_t)d.element * d.count - 1 >= MAX_VALUE)
		return true;
	name = strndup(d.name, d.name_length);
	value = calloc(d.count, d.element);
	if (!name || !value)
		fine = false;
	else if (read_values(at, &d, value))
		fine = sim_module_variable(module, name, value, (size_t)d.element * d.count);
	free(name);
	free(value);
	return fine;
}

static bool is_word(const char *at, const char *text)
{
	return word(at) == strlen(text) && strncmp(at, text, strlen(text)) == 0;
}

/* They begin lines, after words like .visible; no instruction begins with a dot. */
static bool read_variables(struct tfsim_module *module, const char *text)
{
	bool fine = true;

	for (const char *line = text; line && fine; line = strchr(line, '\n')) {
		line = blanks(line);
		while (*line == '.' && !is_word(line, ".global") && !is_word(line, ".const"))
			line = blanks(line + word(line));
		if (*line == '.')
			fine = read_variable(module, line + word(line));
	}
	return fine;
}

bool sim_ptx_read(struct tfsim_module *module, const char *text)
{
	bool fine = true;

	for (const char *at = strstr(text, ".entry"); at && fine; at = strstr(at, ".entry")) {
		at += strlen(".entry");
		fine = read_entry(module, at);
	}
	return fine && read_variables(module, text);
}
