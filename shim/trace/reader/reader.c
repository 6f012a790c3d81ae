/* SPDX-License-Identifier: MIT */
#include "shim/trace/reader/reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

void tfs_reader_damage(struct tfs_trace *trace, uint64_t offset, const char *what)
{
	if (trace->damage_count < TFS_DAMAGES_KEPT)
		trace->damages[trace->damage_count++] = (struct tfs_damage){offset, what};
	trace->summary.damages++;
}

static int refuse(struct tfs_damage *out_damage, uint64_t offset, const char *what, int err)
{
	if (out_damage)
		*out_damage = (struct tfs_damage){offset, what};
	return err;
}

static int check_header(const struct tfs_trace *trace, struct tfs_damage *out)
{
	const struct tfs_file_header *header = &trace->header;

	if (memcmp(header->magic, TFS_MAGIC, sizeof(header->magic)) != 0)
		return refuse(out, 0, "not a tfshim recording", -EBADMSG);
	if (header->version < TFS_FORMAT_OLDEST || header->version > TFS_FORMAT_VERSION)
		return refuse(out, offsetof(struct tfs_file_header, version),
			header->version < TFS_FORMAT_VERSION
				? "recorded by an older tfshim, in a format that is no longer supported: "
				  "record the program again"
				: "recorded by a newer tfshim, in a format that this version does not support: "
				  "use the newer version",
			-EPROTO);
	if (header->header_bytes < sizeof(*header) || header->header_bytes % 64 ||
		header->header_bytes > 1u << 20)
		return refuse(out, offsetof(struct tfs_file_header, header_bytes),
			"the header's length is wrong", -EBADMSG);
	if (header->chunk_bytes <= sizeof(struct tfs_chunk) || header->chunk_bytes % 64 ||
		header->chunk_bytes > 1u << 30)
		return refuse(out, offsetof(struct tfs_file_header, chunk_bytes),
			"the chunk length is wrong", -EBADMSG);
	/* positions in the file are kept as units in 32 bits */
	if (trace->size / TFS_UNIT > UINT32_MAX)
		return refuse(out, 0, "the recording is longer than 128 GiB", -EFBIG);
	return 0;
}

static int read_all(struct tfs_trace *trace, struct tfs_damage *out)
{
	int err;

	if (trace->size < sizeof(trace->header))
		return refuse(out, trace->size, "the file ends inside its header", -EBADMSG);
	memcpy(&trace->header, trace->bytes, sizeof(trace->header));
	err = check_header(trace, out);
	if (err)
		return err;
	trace->header.program[sizeof(trace->header.program) - 1] = 0;
	trace->header.version_text[sizeof(trace->header.version_text) - 1] = 0;
	trace->summary.bytes = trace->size;
	if (!err)
		err = tfs_reader_index(trace);
	if (!err)
		err = tfs_reader_threads(trace);
	if (!err)
		err = tfs_reader_ids(trace);
	if (!err)
		err = tfs_reader_clock(trace);
	if (!err)
		err = tfs_reader_totals(trace);
	return err ? refuse(out, 0, "not enough memory to read the recording", err) : 0;
}

/* Takes `trace` over. */
static int finish_open(
	struct tfs_trace *trace, struct tfs_damage *out_damage, struct tfs_trace **out_trace)
{
	int err = read_all(trace, out_damage);

	if (err) {
		tfs_trace_close(trace);
		return err;
	}
	*out_trace = trace;
	return 0;
}

int tfs_trace_open_memory(
	const void *bytes, size_t size, struct tfs_damage *out_damage, struct tfs_trace **out_trace)
{
	struct tfs_trace *trace = calloc(1, sizeof(*trace));

	if (!trace)
		return refuse(out_damage, 0, "not enough memory", -ENOMEM);
	trace->bytes = bytes;
	trace->size = size;
	if ((uintptr_t)bytes % _Alignof(max_align_t) != 0) {
		trace->mapped = malloc(size + 1);
		if (!trace->mapped) {
			free(trace);
			return refuse(out_damage, 0, "not enough memory", -ENOMEM);
		}
		trace->bytes = memcpy(trace->mapped, bytes, size);
	}
	return finish_open(trace, out_damage, out_trace);
}

static int map_file(const char *path, void **out_mapped, size_t *out_size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat stat;
	void *mapped;
	int err = 0;

	if (fd < 0)
		return -errno;
	if (fstat(fd, &stat) < 0)
		err = -errno;
	else if (!S_ISREG(stat.st_mode))
		err = S_ISDIR(stat.st_mode) ? -EISDIR : -EINVAL;
	else if (stat.st_size == 0)
		err = -ENODATA;
	if (!err) {
		mapped = mmap(NULL, (size_t)stat.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
		if (mapped == MAP_FAILED)
			err = -errno;
	}
	close(fd);
	if (err)
		return err;
	posix_madvise(mapped, (size_t)stat.st_size, POSIX_MADV_SEQUENTIAL);
	*out_mapped = mapped;
	*out_size = (size_t)stat.st_size;
	return 0;
}

int tfs_trace_open(const char *path, struct tfs_damage *out_damage, struct tfs_trace **out_trace)
{
	struct tfs_trace *trace = calloc(1, sizeof(*trace));
	size_t size = 0;
	int err;

	if (!trace)
		return refuse(out_damage, 0, "not enough memory", -ENOMEM);
	err = map_file(path, &trace->mapped, &size);
	if (err) {
		free(trace);
		return refuse(out_damage, 0,
			err == -ENODATA ? "the file is empty" : "the file cannot be opened", err);
	}
	trace->is_map = true;
	trace->bytes = trace->mapped;
	trace->size = size;
	return finish_open(trace, out_damage, out_trace);
}

void tfs_trace_close(struct tfs_trace *trace)
{
	if (!trace)
		return;
	for (unsigned kind = 0; kind < TFS_KINDS; kind++) {
		free(trace->kinds[kind].units);
		free(trace->tables[kind].units);
	}
	free(trace->chunks);
	free(trace->threads);
	free(trace->segments);
	free(trace->totals);
	free(trace->shares);
	if (trace->is_map)
		munmap(trace->mapped, trace->size);
	else
		free(trace->mapped);
	free(trace);
}

const struct tfs_file_header *tfs_trace_header(const struct tfs_trace *trace)
{
	return &trace->header;
}

const struct tfs_trace_summary *tfs_trace_summary(const struct tfs_trace *trace)
{
	return &trace->summary;
}

size_t tfs_trace_damages(const struct tfs_trace *trace, const struct tfs_damage **out_damages)
{
	*out_damages = trace->damages;
	return trace->damage_count;
}
