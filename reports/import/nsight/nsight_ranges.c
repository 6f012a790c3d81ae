/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "reports/import/nsight/nsight_part.h"
#include "shim/nvtx/nvtx_family.h"

enum { START, END, TYPE, THREAD, TEXT, TEXT_ID };

/* Nsight's numbers of kinds of events. */
#define PUSHED 59
#define STARTED 60

/* PyTorch numbers its operators: "aten::add, seq = 3, op_id = 17". */
static size_t cut_numbers(const char *text, size_t bytes)
{
	static const char *const marks[] = {", seq = ", ", op_id = "};

	bytes = strnlen(text, bytes);
	for (size_t i = 0; i < sizeof(marks) / sizeof(*marks); i++) {
		const char *at = memmem(text, bytes, marks[i], strlen(marks[i]));

		bytes = at ? (size_t)(at - text) : bytes;
	}
	return bytes;
}

static uint32_t name_of(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	size_t bytes;
	const char *text = tfs_rows_text(rows, TEXT, &bytes);
	int64_t id;

	if (text)
		return tfs_texts_id(&nsight->collected->names, text, cut_numbers(text, bytes));
	return tfs_rows_number(rows, TEXT_ID, &id) ? tfs_nsight_string(nsight, id, cut_numbers) : 0;
}

/* A name without the number behind it; "" where it is too long for `family`. */
static size_t family_of(const char *name, char *family, size_t room)
{
	const size_t length = tfs_nvtx_family_length(name, strlen(name));

	memcpy(family, name, length < room ? length : 0);
	family[length < room ? length : 0] = 0;
	return length;
}

static bool says_step(const char *name)
{
	char family[64];

	family_of(name, family, sizeof(family));
	return tfs_nvtx_family_says_step(family);
}

static int take_range(struct tfs_nsight *nsight, const struct tfs_rows *rows)
{
	struct tfs_collected *collected = nsight->collected;
	int64_t thread = nsight->process, type = PUSHED;
	struct tfs_collected_span span = {0};

	if (!tfs_rows_number(rows, THREAD, &thread) && nsight->chosen)
		return 0;
	tfs_rows_number(rows, TYPE, &type);
	if (TFS_NSIGHT_PROCESS(thread) != nsight->process || (type != PUSHED && type != STARTED) ||
		!tfs_nsight_times(rows, &span.start_ns, &span.end_ns) ||
		!tfs_nsight_inside(nsight, span.start_ns, span.end_ns))
		return 0;
	span.tid = (uint32_t)(thread & 0xffffff);
	span.function = name_of(nsight, rows);
	if (!span.function)
		return 0;
	const bool step = says_step(tfs_texts_text(&collected->names, span.function));

	/* What is not pushed need not lie in what is; and only whole steps count. */
	if (!step ? type == STARTED
		  : span.start_ns < nsight->first_ns || span.end_ns > nsight->end_ns)
		return 0;
	if (span.start_ns < nsight->first_ns)
		span.start_ns = nsight->first_ns;
	if (span.end_ns > nsight->end_ns)
		span.end_ns = nsight->end_ns;
	struct tfs_collected_span *place = tfs_collected_more(
		&collected->ranges, &collected->range_count, sizeof(*collected->ranges));
	if (!place)
		return -ENOMEM;
	*place = span;
	return 0;
}

/* The ranges that are steps: of those whose name says so, with any number behind it, the ones of a
 * thread that take the most time, as micro-steps lie inside. */
struct steps {
	struct group {
		uint32_t family, tid;
		int64_t ns;
	} groups[64], *best;
	uint32_t count;
};

static struct group *group_of(struct steps *steps, const struct tfs_collected *collected,
	const struct tfs_collected_span *range)
{
	const uint32_t family = collected->families[range->function];

	if (!tfs_nvtx_family_says_step(tfs_texts_text(&collected->names, family)))
		return NULL;
	for (uint32_t i = 0; i < steps->count; i++)
		if (steps->groups[i].family == family && steps->groups[i].tid == range->tid)
			return &steps->groups[i];
	if (steps->count == sizeof(steps->groups) / sizeof(*steps->groups))
		return NULL;
	steps->groups[steps->count] = (struct group){.family = family, .tid = range->tid};
	return &steps->groups[steps->count++];
}

static int find_families(struct tfs_collected *collected)
{
	struct tfs_texts *names = &collected->names;
	const uint32_t count = names->count;
	char family[1024];

	collected->families = calloc(count + 1u, sizeof(*collected->families));
	if (!collected->families)
		return -ENOMEM;
	for (uint32_t name = 1; name <= count; name++) {
		const size_t length =
			family_of(tfs_texts_text(names, name), family, sizeof(family));

		collected->families[name] =
			length < sizeof(family) ? tfs_texts_id(names, family, length) : name;
	}
	return 0;
}

static void choose(struct steps *steps, const struct tfs_collected *collected)
{
	for (size_t i = 0; i < collected->range_count; i++) {
		struct group *group = group_of(steps, collected, &collected->ranges[i]);

		if (group)
			group->ns +=
				(collected->ranges[i].end_ns - collected->ranges[i].start_ns) >> 8;
	}
	for (uint32_t i = 0; i < steps->count; i++)
		if (!steps->best || steps->groups[i].ns > steps->best->ns)
			steps->best = &steps->groups[i];
}

static uint64_t number_of(const char *name, uint64_t otherwise)
{
	const size_t length = tfs_nvtx_family_length(name, strlen(name));

	if (!name[length])
		return otherwise;
	return strtoull(name + length + strcspn(name + length, "0123456789"), NULL, 10);
}

/* Makes steps of them, and keeps the rest in its order, which is that of time. */
static int take_steps(struct steps *steps, struct tfs_collected *collected)
{
	size_t kept = 0;

	for (size_t i = 0; i < collected->range_count; i++) {
		const struct tfs_collected_span range = collected->ranges[i];

		if (group_of(steps, collected, &range) != steps->best || !steps->best) {
			collected->ranges[kept++] = range;
			continue;
		}
		struct tfs_collected_step *step = tfs_collected_more(
			&collected->steps, &collected->step_count, sizeof(*collected->steps));
		if (!step)
			return -ENOMEM;
		*step = (struct tfs_collected_step){.start_ns = range.start_ns,
			.end_ns = range.end_ns,
			.index = number_of(tfs_texts_text(&collected->names, range.function),
				collected->step_count - 1)};
	}
	collected->range_count = kept;
	return 0;
}

int tfs_nsight_ranges(struct tfs_nsight *nsight)
{
	static const char *const columns[] = {
		"start", "end", "eventType", "globalTid", "text", "textId", NULL};
	struct tfs_collected *collected = nsight->collected;
	struct steps steps = {0};

	int err = tfs_nsight_each(nsight, "NVTX_EVENTS", columns, take_range);
	if (err || !collected->range_count)
		return err;
	qsort(collected->ranges, collected->range_count, sizeof(*collected->ranges),
		tfs_collected_compare_spans);
	err = find_families(collected);
	if (err)
		return err;
	choose(&steps, collected);
	return take_steps(&steps, collected);
}
