/* SPDX-License-Identifier: MIT */
#include "core_function.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

bool sim_module_add(struct tfsim_module *module, struct tfsim_function *function)
{
	struct tfsim_function **grown;

	grown = realloc(module->functions, (module->count + 1) * sizeof(*grown));
	if (!grown)
		return false;
	module->functions = grown;
	module->functions[module->count++] = function;
	return true;
}

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

/* ".param .align 8 .b8 name[24]" or ".param .u64 .ptr .global name"; at stands behind .param. */
static const char *read_param(const char *at, uint32_t *out_size, uint32_t *out_alignment)
{
	uint32_t element = 0, alignment = 0, count = 1;

	for (at = blanks(at); *at && *at != ',' && *at != ')'; at = blanks(at)) {
		size_t length = word(at);

		if (strncmp(at, ".align", 6) == 0) {
			uint32_t value = (uint32_t)strtoul(at + 6, NULL, 10);

			alignment = element ? alignment : value;
			at = blanks(at + 6);
			at += word(at);
		} else if (*at == '.' && !element && type_size(at, length)) {
			element = type_size(at, length);
			at += length;
		} else if (*at == '[') {
			count = (uint32_t)strtoul(at + 1, NULL, 10);
			at += strcspn(at, "]");
			at += *at == ']';
		} else {
			at += length ? length : 1;
		}
	}
	*out_size = element * count;
	*out_alignment = alignment ? alignment : element ? element : 1;
	return at;
}

static void add_param(struct tfsim_function *f, uint32_t size, uint32_t alignment)
{
	uint32_t last =
		f->param_count ? f->offsets[f->param_count - 1] + f->sizes[f->param_count - 1] : 0;

	if (f->param_count == TFSIM_MAX_PARAMS)
		return;
	f->offsets[f->param_count] = (last + alignment - 1) / alignment * alignment;
	f->sizes[f->param_count++] = size;
}

static const char *read_entry(struct tfsim_module *module, const char *at)
{
	size_t length = word(at = blanks(at));
	char *name = strndup(at, length);
	struct tfsim_function *f = name ? tfsim_function_intern(name) : NULL;
	bool fresh = f && !f->sizes;
	uint32_t size, alignment;

	free(name);
	if (!f || !sim_module_add(module, f))
		return NULL;
	if (fresh) {
		f->offsets = calloc(TFSIM_MAX_PARAMS, sizeof(*f->offsets));
		f->sizes = calloc(TFSIM_MAX_PARAMS, sizeof(*f->sizes));
		if (!f->offsets || !f->sizes)
			return NULL;
	}
	at = blanks(at + length);
	if (*at != '(')
		return at;
	while (*at && *at != ')') {
		at = blanks(at + 1);
		if (strncmp(at, ".param", 6) != 0)
			continue;
		at = read_param(at + 6, &size, &alignment);
		if (fresh)
			add_param(f, size, alignment);
	}
	return at;
}

bool sim_ptx_read(struct tfsim_module *module, const char *text)
{
	const char *at = text;

	while (at && (at = strstr(at, ".entry")) != NULL)
		at = read_entry(module, at + 6);
	return true;
}

static bool is_ptx(const char *image)
{
	return strncmp(blanks(image), "//", 2) == 0 || strncmp(blanks(image), ".version", 8) == 0;
}

struct tfsim_module *tfsim_module_load(const void *image)
{
	struct tfsim_module *module = calloc(1, sizeof(*module));

	if (module && is_ptx(image)) {
		module->listed = true;
		sim_ptx_read(module, image);
	}
	return module;
}

void tfsim_module_unload(struct tfsim_module *module)
{
	if (module)
		free(module->functions);
	free(module);
}

struct tfsim_function *tfsim_module_function(struct tfsim_module *module, const char *name)
{
	if (!module->listed) {
		struct tfsim_function *f = tfsim_function_intern(name);

		return f && sim_module_add(module, f) ? f : NULL;
	}
	for (unsigned i = 0; i < module->count; i++)
		if (strcmp(module->functions[i]->name, name) == 0)
			return module->functions[i];
	return NULL;
}

unsigned tfsim_module_functions(
	const struct tfsim_module *module, struct tfsim_function **out_functions, unsigned room)
{
	for (unsigned i = 0; i < module->count && i < room; i++)
		out_functions[i] = module->functions[i];
	return module->count;
}
