/* SPDX-License-Identifier: MIT */
#include "reports/support/newest.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/trace/format.h"

static bool read_header(const char *path, struct tfs_file_header *out_header)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

	if (fd < 0)
		return false;
	const ssize_t got = read(fd, out_header, sizeof(*out_header));

	close(fd);
	out_header->program[sizeof(out_header->program) - 1] = '\0';
	return got == (ssize_t)sizeof(*out_header) &&
	       !memcmp(out_header->magic, TFS_MAGIC, sizeof(out_header->magic));
}

static const char *name_of(const struct tfs_file_header *header)
{
	const char *slash = strrchr(header->program, '/');

	return slash ? slash + 1 : header->program;
}

static bool replaces(const struct tfs_file_header *later, const struct tfs_file_header *header)
{
	if (later->start_realtime_ns <= header->start_realtime_ns ||
		strcmp(name_of(later), name_of(header)) != 0)
		return false;
	if (later->run || header->run)
		return later->run != header->run;
	return later->rank == header->rank;
}

bool tfs_newest_find(char *const *paths, size_t count, bool *out_old)
{
	struct tfs_file_header *headers = calloc(count, sizeof(*headers));
	bool *known = calloc(count, sizeof(*known));
	const bool done = headers && known;

	for (size_t i = 0; i < count; i++) {
		out_old[i] = false;
		if (done)
			known[i] = read_header(paths[i], &headers[i]);
	}
	for (size_t i = 0; done && i < count; i++)
		for (size_t j = 0; known[i] && j < count && !out_old[i]; j++)
			out_old[i] = known[j] && replaces(&headers[j], &headers[i]);
	free(headers);
	free(known);
	return done;
}
