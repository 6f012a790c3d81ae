/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fnmatch.h>
#include <stdlib.h>

#include "reports/import/nsight/nsight_part.h"

#define MOST_FRAMES (2u * TFS_NSIGHT_EVENTS)

enum { STACK, DEPTH, SYMBOL, MODULE, UNRESOLVED };

/* The libraries that are called do not say from where. */
static bool is_cuda(const char *module)
{
	return !fnmatch("*libcuda.so*", module, 0) || !fnmatch("*libcudart*.so*", module, 0);
}

static int take_frame(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	struct tfs_collected *collected = nsight->collected;
	const uint64_t stack = tfs_rows_whole(rows, STACK, UINT32_MAX);
	int64_t symbol, module;

	if (stack < nsight->first_stack || stack > nsight->last_stack ||
		collected->frame_count == MOST_FRAMES || !tfs_rows_number(rows, SYMBOL, &symbol) ||
		tfs_rows_whole(rows, UNRESOLVED, INT64_MAX))
		return 0;
	if (tfs_rows_number(rows, MODULE, &module) &&
		is_cuda(tfs_texts_text(&collected->names, tfs_nsight_string(nsight, module, NULL))))
		return 0;
	const uint32_t function = tfs_nsight_string(nsight, symbol, NULL);
	if (!function)
		return 0;
	struct tfs_collected_frame *frame = tfs_collected_more(
		&collected->frames, &collected->frame_count, sizeof(*collected->frames));
	if (!frame)
		return -ENOMEM;
	*frame = (struct tfs_collected_frame){
		(uint32_t)stack, (uint32_t)tfs_rows_whole(rows, DEPTH, UINT32_MAX), function};
	return 0;
}

int tfs_nsight_stacks(struct tfs_nsight *nsight)
{
	static const char *const columns[] = {
		"id", "stackDepth", "symbol", "module", "unresolved", NULL};
	struct tfs_collected *collected = nsight->collected;

	if (!nsight->last_stack)
		return 0;
	int err = tfs_nsight_each(nsight, "CUDA_CALLCHAINS", columns, take_frame);
	if (collected->frame_count)
		qsort(collected->frames, collected->frame_count, sizeof(*collected->frames),
			tfs_collected_compare_frames);
	return err;
}
