/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/measure_file.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "shim/base/log.h"
#include "shim/record/recorder.h"
#include "shim/rewrites/measure/verdicts_file.h"
#include "shim/rewrites/rewrite.h"

static char found[TFS_VERDICTS_BYTES]; /* the file's text */

struct reading {
	uint32_t ranks;
	uint32_t switchable;
	void (*take)(uint32_t i, const struct tfs_proof *verdict);
};

static bool find_path(char *out, size_t bytes)
{
	const char *program = strrchr(tfs_recording.header->program, '/');
	const char *slash = strrchr(tfs_recording.path, '/');

	return program && slash &&
	       (size_t)snprintf(out, bytes, "%.*s/%s.verdicts", (int)(slash - tfs_recording.path),
		       tfs_recording.path, program + 1) < bytes;
}

static void pass_on(const struct tfs_proof *verdict, void *context)
{
	const struct reading *reading = context;

	if (verdict->ranks != reading->ranks)
		return;
	for (uint32_t left = reading->switchable; left != 0; left &= left - 1) {
		const uint32_t i = (uint32_t)__builtin_ctz(left);

		if (strcmp(tfs_rewrite_name(i), verdict->name) == 0)
			reading->take(i, verdict);
	}
}

void tfs_measure_file_fetch(void)
{
	char path[PATH_MAX];

	if (!find_path(path, sizeof(path)))
		return;
	const int err = tfs_verdicts_load(path, found);
	if (err && err != -ENOENT)
		tfs_log(TFS_LOG_WARN, "%s is not a tfshim verdicts file: not used", path);
}

void tfs_measure_file_read(uint32_t ranks, uint32_t switchable,
	void (*take)(uint32_t i, const struct tfs_proof *verdict))
{
	static char text[TFS_VERDICTS_BYTES];
	struct reading reading = {.ranks = ranks, .switchable = switchable, .take = take};

	/* What is read is changed. */
	memcpy(text, found, sizeof(text));
	tfs_verdicts_each(text, pass_on, &reading);
}

void tfs_measure_file_write(const struct tfs_proof *verdicts, uint32_t count)
{
	char path[PATH_MAX];

	if (count > 0 && find_path(path, sizeof(path)) &&
		tfs_verdicts_save(path, verdicts, count) != 0)
		tfs_log(TFS_LOG_WARN, "%s cannot be written", path);
}
