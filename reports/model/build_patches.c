/* SPDX-License-Identifier: MIT */
#include "reports/model/build.h"

#include <string.h>

#include "reports/model/patch.h"

/* Those that come first have one. */
#define MOST_PATCHES 100u

/* Does the finding say to take the call away, and no more? Else it stays, or something takes its
 * place. */
static bool removes(const struct tfs_build *build, size_t finding)
{
	const struct tfs_finding *from = &build->judgement->findings[finding];

	return from->rule->removes && (!from->advice || from->advice == from->rule->advice);
}

static bool found_removed(const struct tfs_build *build, const struct tfs_model_finding *findings,
	const struct tfs_rule *rule, uint64_t key)
{
	for (size_t i = 0; i < build->judgement->finding_count; i++)
		if (findings[i].rule == rule && findings[i].place.key == key && removes(build, i))
			return true;
	return false;
}

static bool same_line(const struct tfs_model_frame *one, const struct tfs_model_frame *two)
{
	return one && two && one->file && two->file && one->line == two->line &&
	       !strcmp(one->file, two->file);
}

/* Was what stands on the line called from elsewhere too, where it is not to go? */
static bool is_shared(const struct tfs_build *build, const struct tfs_model_finding *findings,
	const struct tfs_model_finding *finding)
{
	const struct tfs_model *model = build->model;
	const struct tfs_model_frame *frame = tfs_model_best_frame(&finding->place);

	for (size_t i = 0; i < model->call_count; i++) {
		const struct tfs_model_call *call = &model->calls[i];

		if (call->place.key != finding->place.key &&
			same_line(frame, tfs_model_best_frame(&call->place)) &&
			!found_removed(build, findings, finding->rule, call->place.key))
			return true;
	}
	return false;
}

void tfs_build_patches(struct tfs_build *build, struct tfs_model_finding *findings)
{
	const uint64_t started_ns = tfs_trace_header(build->trace)->start_realtime_ns;

	for (size_t i = 0; i < build->judgement->finding_count && i < MOST_PATCHES; i++) {
		struct tfs_model_finding *finding = &findings[i];

		if (removes(build, i) && !is_shared(build, findings, finding))
			finding->patch = tfs_patch_without(&build->model->region,
				tfs_model_best_frame(&finding->place), finding->call, started_ns);
	}
}
