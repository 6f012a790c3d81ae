/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/sim/code/core_function.h"
#include "tests/sim/code/core_image.h"

#define WRAPPER_MAGIC 0x466243b1

/* What nvcc registers with the runtime; relocatable ones are those that were linked. */
struct wrapper {
	int magic, version;
	const void *image;
	const void **relocatable; /* version 2; ends with NULL */
};

struct variable {
	char *name;
	size_t size;
	unsigned char *value;
};

struct tfsim_module {
	struct tfsim_function **functions;
	struct variable *variables;
	unsigned count, variable_count;
	bool listed;
};

static bool add_function(struct tfsim_module *module, struct tfsim_function *function)
{
	struct tfsim_function **grown;

	grown = realloc(module->functions, (module->count + 1) * sizeof(*grown));
	if (!grown)
		return false;
	module->functions = grown;
	module->functions[module->count++] = function;
	return true;
}

static struct tfsim_function *find(const struct tfsim_module *module, const char *name)
{
	for (unsigned i = 0; i < module->count; i++)
		if (strcmp(module->functions[i]->name, name) == 0)
			return module->functions[i];
	return NULL;
}

bool sim_module_kernel(struct tfsim_module *module, const char *name, struct sim_params *params)
{
	struct tfsim_function *function;

	if (find(module, name)) {
		free(params);
		return true;
	}
	function = sim_function_laid_out(name, params);
	return function && add_function(module, function);
}

bool sim_module_variable(
	struct tfsim_module *module, const char *name, const void *value, size_t size)
{
	struct variable *grown, *v;

	grown = realloc(module->variables, (module->variable_count + 1) * sizeof(*grown));
	if (!grown)
		return false;
	module->variables = grown;
	v = &grown[module->variable_count];
	*v = (struct variable){strdup(name), size, malloc(size)};
	if (!v->name || !v->value) {
		free(v->name);
		free(v->value);
		return false;
	}
	memcpy(v->value, value, size);
	module->variable_count++;
	return true;
}

const void *tfsim_module_value(
	const struct tfsim_module *module, const char *name, size_t *out_size)
{
	for (unsigned i = 0; i < module->variable_count; i++)
		if (strcmp(module->variables[i].name, name) == 0) {
			*out_size = module->variables[i].size;
			return module->variables[i].value;
		}
	return NULL;
}

/* Code that was compiled apart and not linked yet is read as it is. */
static bool read_wrapper(struct tfsim_module *module, const struct wrapper *wrapper)
{
	bool read = wrapper->image && sim_image_read(module, wrapper->image, SIZE_MAX);
	const void **part = wrapper->version == 2 ? wrapper->relocatable : NULL;

	for (; !read && part && *part; part++)
		sim_image_read(module, *part, SIZE_MAX);
	return read || module->count > 0;
}

struct tfsim_module *tfsim_module_load(const void *image)
{
	struct tfsim_module *module = calloc(1, sizeof(*module));
	const uint32_t wrapper = WRAPPER_MAGIC;

	/* Not memcmp(): text may be shorter. */
	if (module)
		module->listed = strncmp(image, (const char *)&wrapper, sizeof(wrapper)) == 0
					 ? read_wrapper(module, image)
					 : sim_image_read(module, image, SIZE_MAX);
	return module;
}

/* With a zero byte behind it. */
static char *read_file(const char *path, size_t *out_size)
{
	FILE *file = fopen(path, "rb");
	char *bytes = NULL;
	long size;

	if (file && fseek(file, 0, SEEK_END) == 0 && (size = ftell(file)) >= 0) {
		rewind(file);
		bytes = calloc((size_t)size + 1, 1);
		*out_size = bytes ? fread(bytes, 1, (size_t)size, file) : 0;
	}
	if (file)
		fclose(file);
	return bytes;
}

cudaError_t tfsim_module_load_file(const char *path, struct tfsim_module **out_module)
{
	struct tfsim_module *module;
	size_t size = 0;
	char *bytes = read_file(path, &size);

	if (!bytes)
		return cudaErrorFileNotFound;
	module = calloc(1, sizeof(*module));
	if (module) {
		module->listed = sim_image_read(module, bytes, size);
		*out_module = module;
	}
	free(bytes);
	return module ? cudaSuccess : cudaErrorMemoryAllocation;
}

void tfsim_module_unload(struct tfsim_module *module)
{
	if (!module)
		return;
	for (unsigned i = 0; i < module->variable_count; i++) {
		free(module->variables[i].name);
		free(module->variables[i].value);
	}
	free(module->variables);
	free(module->functions);
	free(module);
}

struct tfsim_function *tfsim_module_function(struct tfsim_module *module, const char *name)
{
	struct tfsim_function *function;

	if (module->listed)
		return find(module, name);
	function = tfsim_function_intern(name);
	return function && add_function(module, function) ? function : NULL;
}

unsigned tfsim_module_functions(
	const struct tfsim_module *module, struct tfsim_function **out_functions, unsigned room)
{
	for (unsigned i = 0; i < module->count && i < room; i++)
		out_functions[i] = module->functions[i];
	return module->count;
}
