/* SPDX-License-Identifier: MIT */
/* Areas in memory that outlives the processes that record in it. */
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shim/trace/area.h"

/* Nobody can cut it short under those who store into it. */
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define ALL_BYTES ((off_t)(TFS_AREAS * TFS_AREA_BYTES))

int tfs_areas_make(void)
{
	struct rlimit limit;

	/* Beyond the limit, there would be a signal. */
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur < (rlim_t)ALL_BYTES)
		return -EFBIG;
	const int fd = memfd_create("tfshim", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	if (fd < 0)
		return -errno;
	if (ftruncate(fd, ALL_BYTES) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		return fd;
	const int err = -errno;
	close(fd);
	return err;
}

static struct tfs_area *map_area(int fd, uint32_t number, size_t bytes, int protection)
{
	void *area = mmap(NULL, bytes, protection, MAP_SHARED | MAP_NORESERVE, fd,
		(off_t)(number * TFS_AREA_BYTES));

	return area == MAP_FAILED ? NULL : area;
}

void tfs_areas_save(int fd)
{
	for (uint32_t i = 0; i < TFS_AREAS; i++) {
		struct tfs_area *area = map_area(fd, i, TFS_AREA_BYTES, PROT_READ | PROT_WRITE);

		if (!area)
			return;
		/* They are taken in their order. */
		const bool taken = atomic_load(&area->owner) != 0;
		if (taken && area->path[0] == '/' && area->header.finished == 0)
			tfs_area_save(area);
		munmap(area, TFS_AREA_BYTES);
		if (!taken)
			return;
	}
}

static bool take(int fd, uint32_t number)
{
	struct tfs_area *area = map_area(fd, number, TFS_AREA_HEAD, PROT_READ | PROT_WRITE);
	uint32_t nobody = 0;

	if (!area)
		return false;
	const bool mine = atomic_compare_exchange_strong(&area->owner, &nobody, (uint32_t)getpid());
	munmap(area, TFS_AREA_HEAD);
	return mine;
}

struct tfs_area *tfs_areas_take(const char *path)
{
	struct tfs_area *area = NULL;
	const int fd = open(path, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		return NULL;
	/* The number may be another process's here. */
	const int seals = fcntl(fd, F_GET_SEALS);
	const bool is_it =
		seals >= 0 && (seals & SEALS) == SEALS && lseek(fd, 0, SEEK_END) == ALL_BYTES;

	for (uint32_t i = 0; is_it && i < TFS_AREAS && !area; i++)
		if (take(fd, i))
			area = map_area(fd, i, TFS_AREA_BYTES, PROT_NONE);
	close(fd);
	return area;
}
