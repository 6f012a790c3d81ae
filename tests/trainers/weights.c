/* SPDX-License-Identifier: MIT */
/*
 * weights A B TOLERANCE: compares the weights that two trainers have written. Status 0 when none
 * differs by more than TOLERANCE, which is absolute; 0 means the same bits.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The floats of a file, in memory that the caller frees; NULL with a message. */
static float *load(const char *path, size_t *out_count)
{
	FILE *file = fopen(path, "rb");
	long size = file && !fseek(file, 0, SEEK_END) ? ftell(file) : -1;
	float *values = size > 0 ? malloc((size_t)size) : NULL;

	if (values) {
		rewind(file);
		*out_count = fread(values, sizeof(float), (size_t)size / sizeof(float), file);
	}
	if (!values || *out_count * sizeof(float) != (size_t)size) {
		fprintf(stderr, "weights: %s: no whole file of floats\n", path);
		free(values);
		values = NULL;
	}
	if (file)
		fclose(file);
	return values;
}

int main(int argc, char **argv)
{
	size_t a_count = 0, b_count = 0, worst = 0;
	float *a = argc == 4 ? load(argv[1], &a_count) : NULL;
	float *b = a ? load(argv[2], &b_count) : NULL;
	float tolerance = b ? strtof(argv[3], NULL) : 0, most = 0;
	int bad = 1;

	if (argc != 4)
		fprintf(stderr, "usage: weights A B TOLERANCE\n");
	if (!b)
		goto out;
	if (a_count != b_count) {
		fprintf(stderr, "weights: %zu in %s, %zu in %s\n", a_count, argv[1], b_count,
			argv[2]);
		goto out;
	}
	for (size_t i = 0; i < a_count; i++) {
		float apart = memcmp(&a[i], &b[i], sizeof(*a)) ? fabsf(a[i] - b[i]) : 0;

		/* Also where one of them is no number, or only a sign of 0 differs. */
		if (memcmp(&a[i], &b[i], sizeof(*a)) && !(apart > 0))
			apart = isfinite(a[i]) && isfinite(b[i]) ? 1e-30f : INFINITY;
		if (apart > most) {
			most = apart;
			worst = i;
		}
	}
	bad = most > tolerance;
	printf("%zu weights, largest difference %g at %zu (%g, %g)\n", a_count, most, worst,
		a[worst], b[worst]);
out:
	free(b);
	free(a);
	return bad;
}
