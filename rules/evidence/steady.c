/* SPDX-License-Identifier: MIT */
#include "rules/evidence/steady.h"

const char *tfs_steady_name(const struct tfs_steady *steady)
{
	return steady->run ? "the recorded run" : "the judged steps";
}

const char *tfs_steady_each(const struct tfs_steady *steady)
{
	return steady->run ? "in the recorded run" : "per step";
}

bool tfs_steady_seldom(const struct tfs_steady *steady, uint32_t steps)
{
	return steady->step_count > 1 && steps <= (steady->step_count + 9) / 10;
}

uint64_t tfs_steady_total(const struct tfs_steady *steady, uint32_t site, uint16_t function)
{
	const struct tfs_total *total = tfs_trace_total(steady->timeline->trace, site, function);

	return total ? total->sum.count : 0;
}

uint64_t tfs_steady_attribute(
	const struct tfs_host_call *call, enum tfs_attribute key, uint64_t otherwise)
{
	uint64_t value;

	return tfs_call_attribute(call->record, key, &value) ? value : otherwise;
}

bool tfs_family_submits(enum tfs_family family)
{
	switch (family) {
	case TFS_FAMILY_copy:
	case TFS_FAMILY_copy_async:
	case TFS_FAMILY_set:
	case TFS_FAMILY_set_async:
	case TFS_FAMILY_launch:
	case TFS_FAMILY_host_func:
	case TFS_FAMILY_graph_launch:
	case TFS_FAMILY_conv_forward:
	case TFS_FAMILY_conv_backward_data:
	case TFS_FAMILY_conv_backward_filter:
	case TFS_FAMILY_conv_backward_bias:
	case TFS_FAMILY_conv_fused:
	case TFS_FAMILY_conv_find:
	case TFS_FAMILY_pointwise:
	case TFS_FAMILY_bias:
	case TFS_FAMILY_activation:
	case TFS_FAMILY_pooling:
	case TFS_FAMILY_softmax:
	case TFS_FAMILY_transform:
	case TFS_FAMILY_normalisation:
	case TFS_FAMILY_reduction:
	case TFS_FAMILY_gemm:
	case TFS_FAMILY_blas:
	case TFS_FAMILY_blas_pointwise:
	case TFS_FAMILY_random:
	case TFS_FAMILY_collective:
		return true;
	default:
		return false;
	}
}

double tfs_steady_device_ns(const struct tfs_steady *steady, const struct tfs_host_call *call)
{
	const struct tfs_timeline *timeline = steady->timeline;
	double ns = 0;

	for (uint32_t i = 0; i < call->op_count; i++) {
		uint32_t op = timeline->call_ops[call->first_op + i];

		ns += tfs_device_op_ns(&timeline->ops[op]);
	}
	return ns;
}
