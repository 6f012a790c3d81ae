/* SPDX-License-Identifier: MIT */
/* What edits save: the price of a change, with its interval. */
#include "rules/whatif/whatif.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "rules/whatif/whatif_private.h"

/* Doubt about the model itself: what the device would do is taken from what it did. */
#define MODEL_DOUBT 0.05
/* And about what each changed call takes: delays vary by that, and those of many even out. */
#define CALL_DOUBT_NS 1000.0

static double between(double ns, double most_ns)
{
	return fmax(0, fmin(ns, most_ns));
}

/* What the edits save in each step, between two replays; returns the mean. */
static double find_saved(const struct tfs_whatif *whatif, const double *was, const double *is)
{
	double sum = 0;
	size_t step = 0;

	for (size_t i = 0; i < whatif->run_count; i++) {
		for (uint32_t j = tfs_whatif_first(&whatif->runs[i]); j < whatif->runs[i].steps;
			j++) {
			whatif->saved[step] = (was[j + 1] - was[j]) - (is[j + 1] - is[j]);
			sum += whatif->saved[step++];
		}
		was += whatif->runs[i].graph.marks_count;
		is += whatif->runs[i].graph.marks_count;
	}
	return sum / (double)whatif->step_count;
}

/* What is saved by other accounts. */
struct others {
	double apart_ns; /* host threads only follow each other where they go on at once */
	double free_ns;  /* streams do not keep an order that they may not need */
};

static bool is_changed(const struct tfs_edit *edit, const struct tfs_edit *kept)
{
	return edit->gone != kept->gone || edit->no_wait != kept->no_wait ||
	       edit->scale < kept->scale || edit->scale > kept->scale ||
	       edit->aside != kept->aside || edit->at_once != kept->at_once ||
	       edit->cuts_ns < kept->cuts_ns || edit->cuts_ns > kept->cuts_ns;
}

/* Per step. */
static double changed_calls(const struct tfs_whatif *whatif)
{
	size_t count = 0;

	for (uint32_t i = 0; i < whatif->steady->call_count; i++)
		count += is_changed(&whatif->edits[i], &whatif->kept[i]);
	return (double)count / (double)whatif->step_count;
}

/* What recording may make of what is saved: all that it adds may be in it, or nothing. */
struct added {
	double less_ns, more_ns;
};

static struct added find_added(const struct tfs_whatif *whatif, double recorded, double mean)
{
	const double added_ns = (1 - whatif->own) * whatif->base_ns;

	if (!(whatif->own < 1))
		return (struct added){mean * whatif->inflation, mean * whatif->inflation};
	return (struct added){mean - fmax(recorded - added_ns, 0), recorded - mean};
}

static void price(
	struct tfs_whatif *whatif, double recorded, struct others others, struct tfs_cost *out_cost)
{
	const double count = (double)whatif->step_count;
	const struct tfs_work_left left = tfs_device_work_left(whatif->work, whatif->edits);
	const double own = whatif->own, base_ns = own * whatif->base_ns, mean = own * recorded;
	const double most = fmax(base_ns - left.least_ns, 0);
	const double utmost = fmax(whatif->own_most * whatif->base_ns - left.least_ns, most);
	const double low = fmin(mean, base_ns - left.all_ns);
	const struct added added = find_added(whatif, recorded, mean);
	const double model = mean * (MODEL_DOUBT + whatif->error);
	double squares = 0, half, rest;

	whatif->least_ns = left.least_ns;
	for (size_t i = 0; i < whatif->step_count; i++)
		squares += (own * whatif->saved[i] - mean) * (own * whatif->saved[i] - mean);
	half = count > 1 ? 2 * sqrt(squares / (count - 1) / count) : fabs(mean);
	rest = whatif->load_ns + fmin(fabs(mean), sqrt(changed_calls(whatif)) * CALL_DOUBT_NS);
	out_cost->ns = between(mean, most);
	/* One has nothing to do with the other. */
	out_cost->low_ns = between(
		fmin(low, own * others.apart_ns) - hypot(half, model + added.less_ns) - rest, most);
	out_cost->high_ns = between(fmax(mean, own * fmax(others.apart_ns, others.free_ns)) +
					    hypot(half, model + added.more_ns) + rest,
		utmost * (1 + MODEL_DOUBT));
	out_cost->method = whatif->steady->simulated ? TFS_COST_MODELLED : TFS_COST_REPLAY;
}

/* Of the program as written, where a rewrite had algorithms replaced. */
static void edit_written(struct tfs_whatif *whatif)
{
	for (uint32_t i = 0; i < whatif->steady->call_count; i++)
		if (whatif->written[i].scale > 0)
			whatif->edits[i].scale =
				whatif->written[i].scale *
				(whatif->edits[i].scale > 0 ? whatif->edits[i].scale : 1);
}

static bool any_assumed(const struct tfs_whatif *whatif)
{
	return memchr(whatif->assumed, true, whatif->steady->call_count);
}

/* Orders that may not be needed are left out, or are back. */
static void flip_assumed(struct tfs_whatif *whatif)
{
	for (uint32_t i = 0; i < whatif->steady->call_count; i++)
		whatif->edits[i].orders ^= whatif->assumed[i];
}

int tfs_whatif_price(struct tfs_whatif *whatif, struct tfs_cost *out_cost)
{
	struct others others = {0};
	double mean;

	if (whatif->doubt) {
		*out_cost = (struct tfs_cost){.method = TFS_COST_UNKNOWN};
		tfs_whatif_clear(whatif);
		return 0;
	}
	edit_written(whatif);
	if (tfs_whatif_replay(whatif, &whatif->at_once, whatif->edits, whatif->changed))
		return -ENOMEM;
	others.apart_ns = find_saved(whatif, whatif->apart, whatif->changed);
	if (any_assumed(whatif)) {
		flip_assumed(whatif);
		if (tfs_whatif_replay(whatif, &whatif->turns, whatif->edits, whatif->changed))
			return -ENOMEM;
		others.free_ns = find_saved(whatif, whatif->base, whatif->changed);
		flip_assumed(whatif);
	}
	if (tfs_whatif_replay(whatif, &whatif->turns, whatif->edits, whatif->changed))
		return -ENOMEM;
	mean = find_saved(whatif, whatif->base, whatif->changed);
	price(whatif, mean, others, out_cost);
	tfs_whatif_clear(whatif);
	return 0;
}

int tfs_whatif_keep(struct tfs_whatif *whatif)
{
	memcpy(whatif->kept, whatif->edits, whatif->steady->call_count * sizeof(*whatif->kept));
	edit_written(whatif);
	if (tfs_whatif_replay(whatif, &whatif->at_once, whatif->edits, whatif->apart) ||
		tfs_whatif_replay(whatif, &whatif->turns, whatif->edits, whatif->base))
		return -ENOMEM;
	whatif->base_ns = tfs_whatif_mean(whatif, whatif->base);
	tfs_whatif_clear(whatif);
	return 0;
}

struct tfs_cost tfs_whatif_searched(const struct tfs_whatif *whatif)
{
	const double ns = fmax(whatif->written_ns - whatif->replayed_ns, 0) *
			  (whatif->measured_ns / whatif->replayed_ns);
	const double half = ns * (MODEL_DOUBT + whatif->error + whatif->inflation);

	if (whatif->doubt)
		return (struct tfs_cost){.method = TFS_COST_UNKNOWN};
	return (struct tfs_cost){ns, fmax(ns - half, 0), ns + half, TFS_COST_SEARCHED};
}

double tfs_whatif_least_ns(const struct tfs_whatif *whatif)
{
	return whatif->least_ns;
}
