/* SPDX-License-Identifier: MIT */
/* Which families of calls give the device work to do, and which of them rules ask for: all others
 * do not. */
#include "rules/timeline/families.h"
#include "rules/evidence/steady.h"
#include "rules/rule.h"
#include "tests/test.h"

static const char submitting[] =
	" copy copy_async set set_async launch host_func graph_launch"
	" conv_forward conv_backward_data conv_backward_filter conv_backward_bias conv_fused conv_find"
	" pointwise bias activation pooling softmax normalisation transform reduction"
	" gemm blas blas_pointwise random collective ";

static const struct {
	uint32_t about;
	const char *families;
} asked_for[] = {
	{TFS_ABOUT_COPIES, " copy copy_async "},
	{TFS_ABOUT_SETS, " set set_async "},
	{TFS_ABOUT_LAUNCHES, " launch "},
	{TFS_ABOUT_WAITS, " device_sync stream_sync event_sync "},
	{TFS_ABOUT_MEMORY, " alloc free host_alloc host_free host_register host_unregister "},
};

static unsigned found;

static void check(enum tfs_family family, const char *name)
{
	uint32_t about = 0;
	char word[40];

	snprintf(word, sizeof(word), " %s ", name);
	for (size_t i = 0; i < sizeof(asked_for) / sizeof(asked_for[0]); i++)
		about |= strstr(asked_for[i].families, word) ? asked_for[i].about : 0;
	if (!TEST_EQ(tfs_family_about(family), about))
		printf("%s\n", name);
	const bool wanted = strstr(submitting, word) != NULL;
	if (tfs_family_submits(family) != wanted)
		printf("%s\n", name);
	TEST_EQ(tfs_family_submits(family), wanted);
	found += wanted;
}

int main(void)
{
	unsigned words = 0;

#define X(number, name) check(TFS_FAMILY_##name, #name);
	TFS_FAMILIES(X)
#undef X
	for (const char *at = submitting; at[1] != '\0'; at++)
		words += *at == ' ';
	TEST_EQ(found, words);
	printf("%u families\n", found);
	return test_result();
}
