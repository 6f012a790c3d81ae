/* SPDX-License-Identifier: MIT */
#include "reports/support/newest.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "shim/trace/format/format.h"

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

static void find_later(const struct tfs_file_header *headers, const bool *known, size_t count,
	size_t which, struct tfs_later *out_later)
{
	const struct tfs_file_header *own = &headers[which];

	for (size_t i = 0; i < count; i++) {
		if (!known[i] || !replaces(&headers[i], own))
			continue;
		if (!strcmp(headers[i].program, own->program))
			*out_later = (struct tfs_later){.same_path = true};
		else if (!out_later->same_path &&
			 (!out_later->other_path ||
				 headers[i].start_realtime_ns >
					 headers[out_later->other_last].start_realtime_ns))
			*out_later = (struct tfs_later){.other_path = true, .other_last = i};
	}
}

bool tfs_newest_find(char *const *paths, size_t count, struct tfs_later *out_later)
{
	struct tfs_file_header *headers = calloc(count, sizeof(*headers));
	bool *known = calloc(count, sizeof(*known));
	const bool done = headers && known;

	for (size_t i = 0; i < count; i++) {
		out_later[i] = (struct tfs_later){0};
		if (done)
			known[i] = read_header(paths[i], &headers[i]);
	}
	for (size_t i = 0; done && i < count; i++)
		if (known[i])
			find_later(headers, known, count, i, &out_later[i]);
	free(headers);
	free(known);
	return done;
}
