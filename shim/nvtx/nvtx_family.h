/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_NVTX_NVTX_FAMILY_H
#define TFS_SHIM_NVTX_NVTX_FAMILY_H

/* Programs number their ranges ("iteration 17"): without the number they are one family. */

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

/* The length without a separator and a number at the end; all of it when there is none. */
static inline size_t tfs_nvtx_family_length(const char *text, size_t length)
{
	size_t end = length;

	while (end > 0 && text[end - 1] >= '0' && text[end - 1] <= '9')
		end--;
	if (end == length || end == 0 || !strchr("#:=-_ /", text[end - 1]))
		return length;
	while (end > 0 && strchr("#:=-_ /", text[end - 1]))
		end--;
	return end > 0 ? end : length;
}

/* "Train step", "train_step" and "TrainStep" say the same. */
static inline void tfs_nvtx_family_fold(const char *name, char *out_folded, size_t room)
{
	size_t length = 0;

	for (; *name != '\0' && length + 1 < room; name++)
		if (isalnum((unsigned char)*name))
			out_folded[length++] = (char)tolower((unsigned char)*name);
	out_folded[length] = '\0';
}

/* Whether ranges of that name are the steps of a training, as far as a name can say. */
static inline bool tfs_nvtx_family_says_step(const char *family)
{
	static const char *const words[] = {"step", "iteration", "iter", "trainstep",
		"trainingstep", "trainiteration", "trainingiteration", "trainiter", "profilerstep"};
	char folded[32];

	tfs_nvtx_family_fold(family, folded, sizeof(folded));
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (strcmp(folded, words[i]) == 0)
			return true;
	return false;
}

#endif
