/* SPDX-License-Identifier: MIT */
/* TFS608: what is made in each step, at many places. */
#include "tests/test.h"
#include "tests/unit/scenes/scene.h"

#define STEPS 30u

/* Each place that makes a descriptor in each step is told, however many there are and however
 * little of the step they take; one of the code that has many callers is told as one. */
static struct scene *descriptors(
	unsigned places, bool one_of_code, uint64_t work_ns, unsigned findings)
{
	uint32_t sites[200];
	struct scene *scene = scene_create(false);
	const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

	for (unsigned i = 0; i < places && one_of_code; i++)
		sites[i] = builder_site(
			scene_builder(scene), 2, (const uint64_t[]){0x501000, 0x502000 + 16 * i});

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, work_ns, 1024, 1, &memory);
		for (unsigned line = 100; line < 100 + places; line++) {
			struct builder_call call =
				scene_call(scene, line, SCENE_LEGACY, TFS_LIBRARY_cublaslt,
					TFS_FAMILY_descriptor_create, "cublasLtMatmulDescCreate");

			call.stream = TFS_NO_STREAM;
			if (one_of_code)
				call.site = sites[line - 100];
			scene_make(scene, &call, 0);
		}
		scene_device_sync(scene, 11);
	}
	scene_judge(scene, NULL);
	TEST_EQ(scene_state(scene, "TFS608"), TFS_STATE_VIOLATED);
	if (!TEST_EQ(scene_findings(scene, "TFS608"), findings))
		scene_print(scene);
	return scene;
}

static void descriptors_of_one_place(void)
{
	struct scene *scene = descriptors(40, true, 1000000, 1);
	const struct tfs_judgement *judgement = scene_judgement(scene);

	for (size_t i = 0; i < judgement->finding_count; i++) {
		const struct tfs_finding *finding = &judgement->findings[i];

		if (strcmp(finding->rule->id, "TFS608") != 0)
			continue;
		TEST_EQ(finding->count_per_step, 40);
		TEST_EQ(finding->count_total, 40 * STEPS);
		TEST_STR(finding->message,
			"creates a descriptor, 40 calls/step, called from several call sites");
	}
	scene_destroy(scene);
}

/* What is made in each step says what to keep. */
static void advice_for_each_kind(void)
{
	static const struct {
		enum tfs_family family;
		const char *function, *advice;
	} kinds[] = {
		{TFS_FAMILY_handle_create, "cublasCreate_v2", "Create this handle once"},
		{TFS_FAMILY_descriptor_create, "cudnnCreateTensorDescriptor",
			"Create this descriptor once"},
		{TFS_FAMILY_stream_create, "cudaStreamCreate", "Create this stream once"},
		{TFS_FAMILY_event_create, "cudaEventCreate", "Create this event once"},
	};

	for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		struct scene *scene = scene_create(false);
		const uint64_t memory = scene_memory(scene, TFS_MEMORY_DEVICE, 1 << 20);

		for (unsigned j = 0; j < STEPS; j++) {
			struct builder_call call;

			scene_step(scene);
			scene_launch(scene, 10, SCENE_LEGACY, 100000, 1024, 1, &memory);
			call = scene_call(scene, 11, SCENE_LEGACY, TFS_LIBRARY_cudart,
				kinds[i].family, kinds[i].function);
			call.stream = TFS_NO_STREAM;
			call.duration_ns = 20000;
			scene_make(scene, &call, 0);
		}
		scene_judge(scene, NULL);

		const struct tfs_finding *finding = scene_finding(scene, "TFS608", 11);

		if (!TEST_TRUE(finding))
			printf("%s\n", kinds[i].function);
		else
			TEST_EQ(strncmp(finding->advice, kinds[i].advice, strlen(kinds[i].advice)),
				0);
		scene_destroy(scene);
	}
}

int main(void)
{
	scene_destroy(descriptors(1, false, 30000000, 1));
	scene_destroy(descriptors(17, false, 30000000, 17));
	scene_destroy(descriptors(200, false, 100000000, 200));
	scene_destroy(descriptors(16, true, 1000000, 16));
	descriptors_of_one_place();
	advice_for_each_kind();
	return test_result();
}
