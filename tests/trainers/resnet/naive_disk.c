/* SPDX-License-Identifier: MIT */
#include "naive.h"

#include <time.h>

/* The thread that trains waits for the disk. The mark is naive_batch.c's. */

enum { DISK_NS = 3000000 };

/* Stands for reading a batch. */
static void read_batch(void)
{
	const struct timespec span = {.tv_nsec = DISK_NS};

	nanosleep(&span, NULL);
}

const struct naive_part naive_disk = {.before = read_batch};
