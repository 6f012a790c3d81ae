/* SPDX-License-Identifier: MIT */
#include "tests/sim/code/core_image.h"

#include <ctype.h>
#include <elf.h>
#include <string.h>

static bool is_ptx(const char *text)
{
	while (isspace((unsigned char)*text))
		text++;
	return strncmp(text, "//", 2) == 0 || strncmp(text, ".version", 8) == 0;
}

bool sim_image_read(struct tfsim_module *module, const void *image, size_t size)
{
	if (size >= SELFMAG && memcmp(image, ELFMAG, SELFMAG) == 0)
		return sim_cubin_read(module, image, size);
	if (is_ptx(image))
		return sim_ptx_read(module, image);
	return sim_fatbin_read(module, image, size);
}
