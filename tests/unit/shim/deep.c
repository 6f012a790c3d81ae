/* SPDX-License-Identifier: MIT */
/* Libraries that are opened with RTLD_DEEPBIND, and which of them are told; and the driver, which
 * stays: deep CUDA-RUNTIME */
#include "shim/resolve/deep.h"

#include <dlfcn.h>

#include "shim/resolve/open.h"
#include "tests/test.h"

static void check_driver(void)
{
	TEST_EQ(tfs_open_flags("libcuda.so.1", RTLD_NOW), RTLD_NOW | RTLD_NODELETE);
	TEST_EQ(tfs_open_flags("/one/libcuda.so", RTLD_LAZY), RTLD_LAZY | RTLD_NODELETE);
	TEST_EQ(tfs_open_flags("libcudart.so.13", RTLD_NOW), RTLD_NOW);
	TEST_EQ(tfs_open_flags("/libcuda.so.1/libother.so", RTLD_NOW), RTLD_NOW);
	TEST_EQ(setenv("TFSHIM_DISABLE", "1", 1), 0);
	TEST_EQ(tfs_open_flags("libcuda.so.1", RTLD_NOW), RTLD_NOW);
	TEST_EQ(unsetenv("TFSHIM_DISABLE"), 0);
}

int main(int count, char **words)
{
	const int flags = RTLD_NOW | RTLD_DEEPBIND;
	const char *runtime;
	uint32_t place = 0;

	TEST_NEED(count == 2 && (runtime = strrchr(words[1], '/')));
	TEST_TRUE(!tfs_deep_any());
	TEST_TRUE(!tfs_deep_next(&place));
	TEST_EQ(tfs_open_flags(NULL, flags), flags);
	check_driver();
	TEST_TRUE(!tfs_deep_any());
	/* Whichever way their names sort, and once each. */
	TEST_EQ(tfs_open_flags("/one/libz_data.so", flags), flags);
	TEST_EQ(tfs_deep_flags("/one/liba_data.so", flags), flags);
	TEST_EQ(tfs_deep_flags(words[1], flags), flags);
	TEST_EQ(tfs_deep_flags("/other/liba_data.so", flags), flags);
	TEST_STR(tfs_deep_any(), "libz_data.so");
	/* Of those, the one that is there and asks for functions by name. */
	TEST_NEED(dlopen(words[1], RTLD_NOW));
	TEST_STR(tfs_deep_next(&place), runtime + 1);
	TEST_EQ(place, 3);
	TEST_TRUE(!tfs_deep_next(&place));
	TEST_EQ(place, 3);
	return test_result();
}
