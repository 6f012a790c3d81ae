/* SPDX-License-Identifier: MIT */
/* Reads any bytes as another tool's recording; what comes of it is a whole recording of ours. */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "reports/import/import.h"
#include "tests/unit/read_all.h"

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
	const int fd = memfd_create("trace.json", MFD_CLOEXEC);
	void *bytes = NULL;
	size_t made = 0;
	char path[64];
	char *why = NULL;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (fd < 0 || write(fd, data, size) != (ssize_t)size)
		abort();
	if (tfs_import(path, &bytes, &made, &why) == 0)
		read_made(bytes, made);
	free(bytes);
	free(why);
	close(fd);
	return 0;
}
