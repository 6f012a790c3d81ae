/* SPDX-License-Identifier: MIT */
/* What a scene's recording is judged to be. */
#include <stdio.h>
#include <string.h>

#include "rules/judge/pricing.h"
#include "tests/unit/scenes/scene_private.h"

const struct tfs_judgement *scene_judge(
	struct scene *scene, const struct tfs_judge_options *options)
{
	if (scene->in_window) {
		builder_step(scene->builder, scene->index + 1, scene->now, TFS_PHASE_OTHER, 2);
		builder_window(scene->builder, false, 1, scene->now + 100, 3);
	}
	for (unsigned i = 0; i < scene->total_count; i++)
		builder_aggregate(scene->builder, &scene->totals[i]);
	scene->trace = builder_open(scene->builder);
	scene_need(scene->trace, "the recording cannot be read");
	scene_need(!tfs_timeline_create(scene->trace, &scene->timeline), "no timeline");
	scene_need(!tfs_judge(scene->timeline, options, &scene->judgement), "not judged");
	return scene->judgement;
}

const struct tfs_judgement *scene_judgement(const struct scene *scene)
{
	return scene->judgement;
}

static const struct tfs_verdict *verdict_of(const struct scene *scene, const char *id)
{
	size_t i = 0;

	while (i < scene->judgement->rule_count &&
		strcmp(scene->judgement->rules[i].rule->id, id) != 0)
		i++;
	scene_need(i < scene->judgement->rule_count, "no such rule");
	return &scene->judgement->rules[i].verdict;
}

enum tfs_state scene_state(const struct scene *scene, const char *id)
{
	return verdict_of(scene, id)->state;
}

const char *scene_reason(const struct scene *scene, const char *id)
{
	const char *reason = verdict_of(scene, id)->reason;

	return reason ? reason : "";
}

const struct tfs_finding *scene_finding(const struct scene *scene, const char *id, unsigned line)
{
	for (size_t i = 0; i < scene->judgement->finding_count; i++) {
		const struct tfs_finding *finding = &scene->judgement->findings[i];
		const uint64_t *frames;

		if (strcmp(finding->rule->id, id))
			continue;
		if (!line || (tfs_trace_frames(scene->trace, finding->site, &frames) &&
				     frames[0] == 0x401000 + line * 16))
			return finding;
	}
	return NULL;
}

unsigned scene_findings(const struct scene *scene, const char *id)
{
	unsigned count = 0;

	for (size_t i = 0; i < scene->judgement->finding_count; i++)
		count += !strcmp(scene->judgement->findings[i].rule->id, id);
	return count;
}

void scene_print(const struct scene *scene)
{
	static const char *const states[TFS_STATE_COUNT] = {
		"passed", "violated", "not measurable", "waived", "not applicable"};
	const struct tfs_judgement *judgement = scene->judgement;

	printf("%s\n", judgement->verdict);
	for (size_t i = 0; i < judgement->rule_count; i++)
		printf("  %s %s: %s\n", judgement->rules[i].rule->id,
			states[judgement->rules[i].verdict.state],
			judgement->rules[i].verdict.reason);
	for (size_t i = 0; i < judgement->finding_count; i++)
		printf("  %s level %d group %u: %s; %.0f [%.0f, %.0f] ns, %s\n",
			judgement->findings[i].rule->id, (int)judgement->findings[i].level,
			judgement->findings[i].group, judgement->findings[i].message,
			judgement->findings[i].cost.ns, judgement->findings[i].cost.low_ns,
			judgement->findings[i].cost.high_ns,
			tfs_cost_method_name(judgement->findings[i].cost.method));
}
