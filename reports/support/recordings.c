/* SPDX-License-Identifier: MIT */
#include "reports/support/recordings.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <inttypes.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "reports/support/must.h"
#include "shim/trace/format/format.h"

#define MOST_DEPTH 3 /* of folders below the fixed part of the pattern */

static uint64_t draw(void)
{
	struct timespec now;
	uint64_t number;
	if (getrandom(&number, sizeof(number), GRND_NONBLOCK) == (ssize_t)sizeof(number) && number)
		return number;
	clock_gettime(CLOCK_REALTIME, &now);
	return (uint64_t)now.tv_sec << 30 ^ (uint64_t)now.tv_nsec ^ (uint64_t)getpid() << 48;
}

void tfs_recordings_start(struct tfs_recordings *recordings, const char *pattern)
{
	char number[24];
	if (!pattern || !*pattern)
		pattern = TFS_RECORDINGS_PATTERN;
	memset(recordings, 0, sizeof(*recordings));
	recordings->run = draw();
	snprintf(number, sizeof(number), "%" PRIx64, recordings->run);
	setenv("TFSHIM_RUN", number, 1);
	/* What stands before the first field is the same for all processes. */
	size_t fixed = strcspn(pattern, "%");
	while (fixed && pattern[fixed - 1] != '/')
		fixed--;
	char *folder = strndup(fixed ? pattern : "./", fixed ? fixed : 2);
	recordings->folder = folder ? realpath(folder, NULL) : NULL;
	if (!recordings->folder)
		recordings->folder = folder;
	else
		free(folder);
}

long tfs_recordings_own_rank(void)
{
	static const char *const names[] = {"TFSHIM_RANK", "RANK", "OMPI_COMM_WORLD_RANK",
		"PMIX_RANK", "PMI_RANK", "SLURM_PROCID"};
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const char *text = getenv(names[i]);
		if (text && isdigit((unsigned char)*text))
			return strtol(text, NULL, 10);
	}
	return -1;
}

/* nftw() has no argument for its callback. */
static struct tfs_recordings *filling;

/* Another process may have its number by now, or had it all along, outside its container. */
static bool is_another(const struct tfs_file_header *header)
{
	char path[48];
	char program[PATH_MAX] = "";
	snprintf(path, sizeof(path), "/proc/%u/exe", header->pid);
	return readlink(path, program, sizeof(program) - 1) < 0 ||
	       strncmp(program, header->program,
		       strnlen(header->program, sizeof(header->program))) != 0;
}

/* One that was killed and whose parent has not asked for its status is over as well. */
static bool is_over(const struct tfs_file_header *header)
{
	const pid_t pid = (pid_t)header->pid;
	char path[48];
	char text[512] = "";
	if (kill(pid, 0) || is_another(header))
		return true;
	snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
	FILE *file = fopen(path, "re");
	if (!file)
		return errno == ENOENT;
	size_t got = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[got] = '\0';
	const char *name_end = strrchr(text, ')');
	return name_end && (!strncmp(name_end, ") Z", 3) || !strncmp(name_end, ") X", 3));
}

static bool is_ours(const char *path)
{
	struct tfs_file_header header;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return false;
	ssize_t got = read(fd, &header, sizeof(header));
	close(fd);
	if (got != (ssize_t)sizeof(header) || memcmp(header.magic, TFS_MAGIC, sizeof(header.magic)))
		return false;
	long rank = tfs_recordings_own_rank();
	if (header.run != filling->run || (rank >= 0 && header.rank != (uint32_t)rank))
		return false;
	if (header.finished || is_over(&header))
		return true;
	filling->running++;
	return false;
}

static int visit(const char *path, const struct stat *about, int type, struct FTW *where)
{
	size_t length = strlen(path);
	(void)about;
	if (type == FTW_D && where->level >= MOST_DEPTH)
		return FTW_SKIP_SUBTREE;
	if (type != FTW_F || length < 5 || strcmp(path + length - 4, ".tfs") || !is_ours(path))
		return FTW_CONTINUE;
	filling->paths = tfs_must_grow(filling->paths, filling->count, sizeof(*filling->paths));
	filling->paths[filling->count] = strdup(path);
	if (filling->paths[filling->count])
		filling->count++;
	return FTW_CONTINUE;
}

size_t tfs_recordings_find(struct tfs_recordings *recordings)
{
	if (!recordings->folder)
		return 0;
	filling = recordings;
	nftw(recordings->folder, visit, 8, FTW_PHYS | FTW_ACTIONRETVAL);
	return recordings->count;
}

void tfs_recordings_finish(struct tfs_recordings *recordings)
{
	for (size_t i = 0; i < recordings->count; i++)
		free(recordings->paths[i]);
	free(recordings->paths);
	free(recordings->folder);
	memset(recordings, 0, sizeof(*recordings));
}
