/* SPDX-License-Identifier: MIT */
/* Where an interpreter says that its frames are: taken as it says, or not at all. */
#include "shim/python/layout.h"

#include "tests/test.h"

#define VERSION (3u << 24 | 13u << 16)

/* Cookie, version, whether there is no global lock, and 3.13's words: those of a frame are 26
 * to 30. */
static struct {
	char cookie[8];
	uint64_t version, free_threaded, words[100];
} runtime = {.cookie = "xdebugpy", .version = VERSION};

static bool is_known(uint64_t previous, uint64_t executable, uint64_t instruction, uint64_t owner,
	struct tfs_python_layout *out)
{
	runtime.words[26] = previous;
	runtime.words[27] = executable;
	runtime.words[28] = instruction;
	runtime.words[30] = owner;
	return tfs_python_layout(VERSION, &runtime, sizeof(runtime), out);
}

int main(void)
{
	struct tfs_python_layout layout;

	TEST_TRUE(is_known(8, 0, 56, 70, &layout));
	TEST_EQ(layout.frame.previous, 8);
	TEST_EQ(layout.frame.instruction, 56);
	TEST_EQ(layout.frame.bytes, 78);
	/* All of a frame has to lie within what is copied of it. */
	TEST_TRUE(is_known(8, 0, 56, TFS_PYTHON_FRAME_BYTES - 8, &layout));
	TEST_TRUE(!is_known(8, 0, 56, TFS_PYTHON_FRAME_BYTES - 7, &layout));
	TEST_TRUE(!is_known(0xfffc, 0, 56, 70, &layout));
	runtime.free_threaded = 1;
	TEST_TRUE(!is_known(8, 0, 56, 70, &layout));
	runtime.free_threaded = 0;
	runtime.cookie[0] = 'y';
	TEST_TRUE(!is_known(8, 0, 56, 70, &layout));
	return test_result();
}
