/* SPDX-License-Identifier: MIT */
#include "rules/device/cores.h"

#include <stddef.h>
#include <string.h>

#include "rules/device/plans.h"

static bool has_one(const char *name, const char *const *parts)
{
	for (; *parts; parts++)
		if (strstr(name, *parts))
			return true;
	return false;
}

enum tfs_cores tfs_cores_of(const char *name)
{
	static const char *const plain[] = {"simt_sgemm", "ampere_sgemm", "turing_sgemm",
		"volta_sgemm", "maxwell_sgemm", "sgemm_largek", "scudnn", "implicit_convolve_sgemm",
		"wgrad_alg0_engineIf", "dgrad_engineIf", NULL};
	static const char *const tensor[] = {"tensor16x8", "tensorop", "wmma", "warpgroupsize",
		"nvjet", "s884", "h884", "s1688", "h1688", "16816", NULL};
	/* Of halves and doubles; of vectors, of tiny and of grouped ones; and what only helps. */
	static const char *const other[] = {"f16", "f64", "i8", "dgemm", "hgemm", "gemv", "Gemv",
		"gemmSN", "grouped_direct", "splitK", "nchwToNhwc", "nhwcToNchw", "computeOffsets",
		"scalePackedTensor", "ransform", "op_generic_tensor", "bias_diff", NULL};

	/* A name of a program's own may have ffma in it. Plain cores compute halves too. */
	if (has_one(name, plain) || (strstr(name, "ffma") && strstr(name, "xmma_")))
		return strstr(name, "f16") ? TFS_CORES_OTHER : TFS_CORES_PLAIN;
	if (has_one(name, tensor))
		return TFS_CORES_TENSOR;
	return has_one(name, other) ? TFS_CORES_OTHER : TFS_CORES_UNKNOWN;
}

double tfs_cores_ns(const struct tfs_steady *steady, const struct tfs_device_op *op)
{
	const double ns = tfs_device_op_ns(op) - steady->kernel_floor_ns;

	return op->record->operation == TFS_DEVICE_KERNEL && ns > steady->kernel_floor_ns ? ns : 0;
}

/* That multiplies, or may. */
static bool runs_plan(const struct tfs_host_call *call)
{
	uint64_t operations;

	return tfs_plan_read(call, &operations) &&
	       (!operations || (TFS_OPERATIONS_ALL(operations) &
				       (TFS_OPERATION_CONVOLUTION | TFS_OPERATION_PRODUCT |
					       TFS_OPERATION_ATTENTION)));
}

bool tfs_cores_library(const struct tfs_steady *steady, const struct tfs_host_call *call)
{
	switch (call->family) {
	case TFS_FAMILY_gemm:
	case TFS_FAMILY_conv_forward:
	case TFS_FAMILY_conv_backward_data:
	case TFS_FAMILY_conv_backward_filter:
	case TFS_FAMILY_conv_fused:
		return true;
	default:
		return runs_plan(call) ||
		       tfs_trace_fact(steady->timeline->trace, TFS_FACT_imported);
	}
}

bool tfs_cores_convolve(const char *name)
{
	static const char *const parts[] = {"fprop", "dgrad", "wgrad", "cudnn", "convolve", NULL};

	return has_one(name, parts);
}

bool tfs_cores_turn(const char *name)
{
	static const char *const parts[] = {"nchwToNhwc", "nhwcToNchw", NULL};

	return has_one(name, parts);
}
