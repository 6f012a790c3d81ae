/* SPDX-License-Identifier: MIT */
/* Names of ranges as numbers: families of numbered ones, wide characters, too many; and what
 * handles stand for. */
#include "shim/nvtx/nvtx_names.h"

#include "tests/unit/trace/recording.h"

static void test_names(void)
{
	const uint32_t forward = tfs_nvtx_name("forward");

	TEST_TRUE(forward != 0);
	TEST_EQ(tfs_nvtx_name("forward"), forward);
	TEST_TRUE(tfs_nvtx_name("forwards") != forward);
	TEST_STR(tfs_nvtx_name_text(forward), "forward");
	TEST_EQ(tfs_nvtx_name_family(forward), forward);
	TEST_EQ(tfs_nvtx_name(NULL), 0);
	TEST_EQ(tfs_nvtx_name(""), 0);
	TEST_STR(tfs_nvtx_name_text(0), "");
	TEST_EQ(tfs_nvtx_name_family(0), 0);
	TEST_EQ(tfs_nvtx_name_string(0), 0);
}

/* A running number at the end is no name's own. */
static void test_families(void)
{
	static const char *const numbered[] = {
		"step 17", "step #1", "step_3", "step-4", "step:5", "step/6", "step = 7"};
	static const char *const whole[] = {"conv2d", "17", " 17", "17 steps", "step ", "v2"};
	const uint32_t family = tfs_nvtx_name("step");

	for (size_t i = 0; i < sizeof(numbered) / sizeof(numbered[0]); i++) {
		const uint32_t name = tfs_nvtx_name(numbered[i]);

		TEST_TRUE(name != family);
		TEST_STR(tfs_nvtx_name_text(name), numbered[i]);
		TEST_EQ(tfs_nvtx_name_family(name), family);
	}
	for (size_t i = 0; i < sizeof(whole) / sizeof(whole[0]); i++)
		TEST_EQ(tfs_nvtx_name_family(tfs_nvtx_name(whole[i])), tfs_nvtx_name(whole[i]));
}

static const char *wide(const wchar_t *text)
{
	return tfs_nvtx_name_text(tfs_nvtx_name_wide(text));
}

static void test_wide(void)
{
	wchar_t longest[400];

	TEST_EQ(tfs_nvtx_name_wide(L"forward"), tfs_nvtx_name("forward"));
	TEST_EQ(tfs_nvtx_name_wide(NULL), 0);
	TEST_EQ(tfs_nvtx_name_wide(L""), 0);
	/* The first and the last letter of each length. */
	TEST_STR(wide(L"a\x7f"), "a\x7f");
	TEST_STR(wide(L"\x80\x7ff"), "\xc2\x80\xdf\xbf");
	TEST_STR(wide(L"\x800\xffff"), "\xe0\xa0\x80\xef\xbf\xbf");
	TEST_STR(wide(L"\x10000\x10ffff"), "\xf0\x90\x80\x80\xf4\x8f\xbf\xbf");
	TEST_STR(wide(L"v\x00e4lj \x4e16"), "v\xc3\xa4lj \xe4\xb8\x96");
	/* No letter is cut in two. */
	for (size_t i = 0; i < 399; i++)
		longest[i] = 0x4e16;
	longest[399] = 0;
	const char *cut = wide(longest);
	TEST_IN(strlen(cut), 100, 119);
	TEST_EQ(strlen(cut) % 3, 0);
}

/* The first 119 bytes count. */
static void test_long(void)
{
	char text[200];

	memset(text, 'x', sizeof(text));
	text[119] = '\0';
	const uint32_t whole = tfs_nvtx_name(text);
	TEST_EQ(strlen(tfs_nvtx_name_text(whole)), 119);
	text[119] = 'y';
	text[199] = '\0';
	TEST_EQ(tfs_nvtx_name(text), whole);
	text[118] = 'y';
	TEST_TRUE(tfs_nvtx_name(text) != whole);
}

/* Written into the recording once, on first use. */
static void test_strings(void)
{
	const uint32_t name = tfs_nvtx_name("backward"), string = tfs_nvtx_name_string(name);

	TEST_TRUE(string != 0);
	TEST_EQ(tfs_nvtx_name_string(name), string);
	TEST_EQ(tfs_recorder_string("backward"), string);
	TEST_TRUE(tfs_nvtx_name_string(tfs_nvtx_name("forward")) != string);
}

/* Each iteration numbered: once half of the room is taken, they share a name, so that others still
 * find theirs. */
static void test_many(void)
{
	char text[32];
	const uint32_t family = tfs_nvtx_name("iteration");
	uint32_t shared = 0;

	for (unsigned i = 0; i < TFS_NVTX_NAMES; i++) {
		snprintf(text, sizeof(text), "iteration %u", i);
		const uint32_t name = tfs_nvtx_name(text);

		TEST_EQ(tfs_nvtx_name_family(name), family);
		shared += name == family;
	}
	TEST_IN(shared, TFS_NVTX_NAMES / 2, TFS_NVTX_NAMES / 2 + 100);
	for (unsigned i = 0; i < 100; i++) {
		snprintf(text, sizeof(text), "layer%u", i);
		TEST_STR(tfs_nvtx_name_text(tfs_nvtx_name(text)), text);
	}
	/* And without any room. */
	for (unsigned i = 0; i < TFS_NVTX_NAMES; i++) {
		snprintf(text, sizeof(text), "x%u", i);
		const uint32_t name = tfs_nvtx_name(text);

		TEST_STR(tfs_nvtx_name_text(name), name != 0 ? text : "");
		shared = name;
	}
	TEST_EQ(shared, 0);
	TEST_STR(tfs_nvtx_name_text(tfs_nvtx_name("layer99")), "layer99");
}

static void test_handles(void)
{
	static struct tfs_nvtx_handles handles;

	TEST_EQ(tfs_nvtx_handle_get(&handles, (void *)64), 0);
	for (uintptr_t i = 1; i <= TFS_NVTX_NAMES; i++)
		tfs_nvtx_handle_set(&handles, (void *)(i * 64), (uint32_t)i);
	/* No room for one more, nor for nothing. */
	tfs_nvtx_handle_set(&handles, (void *)(99999 * 64), 7);
	tfs_nvtx_handle_set(&handles, NULL, 8);
	TEST_EQ(tfs_nvtx_handle_get(&handles, (void *)(99999 * 64)), 0);
	TEST_EQ(tfs_nvtx_handle_get(&handles, NULL), 0);
	/* A handle that comes again stands for something else. */
	tfs_nvtx_handle_set(&handles, (void *)64, 9);
	for (uintptr_t i = 1; i <= TFS_NVTX_NAMES; i++)
		TEST_EQ(tfs_nvtx_handle_get(&handles, (void *)(i * 64)), i == 1 ? 9 : i);
}

int main(void)
{
	recording_start();
	tfs_recorder_named_thread("test");
	TEST_NEED(tfs_nvtx_names_init());
	test_names();
	test_families();
	test_wide();
	test_long();
	test_strings();
	test_handles();
	test_many();
	recording_end(recording_read());
	return test_result();
}
