/* SPDX-License-Identifier: MIT */
/* The file of verdicts, and the line of a recording that says what ranks measured, which anyone may
 * have written: what is read is written again in the same words, and every step finds its place. */
#include <stdlib.h>
#include <string.h>

#include "shim/rewrites/measure/ranked.h"
#include "shim/rewrites/measure/verdicts_file.h"

static char merged[TFS_VERDICTS_BYTES];

static void write_again(const struct tfs_proof *verdict, void *context)
{
	char line[TFS_VERDICT_LINE];
	struct tfs_proof read;

	(void)context;
	if (tfs_verdict_write(verdict, line, sizeof(line)) == 0 || !tfs_verdict_read(&read, line) ||
		memcmp(&read, verdict, sizeof(read)) != 0)
		abort();
}

static void follow(const char *text)
{
	struct tfs_ranked_place place;
	struct tfs_ranked plan;

	if (!tfs_ranked_read(&plan, text))
		return;
	const uint64_t steps = tfs_ranked_steps(&plan);
	for (uint64_t i = 0; i < steps; i += 1 + i / 16)
		if (!tfs_ranked_at(&plan, plan.first + i, &place) || place.question >= plan.count ||
			place.pair >= TFS_TRIAL_PAIRS)
			abort();
	if (tfs_ranked_at(&plan, plan.first + steps, &place))
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
	const struct tfs_proof mine = {.name = "pinned-staging", .ranks = 1};
	char *text = malloc(bytes + 1), *again = malloc(bytes + 1);

	memcpy(text, data, bytes);
	text[bytes] = '\0';
	strcpy(again, text);
	follow(text);
	tfs_verdicts_merge(again, &mine, 1, merged, sizeof(merged));
	if (strlen(merged) >= sizeof(merged) || !strstr(merged, "\npinned-staging undecided"))
		abort();
	tfs_verdicts_each(text, write_again, NULL);
	free(text);
	free(again);
	return 0;
}
