/* SPDX-License-Identifier: MIT */
/* Areas of a job: each process takes one of its own, and does without where there is none, where
 * the file is another's, or where no more memory may be mapped. */
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "shim/trace/area.h"
#include "tests/test.h"

static char path[64];

static void test_all(void)
{
	struct tfs_area *areas[TFS_AREAS];

	for (uint32_t i = 0; i < TFS_AREAS; i++) {
		areas[i] = tfs_areas_take(path);
		TEST_TRUE(areas[i]);
		for (uint32_t j = 0; j < i; j++)
			TEST_TRUE(areas[i] != areas[j]);
	}
	TEST_TRUE(!tfs_areas_take(path));
	for (uint32_t i = 0; i < TFS_AREAS; i++)
		TEST_EQ(areas[i] ? munmap(areas[i], TFS_AREA_BYTES) : 0, 0);
}

/* Addresses, as many as are used now. */
static void test_no_room(void)
{
	struct rlimit before, none;

	TEST_NEED(getrlimit(RLIMIT_AS, &before) == 0);
	none = before;
	none.rlim_cur = 4096;
	TEST_NEED(setrlimit(RLIMIT_AS, &none) == 0);
	struct tfs_area *const area = tfs_areas_take(path);
	TEST_NEED(setrlimit(RLIMIT_AS, &before) == 0);
	TEST_TRUE(!area);
}

/* A number that is another file's in this process. */
static void test_others(void)
{
	static const char *const others[] = {"/dev/null", "/proc/self/fd/999", "/proc/self/exe"};
	const int plain = memfd_create("plain", MFD_CLOEXEC | MFD_ALLOW_SEALING);
	char name[64];

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		TEST_TRUE(!tfs_areas_take(others[i]));
	TEST_NEED(plain >= 0);
	snprintf(name, sizeof(name), "/proc/self/fd/%d", plain);
	TEST_TRUE(!tfs_areas_take(name));
	TEST_EQ(ftruncate(plain, (off_t)(TFS_AREAS * TFS_AREA_BYTES)), 0);
	TEST_TRUE(!tfs_areas_take(name));
	TEST_EQ(fcntl(plain, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
	TEST_TRUE(!tfs_areas_take(name));
	close(plain);
}

int main(void)
{
	const int fd = tfs_areas_make();

	TEST_NEED(fd >= 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	test_no_room();
	test_others();
	test_all();
	close(fd);
	return test_result();
}
