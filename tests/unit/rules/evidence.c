/* SPDX-License-Identifier: MIT */
/*
 * A program that breaks no rule, seen in part: a rule that lacks its evidence is not measurable and
 * says why, whatever it would have said. By table: a row per rule, a column per way of seeing.
 */
#include <string.h>

#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u

struct way {
	const char *name;
	const char *why; /* what a rule says that is not measurable; "" = anything */
	bool blind;      /* CUPTI is not there */
	bool unhooked;   /* no calls are recorded in windows */
	bool stepless;
	bool library; /* the program calls cuBLAS alone */
	const char *hides;
	enum tfs_family kind;
	int lost;
	bool killed;
};

/* In the order of the table's columns. */
static const struct way ways[] = {
	{.name = "whole", .lost = -1},
	{.name = "without CUPTI",
		.why = "which calls CUPTI recorded|no GPU activity",
		.blind = true,
		.lost = -1},
	{.name = "without calls",
		.why = "no training step|no calls of|no hooks|no recorded call submitted",
		.unhooked = true,
		.lost = -1},
	{.name = "without steps", .why = "no training steps", .stepless = true, .lost = -1},
	{.name = "of a library alone",
		.why = "no call of the CUDA runtime",
		.library = true,
		.lost = -1},
	{.name = "copies hidden",
		.why = "the hooks did not see 60 calls of cudaMemcpy",
		.hides = "cudaMemcpy",
		.kind = TFS_FAMILY_copy,
		.lost = -1},
	{.name = "waits hidden",
		.why = "the hooks did not see 60 calls of cudaStreamSynchronize",
		.hides = "cudaStreamSynchronize",
		.kind = TFS_FAMILY_stream_sync,
		.lost = -1},
	{.name = "launches hidden",
		.why = "the hooks did not see 60 calls of cuLaunchKernel",
		.hides = "cuLaunchKernel",
		.kind = TFS_FAMILY_launch,
		.lost = -1},
	{.name = "memory hidden",
		.why = "the hooks did not see 60 calls of cudaFree",
		.hides = "cudaFree",
		.kind = TFS_FAMILY_free,
		.lost = -1},
	{.name = "fills hidden",
		.why = "the hooks did not see 60 calls of cudaMemsetAsync",
		.hides = "cudaMemsetAsync",
		.kind = TFS_FAMILY_set_async,
		.lost = -1},
	{.name = "records dropped by CUPTI",
		.why = "7 records were dropped by CUPTI",
		.lost = TFS_LOSS_cupti_dropped},
	{.name = "records without room",
		.why = "7 records did not fit into the recording",
		.lost = TFS_LOSS_records_dropped},
	{.name = "killed", .why = "ended before CUPTI", .lost = -1, .killed = true},
};
#define WAYS (sizeof(ways) / sizeof(ways[0]))

/* P passed, N not measurable, V violated. */
static const struct {
	const char *id;
	const char *states;
} table[] = {
	{"TFS101", "PPNPNNPPPPPPP"},
	{"TFS201", "PPNPNPNPPPPPP"},
	{"TFS202", "PPNNNNNPNPPPP"},
	{"TFS203", "PPNPNNNPPPPPP"},
	{"TFS301", "PNNPPPPNPPPPP"},
	{"TFS401", "PPNNNPPPNPPPP"},
	{"TFS402", "PPNPNPPPPNPPP"},
	{"TFS408", "AANANANANAAAA"},
	{"TFS601", "AANAAAAAAAAAA"},
	{"TFS608", "PPNPNPPPPPPPP"},
	{"TFS902", "PPPPPPPPPPVVP"},
	{"TFS903", "PVNPPPPPPPNNN"},
	{"TFS904", "PNNPPVVVVVNNN"},
	{"TFS905", "PPVVPPPPPPPPP"},
	{"TFS906", "AAAAAAAAAAAAA"},
	{"TFS910", "PPNPPPPPPPPPP"},
};

static void step(struct scene *scene, const struct way *way, uint64_t memory)
{
	const uint64_t work_ns = way->blind ? 0 : 100000;

	if (!way->stepless)
		scene_step(scene);
	if (way->library)
		scene_gemm(scene, 10, memory, memory + 65536, 4096, false, work_ns);
	else
		scene_launch(scene, 10, SCENE_LEGACY, work_ns, 1024, 2,
			(const uint64_t[]){memory, memory + 4096});
	for (int i = 0; i < 2 && way->hides; i++)
		scene_unseen(scene,
			strncmp(way->hides, "cuda", 4) ? TFS_LIBRARY_cuda : TFS_LIBRARY_cudart,
			way->kind, way->hides, 77, false);
	scene_host(scene, 120000);
}

static struct scene *make(const struct way *way)
{
	struct scene *scene = scene_create(false);
	uint64_t memory = way->library ? UINT64_C(0x7e0000000000)
				       : scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);
	struct tfs_file_header *header;
	size_t size;

	if (!way->blind)
		scene_watch(scene);
	if (way->stepless)
		builder_window(scene_builder(scene), true, 1, scene_now(scene) - 100, 3);
	for (unsigned i = 0; i < STEPS && !way->unhooked; i++)
		step(scene, way, memory + 8192 * i);
	if (way->unhooked)
		builder_fact(scene_builder(scene), TFS_FACT_hooks_none, NULL, 0);
	header = (struct tfs_file_header *)builder_bytes(scene_builder(scene), &size);
	if (way->lost >= 0)
		header->lost[way->lost] = 7;
	header->finished = !way->killed;
	scene_judge(scene, NULL);
	return scene;
}

static const struct tfs_rule_line *line_of(const struct scene *scene, const char *id)
{
	const struct tfs_judgement *judgement = scene_judgement(scene);

	for (size_t i = 0; i < judgement->rule_count; i++)
		if (strcmp(judgement->rules[i].rule->id, id) == 0)
			return &judgement->rules[i];
	return NULL;
}

static bool says(const char *reason, const char *any)
{
	char text[160];
	char *rest = text;

	snprintf(text, sizeof(text), "%s", any);
	for (char *part = strsep(&rest, "|"); part; part = strsep(&rest, "|"))
		if (strstr(reason, part))
			return true;
	return false;
}

static void check(const struct scene *scene, const char *id, const struct way *way, char wanted)
{
	static const char letters[] = {[TFS_STATE_PASSED] = 'P',
		[TFS_STATE_VIOLATED] = 'V',
		[TFS_STATE_NOT_MEASURABLE] = 'N',
		[TFS_STATE_WAIVED] = 'W',
		[TFS_STATE_NOT_APPLICABLE] = 'A'};
	const struct tfs_rule_line *line = line_of(scene, id);

	TEST_NEED(line);
	if (!TEST_EQ(letters[line->verdict.state], wanted) ||
		(wanted == 'N' && !TEST_TRUE(says(line->verdict.reason, way->why))))
		printf("  %s, %s: %c, not %c: %s\n", id, way->name, letters[line->verdict.state],
			wanted, line->verdict.reason);
}

/* Whatever rule there is: with none of what it needs it is not measurable, with a reason. */
static void check_all(const struct scene *scene, const struct way *way, uint32_t absent)
{
	const struct tfs_judgement *judgement = scene_judgement(scene);

	for (size_t i = 0; i < judgement->rule_count; i++) {
		const struct tfs_rule_line *line = &judgement->rules[i];

		if ((line->rule->needs & absent) == 0)
			continue;
		if (!TEST_EQ(line->verdict.state, TFS_STATE_NOT_MEASURABLE))
			printf("  %s, %s\n", line->rule->id, way->name);
		TEST_TRUE(line->verdict.reason[0] != '\0');
	}
}

int main(void)
{
	for (size_t i = 0; i < WAYS; i++) {
		struct scene *scene = make(&ways[i]);

		for (size_t j = 0; j < sizeof(table) / sizeof(table[0]); j++) {
			TEST_NEED(strlen(table[j].states) == WAYS);
			check(scene, table[j].id, &ways[i], table[j].states[i]);
		}
		check_all(scene, &ways[i],
			(ways[i].blind ? TFS_NEEDS_DEVICE : 0) |
				(ways[i].unhooked ? TFS_NEEDS_CALLS | TFS_NEEDS_STEPS : 0));
		scene_destroy(scene);
	}
	return test_result();
}
