/* SPDX-License-Identifier: MIT */
/* What the user may ask for, and what is made of nonsense. */
#include "shim/base/env.h"

#include <errno.h>
#include <limits.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/base/log.h"
#include "shim/record/recorder.h"
#include "tests/test.h"

static char folder[] = "/tmp/tfshim-unit-XXXXXX";
static char said[64]; /* where standard error goes */
static const struct tfs_options standard = {
#define X(key, field, kind, value, help) .field = (value),
	TFS_OPTIONS(X)
#undef X
};

/* Reads TFSHIM_OPTIONS anew; returns how many lines were said about it. */
static unsigned read_options(const char *text)
{
	unsigned lines = 0;
	int letter;

	TEST_NEED(freopen(said, "w", stderr));
	tfs_options = standard;
	if (text)
		setenv("TFSHIM_OPTIONS", text, 1);
	else
		unsetenv("TFSHIM_OPTIONS");
	tfs_env_read();
	FILE *file = fopen(said, "r");
	TEST_NEED(file);
	while ((letter = fgetc(file)) != EOF)
		lines += letter == '\n';
	fclose(file);
	return lines;
}

static bool says(const char *text)
{
	char line[512];
	bool found = false;
	FILE *file = fopen(said, "r");

	while (file && fgets(line, sizeof(line), file))
		found = found || strstr(line, text);
	if (file)
		fclose(file);
	return found;
}

static void test_options(void)
{
	TEST_EQ(read_options(NULL), 0);
	TEST_EQ(tfs_options.record, TFS_RECORD_WINDOWS);
	TEST_EQ(tfs_options.limit_bytes, 256 << 20);
	TEST_EQ(read_options(""), 0);
	TEST_EQ(read_options("record=all:limit=3m:report=0:window=7"), 0);
	TEST_EQ(tfs_options.record, TFS_RECORD_ALL);
	TEST_EQ(tfs_options.limit_bytes, 3 << 20);
	TEST_EQ(tfs_options.report, 0);
	TEST_EQ(tfs_options.window_steps, 7);
	TEST_EQ(read_options("::record=none::limit=2g:"), 0);
	TEST_EQ(tfs_options.record, TFS_RECORD_NONE);
	TEST_EQ(tfs_options.limit_bytes, INT64_C(2) << 30);
	TEST_EQ(read_options("limit=5k:quiet"), 0);
	TEST_EQ(tfs_options.limit_bytes, 5 << 10);
	TEST_EQ(tfs_options.quiet, 1);
	/* The later one counts. */
	TEST_EQ(read_options("window=1:window=2"), 0);
	TEST_EQ(tfs_options.window_steps, 2);
	TEST_EQ(read_options("step_range=a step"), 0);
	TEST_STR(tfs_env_text(tfs_options.step_range), "a step");
	TEST_STR(tfs_env_text(standard.step_range), "");
}

/* Each is named, changes nothing, and does not keep the others from being read. */
static void test_nonsense(void)
{
	static const char *const bad[] = {"limit=", "limit=m", "limit=5x", "limit=5kk", "limit=-1",
		"limit= 5", "limit=99999999999999999999", "limit=18446744073709551615k", "report=2",
		"report=yes", "record=some", "record=", "window=5k", "window=0x10"};
	char text[400];
	char longest[300];

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		snprintf(text, sizeof(text), "quiet=1:%s:measure=5", bad[i]);
		if (!TEST_EQ(read_options(text), 1) || !TEST_TRUE(says("invalid value")))
			printf("  for %s\n", bad[i]);
		struct tfs_options expected = standard;
		expected.quiet = 1;
		expected.measure = 5;
#define X(key, field, kind, value, help) TEST_EQ(tfs_options.field, expected.field);
		TFS_OPTIONS(X)
#undef X
	}
	TEST_EQ(read_options("limits=5:quiet=1"), 1);
	TEST_TRUE(says("unknown option 'limits'"));
	TEST_EQ(tfs_options.quiet, 1);
	TEST_EQ(read_options("limi=5"), 1);
	memset(longest, 'x', sizeof(longest) - 1);
	longest[sizeof(longest) - 1] = '\0';
	snprintf(text, sizeof(text), "quiet=1:%s:measure=5", longest);
	TEST_EQ(read_options(text), 1);
	TEST_TRUE(says("is too long"));
	TEST_EQ(tfs_options.measure, 5);
	/* Texts have room of their own, which ends. */
	for (int i = 0; i < 3; i++) {
		snprintf(text, sizeof(text), "step_range=%.100s", longest);
		read_options(text);
	}
	TEST_TRUE(says("of 'step_range'; option ignored"));
	TEST_STR(tfs_env_text(tfs_options.step_range), "");
}

static void test_help(void)
{
	const unsigned keys = 0
#define X(key, field, kind, value, help) +1
		TFS_OPTIONS(X)
#undef X
		;
	TEST_EQ(read_options("help=1:limit=7"), keys + 1);
#define X(key, field, kind, value, help) TEST_TRUE(says("  " key " "));
	TFS_OPTIONS(X)
#undef X
	TEST_TRUE(says(" 7 "));
}

static void test_variables(void)
{
	setenv("TFSHIM_LOG", "warn", 1);
	TEST_EQ(read_options(NULL), 0);
	TEST_EQ(tfs_log_limit, TFS_LOG_WARN);
	setenv("TFSHIM_LOG", "loud", 1);
	TEST_EQ(read_options(NULL), 1);
	TEST_EQ(tfs_log_limit, TFS_LOG_WARN);
	unsetenv("TFSHIM_LOG");
	TEST_STR(tfs_options.rewrite, "safe");
	TEST_TRUE(!tfs_options.disabled && tfs_options.rank == 0 && tfs_options.ranks == 1);
	/* What a batch script starts by itself is one process, whatever the job asked for. */
	setenv("SLURM_PROCID", "0", 1);
	setenv("SLURM_NTASKS", "4", 1);
	TEST_EQ(read_options(NULL), 0);
	TEST_EQ(tfs_options.ranks, 1);
	setenv("SLURM_STEP_NUM_TASKS", "4", 1);
	TEST_EQ(read_options(NULL), 0);
	TEST_EQ(tfs_options.ranks, 4);
	/* The first that holds a number. */
	setenv("SLURM_PROCID", "9", 1);
	setenv("OMPI_COMM_WORLD_RANK", "3", 1);
	setenv("RANK", "none", 1);
	setenv("WORLD_SIZE", "16", 1);
	setenv("TFSHIM_REWRITE", "", 1);
	setenv("TFSHIM_DISABLE", "0", 1);
	TEST_EQ(read_options(NULL), 0);
	TEST_EQ(tfs_options.rank, 3);
	TEST_EQ(tfs_options.ranks, 16);
	TEST_STR(tfs_options.rewrite, "safe");
	TEST_TRUE(!tfs_options.disabled);
	setenv("TFSHIM_RANK", "5", 1);
	setenv("TFSHIM_DISABLE", "1", 1);
	setenv("TFSHIM_REWRITE", "off", 1);
	read_options(NULL);
	TEST_EQ(tfs_options.rank, 5);
	TEST_TRUE(tfs_options.disabled);
	TEST_STR(tfs_options.rewrite, "off");
	setenv("TFSHIM_DISABLE", "", 1);
	read_options(NULL);
	TEST_TRUE(!tfs_options.disabled);
}

/* The program is this one: unit-env. */
static void test_process(void)
{
	static const struct {
		const char *pattern;
		bool on;
	} cases[] = {{"", true}, {"unit-env", true}, {"*", true}, {"unit*", true}, {"*env", true},
		{"u?it-*n?", true}, {"*t-*v*", true}, {"env", false}, {"unit-env?", false},
		{"unit", false}, {"python3*", false}, {"*x*", false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		setenv("TFSHIM_PROCESS", cases[i].pattern, 1);
		read_options(NULL);
		if (!TEST_EQ(tfs_options.disabled, !cases[i].on))
			printf("  for '%s'\n", cases[i].pattern);
	}
	unsetenv("TFSHIM_PROCESS");
}

/* What NCCL says goes before the launchers' variables, and not before what was stated. */
static void test_ranks(void)
{
	unsetenv("TFSHIM_RANK");
	setenv("RANK", "3", 1);
	unsetenv("WORLD_SIZE");
	read_options(NULL);
	TEST_EQ(tfs_options.rank, 3);
	tfs_recorder_rank(6);
	TEST_EQ(tfs_options.rank, 6);
	setenv("TFSHIM_RANK", "4", 1);
	setenv("WORLD_SIZE", "8", 1);
	read_options(NULL);
	tfs_recorder_rank(6);
	TEST_EQ(tfs_options.rank, 4);
	tfs_env_ranks(16);
	TEST_EQ(tfs_options.ranks, 16);
	tfs_env_ranks(1);
	TEST_EQ(tfs_options.ranks, 8);
}

/* Asked once per process. */
static void expect_driver(const char *options, const char *disabled, bool on)
{
	int status = -1;

	fflush(stdout);
	const pid_t child = fork();
	if (child == 0) {
		setenv("TFSHIM_OPTIONS", options, 1);
		setenv("TFSHIM_DISABLE", disabled, 1);
		const bool first = tfs_env_driver();
		setenv("TFSHIM_OPTIONS", on ? "driver=0" : "driver=1", 1);
		_exit(first != on || tfs_env_driver() != on);
	}
	TEST_EQ(waitpid(child, &status, 0), child);
	if (!TEST_EQ(status, 0))
		printf("  for '%s'\n", options);
}

/* What comes of a pattern; NULL: it is refused. */
static const char *output(const char *pattern)
{
	static char path[PATH_MAX];

	tfs_options.output = pattern;
	return tfs_env_output(path, sizeof(path)) == 0 ? path : NULL;
}

static void test_output(void)
{
	char text[PATH_MAX + 100];
	char expected[PATH_MAX + 200];
	char here[PATH_MAX];
	struct stat status;

	TEST_NEED(chdir(folder) == 0 && getcwd(here, sizeof(here)));
	tfs_options.rank = 7;
	snprintf(expected, sizeof(expected), "%s/a/b/unit-env-r7-%d%%", here, (int)getpid());
	TEST_STR(output("a/b/%e-r%r-%p%%"), expected);
	expected[strlen(expected) - 1] = '\0';
	TEST_STR(output("a/b/"), expected);
	TEST_TRUE(stat("a/b", &status) == 0 && S_ISDIR(status.st_mode));
	snprintf(text, sizeof(text), "%s/absolute", folder);
	TEST_STR(output(text), text);
	setenv("TFS_TEST_NAME", "chosen", 1);
	snprintf(expected, sizeof(expected), "%s/x-chosen-", here);
	TEST_STR(output("x-%q{TFS_TEST_NAME}-%q{TFS_TEST_NONE}"), expected);
	snprintf(expected, sizeof(expected), "%s/y1", here);
	TEST_STR(output("y%n"), expected);
	fclose(fopen("y1.tfs", "w"));
	fclose(fopen("y2.tfs", "w"));
	snprintf(expected, sizeof(expected), "%s/y3", here);
	TEST_STR(output("y%n"), expected);
	TEST_TRUE(!output("y%z") && !output("y%") && !output("%q{OPEN") && !output("%q"));
	memset(text, 'x', sizeof(text) - 1);
	text[sizeof(text) - 1] = '\0';
	TEST_TRUE(!output(text));
	setenv("TFS_TEST_NAME", text, 1);
	TEST_TRUE(!output("%q{TFS_TEST_NAME}"));
	TEST_TRUE(output("%t") && strlen(output("%t")) == strlen(here) + 17);
	TEST_TRUE(output("%h") && strlen(output("%h")) > strlen(here) + 1);
	/* A name that is taken: by the time, and then by a number too. */
	strcpy(text, "x");
	tfs_env_output_apart(text, sizeof(text), 1);
	TEST_EQ(strlen(text), strlen("x-20260102T030405Z"));
	strcpy(text, "x");
	tfs_env_output_apart(text, sizeof(text), 2);
	TEST_EQ(strlen(text), strlen("x-20260102T030405Z-2"));
	TEST_STR(text + strlen(text) - 2, "-2");
	unlink("y1.tfs");
	unlink("y2.tfs");
	rmdir("a/b");
	rmdir("a");
}

int main(void)
{
	static const char *const variables[] = {"TFSHIM_LOG", "TFSHIM_PROCESS", "TFSHIM_DISABLE",
		"TFSHIM_OUTPUT", "TFSHIM_REWRITE", "TFSHIM_RANK", "RANK", "PMIX_RANK", "PMI_RANK",
		"PMI_SIZE", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_STEP_NUM_TASKS",
		"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "WORLD_SIZE"};

	TEST_NEED(mkdtemp(folder));
	snprintf(said, sizeof(said), "%s/said", folder);
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		unsetenv(variables[i]);
	test_options();
	test_nonsense();
	test_help();
	test_variables();
	expect_driver("", "", true);
	expect_driver("driver=0", "", false);
	expect_driver("limit=5:driver=0:quiet=1", "0", false);
	expect_driver("driver=0:driver=1", "", true);
	expect_driver("nodriver=0:driver=00", "", true);
	expect_driver("driver=0:driver=x", "", false);
	expect_driver("driver=0:driver", "", true);
	expect_driver("driver=0:drivers=1:driver:", "", true);
	expect_driver("driver=0:drive=1", "", false);
	expect_driver("\xc3\xbc=1:driver=0", "", false);
	expect_driver("driver=1", "1", false);
	test_process();
	test_ranks();
	test_output();
	unlink(said);
	TEST_EQ(rmdir(folder), 0);
	return test_result();
}
