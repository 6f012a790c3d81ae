/* SPDX-License-Identifier: MIT */
#include "shim/record/listeners.h"

#include "cupti/collector.h"
#include "shim/core/shim.h"
#include "shim/nvtx/nvtx.h"
#include "shim/rewrites/common/held.h"
#include "shim/rewrites/measure.h"
#include "shim/rewrites/rewrite.h"
#include "shim/steps/step_listeners.h"
#include "shim/steps/steps.h"

const struct tfs_listeners tfs_listeners = {
	.running = tfs_shim_running,
	.forget_parents = tfs_shim_forget_parents,
	.first_call_done = tfs_shim_first_call_done,
	.fills = tfs_rewrite_call,
	.held = tfs_held_before,
	.mark = tfs_steps_mark,
	.site_flags = tfs_steps_site_flags,
	.enter_device = tfs_collector_push,
	.leave_device = tfs_collector_pop,
	.steps = tfs_steps_feed,
	.work = tfs_rewrite_submitted,
};

const struct tfs_step_listeners tfs_step_listeners = {
	.ended = tfs_rewrite_step,
	.interrupted = tfs_measure_interrupt,
	.offered = tfs_rewrite_offer,
	.rewritten = tfs_rewrite_any_switchable,
	.ranges = tfs_nvtx_feed,
};
