/* SPDX-License-Identifier: MIT */
/* write SAMPLE FORMAT: one format of a made-up model, to stdout. */
#include <stdio.h>

#include "reports/formats/format.h"
#include "tests/reports/sample.h"

int main(int argc, char **argv)
{
	struct tfs_model model = {0};
	const struct tfs_format *format = argc == 3 ? tfs_format_find(argv[2]) : NULL;
	if (!format || !sample_make(argv[1], &model)) {
		fprintf(stderr, "usage: write naive|clean|single|hostile|huge FORMAT\n");
		return 2;
	}
	format->write(&model, stdout, &tfs_paint_plain);
	tfs_model_finish(&model);
	return fflush(stdout) ? 1 : 0;
}
