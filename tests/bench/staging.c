/* SPDX-License-Identifier: MIT */
/*
 * How fast pinned-staging's threads copy between a program's memory and a ring of chunks, by the
 * size of the chunks and the number of threads that help: host memory only, no device. Medians, and
 * the best, of rounds in which all take their turn.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "shim/base/env.h"
#include "shim/rewrites/pinned_staging/pinned_staging_pieces.h"

#define BYTES ((size_t)256 << 20) /* more than a cache holds */
#define RING ((size_t)8 << 20)
#define ROUNDS 7
#define THREADS 5u /* 0 to 4 */

static const size_t sizes[] = {
	(size_t)256 << 10, (size_t)512 << 10, (size_t)1 << 20, (size_t)2 << 20, (size_t)4 << 20};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static struct tfs_staging_pieces set;
static char *program, *ring;
static double rates[2][SIZES][THREADS][ROUNDS];

static double now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

/* Two chunks are open at a time, as while one is on its way. */
static double measure(size_t chunk, bool out)
{
	const double start = now_ns();
	uint64_t before = 0;

	tfs_staging_pieces_begin(&set, BYTES);
	for (size_t done = 0; done < BYTES; done += chunk) {
		char *place = ring + done % RING;
		const uint64_t number =
			tfs_staging_pieces_open(&set, place, program + done, chunk, out);

		tfs_staging_pieces_finish(&set, before);
		before = number;
	}
	tfs_staging_pieces_finish(&set, before);
	return (double)BYTES / (now_ns() - start);
}

/* Until as many threads help; they notice by themselves within a millisecond. */
static bool help(unsigned threads)
{
	tfs_options.staging_threads = threads;
	for (int i = 0; i < 500; i++) {
		tfs_staging_pieces_begin(&set, BYTES);
		if (set.helpers == threads)
			return true;
		tfs_staging_pieces_finish(
			&set, tfs_staging_pieces_open(&set, ring, program, (size_t)2 << 20, false));
		usleep(1000);
	}
	return false;
}

static int compare(const void *one, const void *other)
{
	const double difference = *(const double *)one - *(const double *)other;

	return (difference > 0) - (difference < 0);
}

int main(void)
{
	program = aligned_alloc(4096, BYTES);
	ring = aligned_alloc(4096, RING);
	if (!program || !ring)
		return 1;
	memset(program, 1, BYTES);
	memset(ring, 1, RING);
	tfs_options.staging_cores = 0;
	for (int round = 0; round < ROUNDS; round++)
		for (unsigned threads = 0; threads < THREADS; threads++) {
			if (!help(threads))
				return fprintf(stderr, "%u threads never helped\n", threads), 1;
			for (size_t i = 0; i < SIZES; i++)
				for (int out = 0; out < 2; out++)
					rates[out][i][threads][round] = measure(sizes[i], out);
		}
	printf("GB/s, %ld processors\n%-12s%10s", sysconf(_SC_NPROCESSORS_ONLN), "", "chunk");
	for (unsigned threads = 0; threads < THREADS; threads++)
		printf("    +%u threads", threads);
	printf("\n");
	for (int out = 0; out < 2; out++)
		for (size_t i = 0; i < SIZES; i++) {
			printf("%-12s%6zu KiB", out ? "from ring" : "into ring", sizes[i] >> 10);
			for (unsigned threads = 0; threads < THREADS; threads++) {
				double *all = rates[out][i][threads];

				qsort(all, ROUNDS, sizeof(*all), compare);
				printf("%7.1f (%4.1f)", all[ROUNDS / 2], all[ROUNDS - 1]);
			}
			printf("\n");
		}
	return 0;
}
