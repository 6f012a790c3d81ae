/* SPDX-License-Identifier: MIT */
/* Device code given to the simulated GPU: fat binaries, cubins, PTX text. */
#include "tests/sim/code/core_image.h"

#include <stdlib.h>
#include <string.h>

/* Longer than any input. */
#define FUZZ_MAX (2u << 20)

bool sim_module_kernel(struct tfsim_module *module, const char *name, struct sim_params *params)
{
	(void)module;
	if (strlen(name) > FUZZ_MAX)
		abort();
	for (uint32_t i = 0; params && i < params->count; i++)
		if (params->at[i].size == 0 ||
			params->at[i].offset + params->at[i].size > params->bytes)
			abort();
	free(params);
	return true;
}

bool sim_module_variable(
	struct tfsim_module *module, const char *name, const void *value, size_t size)
{
	const unsigned char *bytes = value;
	unsigned sum = 0;

	(void)module;
	for (size_t i = 0; i < size; i++)
		sum += bytes[i];
	return sum < 1u << 31 || *name;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *image = malloc(size + 1);

	memcpy(image, data, size);
	image[size] = '\0';
	sim_image_read(NULL, image, size);
	free(image);
	return 0;
}
