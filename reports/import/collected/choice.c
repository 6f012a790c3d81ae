/* SPDX-License-Identifier: MIT */
#include "reports/import/collected/choice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RANK "rank"
#define MOST_DIGITS 20u /* of the largest number there is */

static bool is_number(const char *text)
{
	const size_t length = strlen(text);

	return length && length <= MOST_DIGITS && strspn(text, "0123456789") == length;
}

void tfs_choice_read(struct tfs_choice *choice, const char *path)
{
	const char *colon = strrchr(path, ':');

	*choice = (struct tfs_choice){.path = path};
	snprintf(choice->file, sizeof(choice->file), "%s", path);
	if (!colon || colon - path >= PATH_MAX || access(path, F_OK) == 0)
		return;
	choice->by_process = is_number(colon + 1);
	choice->by_rank =
		!strncmp(colon + 1, RANK, strlen(RANK)) && is_number(colon + 1 + strlen(RANK));
	if (!choice->by_process && !choice->by_rank)
		return;
	choice->number = strtoull(colon + (choice->by_rank ? 1 + strlen(RANK) : 1), NULL, 10);
	choice->file[colon - path] = 0;
}
