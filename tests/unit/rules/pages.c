/* SPDX-License-Identifier: MIT */
/* Memory for long arrays and for what is released at once: zeroed where it says so, and none where
 * a size does not fit. */
#include "rules/support/pages.h"

#include <stdint.h>

#include "rules/support/arena.h"
#include "tests/test.h"

#define LONG ((size_t)9 << 20)

/* Nothing of what lay there before: allocators give released memory again. */
static void check_zeroed(size_t bytes)
{
	/* The second one comes from a heap that is not given back. */
	for (size_t used = 3 * bytes; used >= 2 * bytes; used -= bytes) {
		unsigned char *memory = malloc(used);

		TEST_NEED(memory);
		for (size_t i = 0; i < used; i += 64)
			*(volatile unsigned char *)&memory[i] = 0xa5;
		free(memory);
	}
	unsigned char *zeroed = tfs_pages_zeroed(bytes, 1);
	size_t others = 0;

	TEST_NEED(zeroed);
	for (size_t i = 0; i < bytes; i++)
		others += zeroed[i] != 0;
	TEST_EQ(others, 0);
	free(zeroed);
}

static void check_sizes(void)
{
	/* Four bytes, cut to a size's bits. */
	TEST_TRUE(!tfs_pages_alloc(SIZE_MAX / 4 + 2, 4));
	TEST_TRUE(!tfs_pages_alloc(SIZE_MAX, 1));
	TEST_TRUE(!tfs_pages_zeroed(SIZE_MAX / 4 + 2, 4));
	void *nothing = tfs_pages_alloc(0, 8);

	TEST_TRUE(nothing);
	free(nothing);
}

static void check_pool(void)
{
	struct tfs_arena arena = {0};
	unsigned char *zeroed = tfs_arena_alloc(&arena, 1000, 3);
	size_t others = 0;

	TEST_NEED(zeroed);
	for (size_t i = 0; i < 3000; i++)
		others += zeroed[i] != 0;
	TEST_EQ(others, 0);
	TEST_STR(tfs_arena_print(&arena, "%s of %u", "one", 2u), "one of 2");
	TEST_TRUE(!arena.failed);
	TEST_TRUE(!tfs_arena_alloc(&arena, SIZE_MAX / 4 + 2, 4));
	TEST_TRUE(arena.failed);
	tfs_arena_finish(&arena);
	TEST_TRUE(!arena.blocks);
	arena.failed = false;
	TEST_TRUE(!tfs_arena_alloc(&arena, SIZE_MAX, 1));
	TEST_TRUE(arena.failed);
	tfs_arena_finish(&arena);
}

int main(void)
{
	check_zeroed(1000);
	check_zeroed(LONG);
	check_sizes();
	check_pool();
	return test_result();
}
