/* SPDX-License-Identifier: MIT */
/* What TFSHIM_REWRITE switches on, by sets, by names and by modes. */
#include "shim/rewrites/rewrite_modes.h"

#include "tests/test.h"

static const struct tfs_rewrite exact = {.name = "exact-one", .class = TFS_CLASS_EXACT},
				named = {.name = "named",
					.class = TFS_CLASS_EXACT,
					.by_name = true},
				rounding = {.name = "rounding", .class = TFS_CLASS_ROUNDING},
				reduced = {.name = "reduced", .class = TFS_CLASS_REDUCED};
static const struct tfs_rewrite *const rewrites[] = {&exact, &named, &rounding, &reduced, NULL};

static char unknown[100];

static void note_unknown(const char *word, int length)
{
	snprintf(unknown + strlen(unknown), sizeof(unknown) - strlen(unknown), "<%.*s>", length,
		word);
}

/* Their modes in the order above, by first letter, and the words that mean nothing. */
static const char *modes_of(const char *text)
{
	static char line[120];
	_Atomic enum tfs_rewrite_mode modes[4] = {TFS_MODE_OFF};

	*unknown = '\0';
	tfs_rewrite_modes(text, rewrites, modes, note_unknown);
	for (int i = 0; i < 4; i++)
		line[i] = "-rsa"[modes[i]];
	snprintf(line + 4, sizeof(line) - 4, "%s%s", *unknown != '\0' ? " " : "", unknown);
	return line;
}

int main(void)
{
	TEST_STR(modes_of(""), "----");
	TEST_STR(modes_of("off"), "----");
	TEST_STR(modes_of("report"), "rrr-");
	TEST_STR(modes_of("exact"), "a---");
	TEST_STR(modes_of("safe"), "a-a-");
	TEST_STR(modes_of("all"), "aaa-");
	/* What gives less exact results is on only when it is named itself. */
	TEST_STR(modes_of("reduced"), "---a");
	TEST_STR(modes_of("all,reduced=shadow"), "aaas");
	TEST_STR(modes_of("exact,named"), "aa--");
	TEST_STR(modes_of("safe,exact-one=off,rounding=report"), "--r-");
	TEST_STR(modes_of("named=apply"), "-a--");
	/* A later word overrules. */
	TEST_STR(modes_of("named,safe"), "a-a-");
	TEST_STR(modes_of("all,off"), "----");
	TEST_STR(modes_of("named=off,named"), "-a--");
	TEST_STR(modes_of(",,exact,"), "a---");
	TEST_STR(modes_of("exact,name"), "a--- <name>");
	TEST_STR(modes_of("nam,named1,exact"), "a--- <nam><named1>");
	TEST_STR(modes_of("named=,rounding=on,reduced=reports"),
		"---- <named=><rounding=on><reduced=reports>");
	TEST_STR(modes_of("all=report"), "---- <all=report>");
	TEST_STR(modes_of("exac,exact-one=report"), "r--- <exac>");
	return test_result();
}
