/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/measure_ranks.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "rules/rewrites/rewrite.h"
#include "shim/env.h"
#include "shim/recorder.h"

#define FILE_MOST 4096u
/* Behind the first window, as far as it takes to see who takes part, and for ranks that found the
 * step some iterations apart. */
#define SETTLE_STEPS 12u
#define MOST 32u

static struct {
	uint32_t known;     /* bits: the file has a verdict */
	uint32_t undecided; /* bits: to be measured */
	struct tfs_ranked_verdict verdicts[MOST];
	struct tfs_ranked plan;
	uint32_t numbers[TFS_RANKED_MOST]; /* in rewrite.c's list */
} self;

static size_t read_file(char *out, size_t bytes)
{
	const char *program = strrchr(tfs_recording.header->program, '/');
	const char *slash = strrchr(tfs_recording.path, '/');
	char path[sizeof(tfs_recording.path) + 256];
	ssize_t length = 0;

	if (slash == NULL || program == NULL)
		return 0;
	snprintf(path, sizeof(path), "%.*s/%s.verdicts", (int)(slash - tfs_recording.path),
		tfs_recording.path, program + 1);
	const int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	if (file < 0)
		return 0;
	length = read(file, out, bytes);
	close(file);
	return length > 0 ? (size_t)length : 0;
}

static void take_verdict(uint32_t switchable, const struct tfs_ranked_verdict *verdict)
{
	for (uint32_t i = 0; i < MOST; i++) {
		if ((switchable >> i & 1) == 0 || strcmp(tfs_rewrite_name(i), verdict->name) != 0)
			continue;
		self.verdicts[i] = *verdict;
		self.known |= 1u << i;
	}
}

static void read_verdicts(uint32_t switchable)
{
	struct tfs_ranked_verdict verdict;
	char text[FILE_MOST + 1];

	text[read_file(text, FILE_MOST)] = '\0';
	for (char *line = text; *line != '\0';) {
		char *end = strchr(line, '\n');

		if (end == NULL)
			return; /* cut off */
		*end = '\0';
		if (tfs_ranked_read_verdict(&verdict, line) && verdict.ranks == tfs_options.ranks)
			take_verdict(switchable, &verdict);
		line = end + 1;
	}
}

void tfs_measure_ranks_start(uint32_t switchable)
{
	char text[TFS_RANKED_MOST * TFS_RANKED_NAME + 64];
	const uint64_t window =
		tfs_options.record == TFS_RECORD_WINDOWS ? tfs_options.window_steps : 0;

	read_verdicts(switchable);
	self.plan.first = window + SETTLE_STEPS;
	for (uint32_t i = 0; i < MOST; i++) {
		if (((switchable & ~self.known) >> i & 1) == 0 ||
			!tfs_ranked_add(&self.plan, tfs_rewrite_name(i)))
			continue;
		self.numbers[self.plan.count - 1] = i;
		self.undecided |= 1u << i;
	}
	if (self.plan.count == 0)
		return;
	self.plan.steps = (uint32_t)tfs_options.measure / tfs_ranked_questions(&self.plan);
	if (self.plan.steps < TFS_TRIAL_STEPS && tfs_options.measure >= TFS_TRIAL_STEPS)
		self.plan.steps = TFS_TRIAL_STEPS;
	tfs_ranked_write(&self.plan, text, sizeof(text));
	tfs_recorder_fact("ranks.plan", text, tfs_options.ranks);
}

bool tfs_measure_ranks_verdict(uint32_t i, struct tfs_ranked_verdict *out_verdict)
{
	*out_verdict = self.verdicts[i];
	return (self.known >> i & 1) != 0;
}

static uint32_t losers(void)
{
	uint32_t mask = 0;

	for (uint32_t i = 0; i < MOST; i++)
		if ((self.known >> i & 1) != 0 && !self.verdicts[i].won)
			mask |= 1u << i;
	return mask;
}

uint32_t tfs_measure_ranks_mask(uint64_t step, uint32_t trusted)
{
	uint32_t question, subject = self.undecided;
	bool on;

	if (!tfs_ranked_at(&self.plan, step, &question, &on))
		return (trusted | self.known) & ~losers();
	if (question < self.plan.count)
		subject = 1u << self.numbers[question];
	return ~(losers() | self.undecided) | (on ? subject : 0);
}

bool tfs_measure_ranks_begun(uint64_t step)
{
	return self.plan.count > 0 && step > self.plan.first;
}
