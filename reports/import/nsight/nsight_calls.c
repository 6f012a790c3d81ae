/* SPDX-License-Identifier: MIT */
#include <ctype.h>
#include <errno.h>

#include "reports/import/nsight/nsight_part.h"

/* CUPTI calls what the runtime calls NAME, since a version, NAME_v7000. */
static size_t cut_version(const char *name, size_t bytes)
{
	size_t end = bytes;

	while (end && isdigit((unsigned char)name[end - 1]))
		end--;
	return bytes - end >= 4 && end > 2 && name[end - 1] == 'v' && name[end - 2] == '_' ? end - 2
											   : bytes;
}

static int take_call(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	struct tfs_collected *collected = nsight->collected;
	int64_t thread = nsight->process, name = 0;

	if (!tfs_rows_number(rows, 2, &thread) && nsight->chosen)
		return 0;
	if (TFS_NSIGHT_PROCESS(thread) != nsight->process)
		return 0;
	struct tfs_collected_call call = {.tid = (uint32_t)(thread & 0xffffff),
		.correlation = (uint32_t)tfs_rows_whole(rows, 3, UINT32_MAX)};
	if (!tfs_nsight_times(rows, &call.start_ns, &call.end_ns)) {
		collected->not_taken++;
		return 0;
	}
	if (call.start_ns < nsight->first_ns || call.start_ns >= nsight->end_ns)
		return 0;
	if (tfs_rows_number(rows, 4, &name))
		call.name = tfs_nsight_string(nsight, name, cut_version);
	if (!call.name) {
		collected->not_taken++;
		return 0;
	}
	call.stack = (uint32_t)tfs_rows_whole(rows, 5, UINT32_MAX);
	if (call.stack && (!nsight->last_stack || call.stack < nsight->first_stack))
		nsight->first_stack = call.stack;
	if (call.stack > nsight->last_stack)
		nsight->last_stack = call.stack;
	if (!nsight->last_call || call.correlation < nsight->first_call)
		nsight->first_call = call.correlation;
	if (call.correlation > nsight->last_call)
		nsight->last_call = call.correlation;
	struct tfs_collected_call *place = tfs_collected_more(
		&collected->calls, &collected->call_count, sizeof(*collected->calls));
	if (!place)
		return -ENOMEM;
	*place = call;
	return 0;
}

int tfs_nsight_calls(struct tfs_nsight *nsight)
{
	static const char *const columns[] = {
		"start", "end", "globalTid", "correlationId", "nameId", "callchainId", NULL};

	return tfs_nsight_each(nsight, "CUPTI_ACTIVITY_KIND_RUNTIME", columns, take_call);
}
