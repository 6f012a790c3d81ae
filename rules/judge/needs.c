/* SPDX-License-Identifier: MIT */
#include "rules/judge/needs.h"

#include "rules/rule.h"

const char *tfs_need_absent(uint32_t need)
{
	switch (need) {
	case TFS_NEEDS_STEPS:
		return "no training step was recorded in full";
	case TFS_NEEDS_CALLS:
		return "no calls of the judged steps were recorded";
	case TFS_NEEDS_DEVICE:
		return "no GPU activity was recorded";
	case TFS_NEEDS_RUNTIME:
		return "no call of the CUDA runtime or driver was seen ('tfshim doctor PROGRAM' says what is visible)";
	case TFS_NEEDS_CUDNN:
		return "no cuDNN call was seen";
	case TFS_NEEDS_OPERANDS:
		return "the trace was recorded by another tool, without operands and results of calls";
	case TFS_NEEDS_ALL:
		return "the trace was recorded by another tool, which leaves calls out";
	default:
		return "an older tfshim made the recording and distinguished fewer kinds of calls";
	}
}

const char *tfs_need_device(bool untied, bool lost)
{
	if (untied)
		return "GPU activity was recorded, but most of it is tied to no call";
	return lost ? "much of the GPU activity was lost: records were dropped"
		    : tfs_need_absent(TFS_NEEDS_DEVICE);
}

const char *tfs_about_words(uint32_t about)
{
	switch (about) {
	case TFS_ABOUT_COPIES:
		return "copies";
	case TFS_ABOUT_SETS:
		return "memsets";
	case TFS_ABOUT_LAUNCHES:
		return "launches";
	case TFS_ABOUT_WAITS:
		return "synchronising calls";
	default:
		return "allocations, releases and registrations";
	}
}
