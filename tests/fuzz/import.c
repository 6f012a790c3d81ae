/* SPDX-License-Identifier: MIT */
/* Reads any bytes as another tool's recording; what comes of it is a whole recording of ours. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "reports/import/import.h"
#include "tests/unit/scenes/read_all.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void read_made(const void *bytes, size_t size)
{
	struct tfs_timeline *timeline = NULL;
	struct tfs_trace *trace = NULL;

	if (tfs_trace_open_memory(bytes, size, NULL, &trace))
		abort();
	read_all_trace(trace);
	if (tfs_timeline_create(trace, &timeline) == 0) {
		read_all_timeline(timeline);
		tfs_timeline_destroy(timeline);
	}
	tfs_trace_close(trace);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	/* SQLite opens only what has a name; this one is in the fuzzer's own folder. */
	static const char path[] = "import.input";
	const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	void *bytes = NULL;
	size_t made = 0;
	char *why = NULL;

	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	close(fd);
	if (tfs_import(path, &bytes, &made, &why) == 0)
		read_made(bytes, made);
	free(bytes);
	free(why);
	return 0;
}
