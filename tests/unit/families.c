/* SPDX-License-Identifier: MIT */
/* Which families of calls give the device work to do: all others return without it. */
#include "rules/evidence/steady.h"
#include "tests/test.h"

static const char submitting[] =
	" copy copy_async set set_async launch host_func graph_launch"
	" conv_forward conv_backward_data conv_backward_filter conv_backward_bias conv_fused conv_find"
	" pointwise bias activation pooling softmax normalisation reduction"
	" gemm blas blas_pointwise random collective ";

static unsigned found;

static void check(enum tfs_family family, const char *name)
{
	char word[40];

	snprintf(word, sizeof(word), " %s ", name);
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
