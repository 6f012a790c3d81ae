/* SPDX-License-Identifier: MIT */
/* Which of what is copied to the device is looked at, and how much of it. */
#include "shim/contents/contents.h"

#include <errno.h>
#include <sys/mman.h>

#include "tests/test.h"

enum { LARGE = 1 << 20, LONGER = 17 << 20 };

static struct tfs_contents contents;

static void *target(unsigned nth)
{
	return (void *)(uintptr_t)(0x7f0000000000 + nth * (uint64_t)LONGER);
}

static bool look(unsigned nth, const void *source, size_t bytes, struct tfs_content *out)
{
	*out = (struct tfs_content){0};
	return tfs_contents_look(&contents, target(nth), source, bytes, out);
}

static void check_small(char *bytes)
{
	struct tfs_content one, other;

	TEST_TRUE(look(0, bytes, TFS_CONTENTS_WHOLE, &one) && one.whole && !one.sample);
	bytes[100] ^= 1;
	TEST_TRUE(look(0, bytes, TFS_CONTENTS_WHOLE, &other) && other.whole != one.whole);
	bytes[100] ^= 1;
	TEST_TRUE(look(1, bytes, TFS_CONTENTS_WHOLE, &other) && other.whole == one.whole);
	TEST_TRUE(!look(0, bytes, 0, &one));
}

/* All bytes only where the places are the same again, four times and then seldom. */
static void check_large(char *bytes)
{
	struct tfs_content first, next, changed;

	TEST_TRUE(look(2, bytes, LARGE, &first) && first.sample && !first.whole);
	for (unsigned i = 0; i < TFS_CONTENTS_PROOFS; i++) {
		bytes[LARGE / 2 + 50000] ^= 1;
		TEST_TRUE(
			look(2, bytes, LARGE, &next) && next.sample == first.sample && next.whole);
		TEST_TRUE(i == 0 || next.whole != changed.whole);
		changed = next;
	}
	for (unsigned i = TFS_CONTENTS_PROOFS + 1; i <= TFS_CONTENTS_EVERY; i++)
		TEST_TRUE(look(2, bytes, LARGE, &next) && next.sample == first.sample &&
			  !next.whole == (i < TFS_CONTENTS_EVERY));
	bytes[LARGE - 1] ^= 1;
	TEST_TRUE(look(2, bytes, LARGE, &next) && next.sample != first.sample);
	bytes[LARGE - 1] ^= 1;
	TEST_TRUE(look(3, bytes, LARGE, &next) && !next.whole);
	/* Another window. */
	tfs_contents_open();
	TEST_TRUE(look(2, bytes, LARGE, &next) && !next.whole);
	TEST_TRUE(look(2, bytes, LARGE, &next) && next.whole);
}

/* Neither by the address nor by the size alone. */
static void check_apart(const char *bytes)
{
	const uint64_t one = (uint64_t)(uintptr_t)target(30);
	const struct {
		uint64_t target;
		size_t bytes;
		bool known;
	} looks[] = {{one, LARGE, false}, {one ^ LARGE ^ 2 * LARGE, 2 * LARGE, false},
		{one, 2 * LARGE, false}, {one ^ LARGE ^ 2 * LARGE, LARGE, false},
		{one, LARGE, true}, {one, 2 * LARGE, true}};

	tfs_contents_open();
	for (size_t i = 0; i < sizeof(looks) / sizeof(looks[0]); i++) {
		struct tfs_content content = {0};

		TEST_TRUE(tfs_contents_look(&contents, (void *)(uintptr_t)looks[i].target, bytes,
			looks[i].bytes, &content));
		TEST_EQ(content.whole != 0, looks[i].known);
	}
}

/* What places say of zeros is proven by all of them. */
static void check_pattern(char *zeros)
{
	struct tfs_content content;

	TEST_TRUE(look(4, zeros, LARGE, &content) && content.whole && content.pattern == 1);
	zeros[LARGE / 2 + 50000] = 1;
	TEST_TRUE(look(4, zeros, LARGE, &content) && content.whole && !content.pattern);
	zeros[LARGE / 2 + 50000] = 0;
}

static void check_faults(const char *zeros)
{
	char *hole = mmap(NULL, 2 * LARGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	struct tfs_content content;

	errno = ENOTTY;
	TEST_TRUE(hole != MAP_FAILED);
	TEST_TRUE(!look(5, hole, 64, &content) && !look(5, hole, LARGE, &content));
	TEST_TRUE(!look(5, zeros + LONGER - 8, 64 << 20, &content));
	TEST_TRUE(errno == ENOTTY);
}

static void check_limits(const char *zeros)
{
	struct tfs_content content;
	unsigned wholes = 0, looked = 0;

	tfs_contents_open();
	TEST_TRUE(look(6, zeros, LONGER, &content) && content.pattern == 1 && !content.whole);
	for (unsigned i = 7; i < 20; i++)
		wholes += look(i, zeros, TFS_CONTENTS_LONGEST, &content) && content.whole;
	TEST_TRUE(wholes == TFS_CONTENTS_BYTES / TFS_CONTENTS_LONGEST);
	tfs_contents_open();
	while (looked < 2 * TFS_CONTENTS_UPLOADS && look(0, zeros, 8, &content))
		looked++;
	TEST_TRUE(looked == TFS_CONTENTS_UPLOADS);
	TEST_TRUE(!tfs_contents_left());
	tfs_contents_open();
	TEST_TRUE(tfs_contents_left() && look(0, zeros, 8, &content));
}

int main(void)
{
	char *bytes = malloc(2 * LARGE), *zeros = calloc(1, LONGER);

	if (!bytes || !zeros)
		return 1;
	for (unsigned i = 0; i < 2 * LARGE; i++)
		bytes[i] = (char)(i * 2654435761u >> 13);
	TEST_TRUE(!tfs_contents_left());
	tfs_contents_open();
	check_small(bytes);
	check_large(bytes);
	check_apart(bytes);
	check_pattern(zeros);
	check_faults(zeros);
	check_limits(zeros);
	free(bytes);
	free(zeros);
	return test_result();
}
