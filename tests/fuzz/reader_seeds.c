/* SPDX-License-Identifier: MIT */
/* Writes the seeds of tests/fuzz/corpus/reader: recordings with every kind of record. */
#include <stdio.h>

#include "tests/unit/scenes/sample.h"

static int save(struct builder *builder, const char *folder, const char *name)
{
	char path[4096];
	int status;

	snprintf(path, sizeof(path), "%s/%s.tfs", folder, name);
	status = builder_save(builder, path);
	if (status)
		fprintf(stderr, "%s: cannot be written\n", path);
	builder_destroy(builder);
	return status;
}

int main(int count, char **arguments)
{
	const char *folder = count > 1 ? arguments[1] : ".";

	return save(builder_create_sized(512), folder, "empty") ||
	       save(sample_create(512, 1), folder, "one-step") ||
	       save(sample_create(2048, 3), folder, "three-steps") ||
	       save(sample_create(512, 0), folder, "no-steps");
}
