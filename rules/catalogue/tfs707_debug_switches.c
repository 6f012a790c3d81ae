/* SPDX-License-Identifier: MIT */
/*
 * TFS707: variables of the environment that make libraries wait or write in each call. The shim
 * looks at them as the program starts (shim/core/switches.c).
 */
#include <string.h>

#include "rules/evidence/findings.h"

static const struct {
	const char *name; /* how a variable begins */
	const char *does;
} effects[] = {
	{"CUDA_LAUNCH_BLOCKING", "each launch waits until the kernel is over"},
	{"CUBLAS", "each call of cuBLAS is written to a log"},
	{"CUDNN", "each call of cuDNN is written to a log"},
	{"NCCL", "each collective is written to a log"},
	{"PYTORCH_NO_CUDA_MEMORY_CACHING",
		"each tensor's memory is allocated and freed by the driver"},
	{"TORCH_DISTRIBUTED_DEBUG", "ranks compare each collective before they begin it"},
};

static const char *effect_of(const char *text)
{
	for (size_t i = 0; i < sizeof(effects) / sizeof(effects[0]); i++)
		if (!strncmp(text, effects[i].name, strlen(effects[i].name)))
			return effects[i].does;
	return "it is for debugging";
}

static void detect(const struct tfs_steady *steady, struct tfs_findings *findings,
	struct tfs_verdict *out_verdict)
{
	const struct tfs_trace *trace = steady->timeline->trace;
	const size_t before = findings->count;

	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_fact); i++) {
		const struct tfs_fact_record *fact = tfs_trace_at(trace, TFS_RECORD_fact, i);
		const char *text = tfs_trace_string(trace, fact->object);

		if (fact->fact == TFS_FACT_debug_switch)
			tfs_findings_note(findings, "%s is set: %s", text, effect_of(text));
	}
	if (!tfs_trace_fact(trace, TFS_FACT_debug_none))
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_NOT_MEASURABLE,
			"the recording does not say which variables of the environment were set");
	else
		tfs_verdict_set(out_verdict, findings, before, TFS_STATE_PASSED,
			"no variable of the environment that was looked for makes libraries wait or write in each call");
}

const struct tfs_rule tfs_rule_tfs707 = {
	.id = "TFS707",
	.slug = "debug-switches",
	.level = TFS_LEVEL_WARN,
	.any_cost = true,
	.anywhere = true,
	.needs = TFS_NEEDS_OPERANDS,
	.title = "debugging switches left on",
	.why = "Switches that help to find a fault stay in scripts when it is found. "
	       "CUDA_LAUNCH_BLOCKING makes the host wait for each kernel, so that nothing is launched ahead; "
	       "a library's log writes a line, or several, for each call.",
	.advice =
		"Unset this variable where the program is started, and set it for the run alone that looks for a fault. "
		"In PyTorch: also remove torch.autograd.set_detect_anomaly(True) and profilers that are always on; these were not looked for.",
	.detect = detect,
};
