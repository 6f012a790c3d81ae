/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_SIM_CORE_IMAGE_H
#define TFS_TESTS_SIM_CORE_IMAGE_H

/*
 * Device code: fat binaries, cubins, PTX text. Readers tell the module what the code holds; an
 * image is not trusted, and what cannot be made sense of is left out.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_param {
	uint32_t offset, size;
};

/* A kernel's parameters, in order. */
struct sim_params {
	uint32_t count;
	uint32_t bytes; /* end of the last one */
	struct sim_param at[];
};

struct tfsim_module;

/* These return whether the image was of that kind and could be read to its end. */
/* Any kind. The size may be SIZE_MAX when it is not known; text ends with a zero byte. */
bool sim_image_read(struct tfsim_module *module, const void *image, size_t size);
bool sim_fatbin_read(struct tfsim_module *module, const void *image, size_t size);
bool sim_cubin_read(struct tfsim_module *module, const void *image, size_t size);
bool sim_ptx_read(struct tfsim_module *module, const char *text);

/* Takes params, made by malloc; NULL: they are not known. False without memory. */
bool sim_module_kernel(struct tfsim_module *module, const char *name, struct sim_params *params);
/* A variable's initial value, which is copied. False without memory. */
bool sim_module_variable(
	struct tfsim_module *module, const char *name, const void *value, size_t size);

#endif
