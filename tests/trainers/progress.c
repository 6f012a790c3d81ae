/* SPDX-License-Identifier: MIT */
#include "progress.h"

#include <stdio.h>
#include <time.h>

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

void progress_start(struct progress *progress)
{
	progress->start_ns = now_ns();
}

void progress_stop(struct progress *progress, unsigned steps)
{
	progress->spent_ns += now_ns() - progress->start_ns;
	progress->timed += steps;
}

void progress_step(struct progress *progress)
{
	if (progress->begun++ == progress->warmup) {
		progress->spent_ns = 0;
		progress->start_ns = now_ns();
	}
}

void progress_loss(struct progress *progress, float sum, unsigned steps)
{
	progress->steps += steps;
	progress->loss_sum += sum;
	progress->loss_count += steps;
	if (progress->loss_count < PROGRESS_STEPS)
		return;
	progress->loss = progress->loss_sum / (float)progress->loss_count;
	progress->loss_sum = 0;
	progress->loss_count = 0;
	if (!progress->quiet) {
		printf("step %u loss %.4f\n", progress->steps, progress->loss);
		fflush(stdout);
	}
}

void progress_epoch(struct progress *progress, unsigned epoch, float accuracy)
{
	progress->accuracy = accuracy;
	printf("epoch %u accuracy %.2f %%\n", epoch + 1, accuracy * 100);
	fflush(stdout);
}

void progress_end(const struct progress *progress)
{
	unsigned timed =
		progress->timed > progress->warmup ? progress->timed - progress->warmup : 0;
	float loss = progress->loss_count ? progress->loss_sum / (float)progress->loss_count
					  : progress->loss;

	printf("result: %u steps, loss %.4f", progress->steps, loss);
	if (progress->accuracy >= 0)
		printf(", accuracy %.2f %%", progress->accuracy * 100);
	printf("\ntime: step %.4g ms, mean of %u\n",
		timed ? (double)progress->spent_ns / 1e6 / timed : 0.0, timed);
	fflush(stdout);
}
