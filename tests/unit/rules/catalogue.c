/* SPDX-License-Identifier: MIT */
/* What is said of rules that have not been asked: there is none that could be, the program does not
 * use what it is about, or it does where nobody saw. */
#include "rules/catalogue/catalogue.h"

#include <stdio.h>
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

static void every_rule_has_its_row(void)
{
	const struct tfs_catalogue_row *row;
	const struct tfs_rule *rule;
	const char *before = "";
	size_t rows = 0, written = 0, unwritten = 0;

	for (; (row = tfs_catalogue_at(rows)); rows++) {
		TEST_TRUE(strcmp(before, row->id) < 0);
		before = row->id;
		rule = tfs_rule_find(row->id);
		if (rule)
			TEST_STR(rule->slug, row->slug);
		written += rule != NULL;
	}
	for (size_t i = 0; (rule = tfs_rule_at(i)); i++)
		written--;
	TEST_EQ(written, 0);
	for (; (row = tfs_catalogue_unwritten(unwritten)); unwritten++) {
		TEST_TRUE(!tfs_rule_find(row->id));
		TEST_TRUE(!tfs_rule_find(row->slug));
	}
	for (size_t i = 0; tfs_rule_at(i); i++)
		written++;
	TEST_EQ(written + unwritten, rows);
	TEST_TRUE(rows > 60);
	printf("%zu rows, %zu of them not looked for\n", rows, unwritten);
}

static struct scene *make(uint32_t flags, bool calls)
{
	struct scene *scene = scene_create(false);
	uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	if (flags)
		builder_library(
			scene_builder(scene), TFS_LIBRARY_cudnn, "libcudnn.so.9", 91000, flags);
	for (unsigned i = 0; i < 30; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 100000, 1 << 18, 1, &memory);
		if (!calls)
			continue;
		struct builder_call call = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudnn,
			TFS_FAMILY_other, "cudnnSetTensor");

		scene_make(scene, &call, 1000);
	}
	scene_judge(scene, NULL);
	return scene;
}

static void expect(uint32_t flags, bool calls, enum tfs_state state, const char *why)
{
	struct scene *scene = make(flags, calls);

	TEST_EQ(scene_state(scene, "TFS601"), state);
	TEST_TRUE(strstr(scene_reason(scene, "TFS601"), why));
	/* Of one that is about no library nothing changes. */
	TEST_EQ(scene_state(scene, "TFS101"), TFS_STATE_PASSED);
	scene_destroy(scene);
}

int main(void)
{
	every_rule_has_its_row();
	expect(0, false, TFS_STATE_NOT_APPLICABLE, "the program does not call cuDNN");
	/* It is there, and nothing calls it. */
	expect(1, false, TFS_STATE_NOT_APPLICABLE, "the program does not call cuDNN");
	expect(2, false, TFS_STATE_NOT_MEASURABLE, "cuDNN is linked in");
	expect(1, true, TFS_STATE_PASSED, "nothing to search");
	return test_result();
}
