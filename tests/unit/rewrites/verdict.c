/* SPDX-License-Identifier: MIT */
/* What runs tell each other about rewrites: the lines, the file, and what may lie in its place. */
#include "shim/rewrites/measure/verdicts_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/test.h"

static char text[TFS_VERDICTS_BYTES];

static void test_lines(void)
{
	static const char *const wrong[] = {TFS_VERDICTS_HEAD, "", "\n", "a", "a faster",
		"a faster 1 2 3", "a won 1 2 3 1 1 8 0 0", "a faster 1 2 3 1 33 8 0 0",
		"a faster 1 2 3 1 1 65 0 0", "a faster 1 2 3 1 1 8 0 0 5",
		"a faster 1 2 3 1 1 8 -1 0", "a faster 1 2 x 1 1 8 0 0",
		"a undecided 0 0 0 1 1 3 0 0 5 6", "a undecided 0 0 0 1 1 64 0 0",
		"a faster 1 2 99999999999999999999 1 1 8 0 0", "a faster 1 2 3 1 1 8 0 nan",
		"a-name-that-is-far-too-long-to-be-one faster 1 2 3 1 1 8 0 0"};
	const struct tfs_proof decided = {.name = "staging",
		.outcome = TFS_OUTCOME_NO_DIFFERENCE,
		.gain = {-1200, -2000, 300},
		.ranks = 4,
		.period = 7,
		.pairs = 64,
		.step_ns = 1e6,
		.step_bytes = 4096};
	struct tfs_proof open = {.name = "pool", .ranks = 1, .period = 1, .pairs = 63}, read;
	char line[TFS_VERDICT_LINE];

	TEST_TRUE(tfs_verdict_write(&decided, line, sizeof(line)) > 0);
	TEST_STR(line, "staging no-difference -1200 -2000 300 4 7 64 1000000 4096\n");
	TEST_TRUE(tfs_verdict_read(&read, line));
	TEST_EQ(memcmp(&read, &decided, sizeof(read)), 0);
	for (uint32_t i = 0; i < 63; i++)
		open.gains[i] = i % 2 == 0 ? 1e15 : -1e15;
	TEST_TRUE(tfs_verdict_write(&open, line, sizeof(line)) > 0);
	TEST_TRUE(tfs_verdict_read(&read, line));
	TEST_EQ(memcmp(&read, &open, sizeof(read)), 0);
	TEST_EQ(tfs_verdict_write(&open, line, 1000), 0);
	for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
		if (!TEST_TRUE(!tfs_verdict_read(&read, wrong[i])))
			printf("  of: %s\n", wrong[i]);
}

static unsigned verdicts, faster;

static void count(const struct tfs_proof *verdict, void *context)
{
	(void)context;
	verdicts++;
	faster += verdict->outcome == TFS_OUTCOME_FASTER;
}

static void expect(const char *path, unsigned all, unsigned won)
{
	verdicts = faster = 0;
	TEST_EQ(tfs_verdicts_load(path, text), 0);
	TEST_TRUE(tfs_verdicts_each(text, count, NULL));
	TEST_EQ(verdicts, all);
	TEST_EQ(faster, won);
}

static void test_file(const char *folder)
{
	struct tfs_proof two[2] = {{.name = "a", .ranks = 1}, {.name = "b", .ranks = 1}};
	struct stat status;
	char path[200], other[200];

	snprintf(path, sizeof(path), "%s/p.verdicts", folder);
	snprintf(other, sizeof(other), "%s/other", folder);
	TEST_EQ(tfs_verdicts_load(path, text), -ENOENT);
	TEST_EQ(tfs_verdicts_save(path, two, 2), 0);
	expect(path, 2, 0);
	two[0].outcome = TFS_OUTCOME_FASTER;
	TEST_EQ(tfs_verdicts_save(path, two, 1), 0);
	expect(path, 2, 1);
	two[0].ranks = 8;
	TEST_EQ(tfs_verdicts_save(path, two, 1), 0);
	expect(path, 3, 2);
	/* A link is not followed, a pipe not waited for, what is another's left alone. */
	TEST_EQ(rename(path, other), 0);
	TEST_EQ(symlink(other, path), 0);
	TEST_EQ(tfs_verdicts_load(path, text), -EINVAL);
	TEST_EQ(tfs_verdicts_save(path, two, 2), -EINVAL);
	TEST_TRUE(lstat(path, &status) == 0 && S_ISLNK(status.st_mode));
	expect(other, 3, 2);
	unlink(path);
	TEST_EQ(mkfifo(path, 0600), 0);
	TEST_EQ(tfs_verdicts_load(path, text), -EINVAL);
	TEST_EQ(tfs_verdicts_save(path, two, 2), -EINVAL);
	unlink(path);
	const int file = open(path, O_WRONLY | O_CREAT, 0600);
	TEST_EQ(write(file, "mine\n", 5), 5);
	close(file);
	TEST_EQ(tfs_verdicts_save(path, two, 2), -EINVAL);
	TEST_TRUE(stat(path, &status) == 0 && status.st_size == 5);
	unlink(path);
	TEST_TRUE(tfs_verdicts_save("/nowhere/p.verdicts", two, 2) < 0);
	unlink(other);
	TEST_EQ(rmdir(folder), 0);
}

/* More than there is room for: those that are new, then as many as go in. */
static void test_full(void)
{
	static char old[TFS_VERDICTS_BYTES], merged[TFS_VERDICTS_BYTES];
	struct tfs_proof one = {.name = "new", .ranks = 1};
	size_t used = (size_t)sprintf(old, "%s", TFS_VERDICTS_HEAD);

	for (unsigned i = 0; used < sizeof(old) - 100; i++)
		used += (size_t)sprintf(old + used, "old-%u faster 1 2 3 1 1 8 0 0\n", i);
	tfs_verdicts_merge(old, &one, 1, merged, sizeof(merged));
	verdicts = 0;
	TEST_TRUE(strlen(merged) < sizeof(merged));
	TEST_TRUE(merged[strlen(merged) - 1] == '\n');
	TEST_TRUE(tfs_verdicts_each(merged, count, NULL));
	TEST_TRUE(verdicts > 1000);
}

int main(void)
{
	char folder[] = "/tmp/verdict-XXXXXX";

	test_lines();
	test_full();
	TEST_TRUE(mkdtemp(folder));
	test_file(folder);
	return test_result();
}
