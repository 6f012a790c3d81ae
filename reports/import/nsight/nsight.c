/* SPDX-License-Identifier: MIT */
#include "reports/import/nsight/nsight.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/collected/choice.h"
#include "reports/import/nsight/nsight_part.h"

bool tfs_nsight_times(const struct tfs_rows *rows, int64_t *out_start_ns, int64_t *out_end_ns)
{
	int64_t start, end;

	if (!tfs_rows_number(rows, 0, &start) || !tfs_rows_number(rows, 1, &end) || start < 0 ||
		end < start || end > TFS_NSIGHT_MOST_NS)
		return false;
	*out_start_ns = start;
	*out_end_ns = end;
	return true;
}

bool tfs_nsight_is_own(
	const struct tfs_nsight *nsight, const struct tfs_rows *rows, unsigned column)
{
	int64_t process;

	return tfs_rows_number(rows, column, &process)
		       ? TFS_NSIGHT_PROCESS(process) == nsight->process
		       : !nsight->chosen;
}

int tfs_nsight_each(struct tfs_nsight *nsight, const char *table, const char *const *columns,
	int (*take)(struct tfs_nsight *nsight, const struct tfs_rows *rows))
{
	struct tfs_rows rows;

	int row = tfs_rows_open(&rows, &nsight->database, table, columns);
	if (row == -ENOENT)
		return tfs_rows_close(&rows, 0);
	while (!row && (row = tfs_rows_next(&rows)) > 0)
		row = take(nsight, &rows);
	return tfs_rows_close(&rows, row);
}

static int read_all(
	struct tfs_nsight *nsight, const struct tfs_choice *choice, char *out_why, size_t why_bytes)
{
	int (*const parts[])(struct tfs_nsight *) = {tfs_nsight_window, tfs_nsight_calls,
		tfs_nsight_stacks, tfs_nsight_work, tfs_nsight_events, tfs_nsight_ranges,
		tfs_nsight_target};

	int err = tfs_nsight_choose(nsight, choice, out_why, why_bytes);
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts) && !err; i++)
		err = parts[i](nsight);
	err = err ? err : nsight->err;
	tfs_nsight_finish_strings(nsight);
	free(nsight->waits);
	return err;
}

int tfs_nsight_read(const struct tfs_choice *choice, struct tfs_collected *collected, char *out_why,
	size_t why_bytes)
{
	struct tfs_nsight nsight = {.collected = collected};
	int err = tfs_database_open(&nsight.database, choice->file);

	if (!err) {
		snprintf(collected->tool, sizeof(collected->tool), "Nsight Systems");
		err = read_all(&nsight, choice, out_why, why_bytes);
	}
	if (err && err != -ENOTSUP && !*out_why)
		snprintf(out_why, why_bytes, "%s",
			nsight.database.why ? nsight.database.why : strerror(-err));
	tfs_database_close(&nsight.database);
	return err;
}
