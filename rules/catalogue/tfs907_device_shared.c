/* SPDX-License-Identifier: MIT */
/*
 * TFS907: a device that is not the program's alone. The driver tells of MPS and of slices; which
 * other processes use a device, only NVML would.
 */
#include "rules/evidence/findings.h"
#include "rules/evidence/sharing.h"

static void report(struct tfs_findings *findings, const char *name, enum tfs_sharing sharing)
{
	if (sharing == TFS_SHARING_MPS)
		tfs_findings_note(findings,
			"contexts on %s are shared through MPS: other processes may run kernels beside the program's, and times may be theirs",
			name);
	else if (sharing == TFS_SHARING_SLICE)
		tfs_findings_note(findings,
			"%s is a slice of a GPU: others may use the rest of it, with which it shares clocks, power and the link to the host",
			name);
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_timeline *timeline = steady->timeline;
	const size_t before = findings->count;
	bool named = true;

	for (uint32_t i = 0; i < timeline->device_count; i++) {
		const struct tfs_device *device = &timeline->devices[i];

		if (!(device->busy_ns > 0))
			continue;
		named &= device->record != NULL;
		report(findings,
			device->record ? tfs_trace_string(timeline->trace, device->record->name)
				       : "the device",
			tfs_sharing_of(timeline, device));
	}
	if (!named)
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"the recording does not say what the device is");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no MPS, and no slice of a GPU; whether other processes used it was not looked for");
}

const struct tfs_rule tfs_rule_tfs907 = {
	.id = "TFS907",
	.slug = "device-shared",
	.level = TFS_LEVEL_NOTE,
	.anywhere = true,
	.needs = TFS_NEEDS_DEVICE | TFS_NEEDS_OPERANDS,
	.title = "the GPU may be shared with other processes",
	.why = "Where a GPU is shared, other processes take some of its time, its memory bandwidth or its link. "
	       "What the program would gain alone, or beside others than today's, is another figure: all costs are of low confidence then, and no finding is an error. "
	       "Whether other processes used the GPU without MPS is not looked for.",
	.advice =
		"Measure on a GPU that nobody else uses: where no other job needs it, stop the MPS control daemon (echo quit | nvidia-cuda-mps-control); "
		"else ask for a GPU of your own, without MIG. "
		"If the program is to run shared, compare runs that were shared alike.",
	.detect = detect,
};
