/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/pinned_staging/pinned_staging_rates.h"

#include <math.h>

#include "shim/base/clock.h"
#include "shim/base/spin.h"

#define SAMPLES 4u         /* copies that each rate is taken from */
#define UNSAMPLED 16u      /* copies after which the usual rates must do */
#define USUAL_PAGEABLE 8e0 /* bytes per ns: PCIe 4, one thread */
#define USUAL_PINNED 25e0

struct rate {
	_Atomic double bytes_per_ns;
	_Atomic uint32_t samples;
};

static struct tfs_spin lock; /* who writes one */

/* To the host or not; from TFS_STAGING_MANY on or not. */
static struct rate pinned_rates[2][2];   /* best seen */
static struct rate pageable_rates[3][2]; /* best seen; 2: of a call that does not wait */
static struct rate staged_rates[3][2];   /* mean of the latest */

double tfs_staging_now(void)
{
	return (double)tfs_clock_ns(CLOCK_MONOTONIC);
}

static struct rate *rate_of(struct rate (*rates)[2], const struct tfs_staging_job *job)
{
	return &rates[job->out              ? 1
		      : job->op->copy.async ? 2
					    : 0][job->op->copy.bytes >= TFS_STAGING_MANY];
}

static const struct rate *pinned_of(const struct tfs_staging_job *job)
{
	return &pinned_rates[job->out][job->op->copy.bytes >= TFS_STAGING_MANY];
}

static void keep_best(struct rate *rate, double bytes, double ns)
{
	tfs_spin_lock(&lock);
	if (ns > 0 && bytes / ns > rate->bytes_per_ns)
		rate->bytes_per_ns = bytes / ns;
	rate->samples++;
	tfs_spin_unlock(&lock);
}

void tfs_staging_keep_pinned(bool out, bool many, size_t bytes, double ns)
{
	keep_best(&pinned_rates[out][many], (double)bytes, ns);
}

void tfs_staging_keep_pageable(const struct tfs_staging_job *job, double ns)
{
	keep_best(rate_of(pageable_rates, job), (double)job->op->copy.bytes, ns);
}

/* The first copy had to make the ring. */
void tfs_staging_keep_staged(const struct tfs_staging_job *job, double ns)
{
	struct rate *rate = rate_of(staged_rates, job);

	tfs_spin_lock(&lock);
	const uint32_t weight = rate->samples < 8 ? rate->samples : 8;
	const double mean = rate->bytes_per_ns;
	if (ns > 0 && weight > 0)
		rate->bytes_per_ns = mean + ((double)job->op->copy.bytes / ns - mean) / weight;
	rate->samples++;
	tfs_spin_unlock(&lock);
}

bool tfs_staging_wants_pinned(const struct tfs_staging_job *job)
{
	return pinned_of(job)->samples < SAMPLES;
}

bool tfs_staging_wants_pageable(const struct tfs_staging_job *job)
{
	return rate_of(staged_rates, job)->samples >= SAMPLES &&
	       rate_of(pageable_rates, job)->samples < SAMPLES;
}

bool tfs_staging_is_faster(const struct tfs_staging_job *job)
{
	const struct rate *staged = rate_of(staged_rates, job);
	const struct rate *pageable = rate_of(pageable_rates, job);
	const double pinned = pinned_of(job)->bytes_per_ns;
	const double mean = staged->bytes_per_ns;
	const double reached = pinned > 0 && pinned < mean ? pinned : mean;

	return pageable->samples < SAMPLES || staged->samples < 2 * SAMPLES ||
	       reached > pageable->bytes_per_ns;
}

double tfs_staging_gain(const struct tfs_staging_job *job, const struct tfs_staging_ring *ring)
{
	const struct rate *sampled = rate_of(pageable_rates, job);
	const double bytes = (double)job->op->copy.bytes;
	const double known = pinned_of(job)->bytes_per_ns;
	const double pageable = sampled->samples > 0 ? sampled->bytes_per_ns : USUAL_PAGEABLE;
	const double transfer_ns = bytes / (known > 0 ? known : USUAL_PINNED);

	if ((sampled->samples == 0 || known <= 0) &&
		rate_of(staged_rates, job)->samples < UNSAMPLED)
		return NAN;
	return bytes / pageable - (ring->spent_ns > transfer_ns ? ring->spent_ns : transfer_ns);
}
