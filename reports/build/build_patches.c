/* SPDX-License-Identifier: MIT */
#include "reports/build/build.h"

#include <string.h>

#include "reports/build/places.h"
#include "reports/patch/patch.h"

/* Those that come first have one. */
#define MOST_PATCHES 100u

/* Does the finding say to take the call away, and no more, with no doubt? Else it stays, or
 * something takes its place. */
static bool removes(const struct tfs_build *build, size_t finding)
{
	const struct tfs_finding *from = &build->judgement->findings[finding];

	return from->removes && !from->doubt &&
	       (!from->advice || from->advice == from->rule->advice);
}

static bool found_removed(const struct tfs_build *build, const struct tfs_rule *rule, uint32_t site)
{
	const struct tfs_judgement *judgement = build->judgement;

	for (size_t i = 0; i < judgement->finding_count; i++)
		if (judgement->findings[i].rule == rule && judgement->findings[i].site == site &&
			removes(build, i))
			return true;
	return false;
}

static const char *base_name(const char *file)
{
	const char *slash = strrchr(file, '/');

	return slash ? slash + 1 : file;
}

/* A header may have several paths. */
static bool same_line(const struct tfs_model_frame *one, const struct tfs_model_frame *two)
{
	return one && two && one->file && two->file && one->line == two->line &&
	       !strcmp(base_name(one->file), base_name(two->file));
}

/* The same, as far as it goes: before the unwinder was there, fewer callers were seen. */
static bool is_part(const struct tfs_model_place *place, const struct tfs_model_place *whole)
{
	for (size_t i = 0; i < place->frame_count; i++)
		if (i >= whole->frame_count || !same_line(&place->frames[i], &whole->frames[i]))
			return false;
	return true;
}

/* Was what stands on the line called from elsewhere too, where it is not to go? By its site, since
 * what differs in lines alone has one key. */
static bool is_shared(
	const struct tfs_build *build, size_t number, const struct tfs_model_finding *finding)
{
	const struct tfs_finding *from = &build->judgement->findings[number];
	const struct tfs_model_frame *frame = tfs_model_best_frame(&finding->place);
	const struct tfs_total *totals;
	const struct tfs_share *shares;
	const size_t count = tfs_trace_totals(build->trace, &totals, &shares);

	for (size_t i = 0; i < count; i++) {
		const uint32_t site = totals[i].sum.site;
		const struct tfs_model_place place = tfs_places_find(build->places, site);

		if (site != from->site && same_line(frame, tfs_model_best_frame(&place)) &&
			!is_part(&place, &finding->place) &&
			!found_removed(build, from->rule, site))
			return true;
	}
	return false;
}

static bool anything_lost(const struct tfs_trace *trace)
{
	for (unsigned i = 0; i < TFS_LOSS_COUNT; i++)
		if (tfs_trace_header(trace)->lost[i])
			return true;
	return false;
}

void tfs_build_patches(struct tfs_build *build, struct tfs_model_finding *findings)
{
	const uint64_t started_ns = tfs_trace_header(build->trace)->start_realtime_ns;

	/* Who else calls what stands there may be missing. */
	if (anything_lost(build->trace))
		return;
	for (size_t i = 0; i < build->judgement->finding_count && i < MOST_PATCHES; i++) {
		struct tfs_model_finding *finding = &findings[i];

		if (removes(build, i) && !is_shared(build, i, finding))
			finding->patch = tfs_patch_without(&build->model->arena,
				tfs_model_best_frame(&finding->place), finding->call, started_ns);
	}
}
