/* SPDX-License-Identifier: MIT */
/* TFS202, TFS203: copies to the host of what it has already, and what else rests on their waits. */
#include "tests/unit/rules/weights.h"

/* What is done between an upload and the reading of the same bytes. */
enum between { NOTHING, THE_BEGINNING, THE_END, ROWS, A_PRODUCT, A_KERNEL, A_HIDDEN_KERNEL };

/* Of all that is read, or of less: a half, or rows with as much room between them. */
static void upload(struct scene *scene, enum between between, uint64_t labels, uint64_t bytes)
{
	const uint64_t half = bytes / 2;
	struct builder_call call;

	if (between != ROWS) {
		scene_copy(scene, 10, SCENE_LEGACY, false, true, TFS_MEMORY_PINNED,
			between == THE_END ? labels + half : labels,
			between == THE_BEGINNING || between == THE_END ? half : bytes, 9000);
		return;
	}
	call = scene_call(
		scene, 10, SCENE_LEGACY, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy2D");
	call.amount = half;
	builder_operand(&call, TFS_ROLE_WRITE | TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), labels, bytes);
	builder_operand(
		&call, TFS_ROLE_READ | TFS_ROLE_MEMORY(TFS_MEMORY_PINNED), 0x10000000, half);
	builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, 1);
	scene_make(scene, &call, 9000);
}

/* The host reads back what it has put there itself, and is told so where that is certain. */
static void an_upload_read_back(enum between between, enum tfs_state state)
{
	const uint64_t bytes = 1 << 17;
	struct scene *scene = start();
	const uint64_t labels = scene_memory(scene, TFS_MEMORY_DEVICE, bytes);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		upload(scene, between, labels, bytes);
		if (between == A_PRODUCT)
			scene_gemm(scene, 11, weights, labels, bytes, false, 90000);
		if (between == A_KERNEL)
			scene_launch(scene, 11, SCENE_LEGACY, 90000, 1024, 1, &labels);
		if (between == A_HIDDEN_KERNEL)
			work(scene, 11, SCENE_LEGACY, 90000);
		scene_copy(scene, 12, SCENE_LEGACY, false, false, TFS_MEMORY_PINNED, labels, bytes,
			9000);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS203", state, state == TFS_STATE_VIOLATED);
	finding = scene_finding(scene, "TFS203", 12);
	if (state == TFS_STATE_VIOLATED && TEST_TRUE(finding)) {
		TEST_STR(finding->message,
			"copies 128 KiB to the host and waits for them, 1 call/step; "
			"the host copied them to the device in the same step");
		TEST_STR(finding->advice,
			"Use the values that the host copied to the device, "
			"or a copy of them that the host keeps, and remove this copy: "
			"no call that was seen writes them on the device in between.");
	}
	scene_destroy(scene);
}

/* The host reads twice what a product has written once, and perhaps a kernel in between. */
static void a_result_read_twice(bool kernel)
{
	const uint64_t bytes = 1 << 17;
	struct scene *scene = start();
	const uint64_t logits = scene_memory(scene, TFS_MEMORY_DEVICE, bytes);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_gemm(scene, 10, weights, logits, bytes, false, 90000);
		scene_copy(scene, 11, SCENE_LEGACY, false, false, TFS_MEMORY_PINNED, logits, bytes,
			9000);
		if (kernel)
			work(scene, 12, SCENE_LEGACY, 90000);
		scene_copy(scene, 13, SCENE_LEGACY, false, false, TFS_MEMORY_PINNED, logits, bytes,
			9000);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	if (!kernel) {
		expect(scene, "TFS203", TFS_STATE_VIOLATED, 2);
		TEST_TRUE(strstr(scene_finding(scene, "TFS203", 11)->message,
			"; the same memory more than once"));
	} else {
		TEST_EQ(scene_state(scene, "TFS203"), TFS_STATE_NOT_MEASURABLE);
		TEST_STR(scene_reason(scene, "TFS203"),
			"30 copies read what the step has already copied, but kernels of the program, "
			"graphs or host functions in between may have written it");
	}
	scene_destroy(scene);
}

/* What nothing writes is read once in each step, and not more than once. */
static void a_table_read_in_each_step(void)
{
	const uint64_t bytes = 1 << 17;
	struct scene *scene = start();
	const uint64_t table = scene_memory(scene, TFS_MEMORY_DEVICE, bytes);
	const uint64_t logits = scene_memory(scene, TFS_MEMORY_DEVICE, bytes);

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_gemm(scene, 10, table, logits, bytes, false, 90000);
		scene_copy(scene, 11, SCENE_LEGACY, false, false, TFS_MEMORY_PINNED, table, bytes,
			9000);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS203", TFS_STATE_PASSED, 0);
	scene_destroy(scene);
}

/* An asynchronous copy to pageable memory may wait, and behind it the host may use what the kernel
 * wrote; without that memory nothing rests on the wait. */
static void a_read_back_behind_shared_memory(enum tfs_memory_kind kind, bool needed)
{
	struct scene *scene = start();
	const uint64_t memory = scene_memory(scene, kind, 4096);
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		scene_launch(scene, 10, SCENE_LEGACY, 90000, 1024, 1, &memory);
		scene_copy(scene, 11, SCENE_LEGACY, true, false, TFS_MEMORY_PAGEABLE, weights, 4,
			2000);
		scene_host(scene, 20000);
	}
	scene_judge(scene, NULL);
	expect(scene, "TFS202", TFS_STATE_VIOLATED, 1);
	finding = scene_finding(scene, "TFS202", 11);
	TEST_NEED(finding);
	TEST_EQ(strstr(finding->advice, "memory that the device uses too") != NULL, needed);
	TEST_EQ(!strncmp(finding->advice, "Keep this synchronisation: ", 27), needed);
	scene_destroy(scene);
}

/* A value is read so often per step that its copies could perhaps be one: whether they can was not
 * seen, which makes nothing less certain of what each of them waits for. */
static void values_read_often(unsigned times, bool perhaps)
{
	struct scene *scene = start();
	const struct tfs_finding *finding;

	for (unsigned i = 0; i < STEPS; i++) {
		scene_step(scene);
		for (unsigned j = 0; j < times; j++) {
			work(scene, 10, SCENE_LEGACY, 40000);
			scene_copy(scene, 11, SCENE_LEGACY, true, false, TFS_MEMORY_PAGEABLE,
				weights, 4, 2000);
			scene_host(scene, 20000);
		}
	}
	scene_judge(scene, NULL);
	finding = scene_finding(scene, "TFS202", 11);
	TEST_NEED(finding);
	TEST_EQ(finding->level, TFS_LEVEL_ERROR);
	TEST_TRUE(finding->cost.low_ns > 0.05 * scene_judgement(scene)->steps.judged_median_ns);
	TEST_TRUE(finding->cost.low_ns <= finding->cost.ns);
	finding = scene_finding(scene, "TFS104", 11);
	TEST_EQ(finding != NULL, perhaps);
	if (finding) {
		TEST_TRUE(strstr(finding->message, ", with other work between them"));
		TEST_TRUE(finding->group > 0);
		TEST_EQ(finding->level, TFS_LEVEL_NOTE);
	}
	scene_destroy(scene);
}

int main(void)
{
	values_read_often(15, false);
	values_read_often(20, true);
	an_upload_read_back(NOTHING, TFS_STATE_VIOLATED);
	an_upload_read_back(THE_BEGINNING, TFS_STATE_PASSED);
	an_upload_read_back(THE_END, TFS_STATE_PASSED);
	an_upload_read_back(ROWS, TFS_STATE_PASSED);
	an_upload_read_back(A_PRODUCT, TFS_STATE_PASSED);
	an_upload_read_back(A_KERNEL, TFS_STATE_PASSED);
	an_upload_read_back(A_HIDDEN_KERNEL, TFS_STATE_NOT_MEASURABLE);
	a_result_read_twice(false);
	a_result_read_twice(true);
	a_table_read_in_each_step();
	a_read_back_behind_shared_memory(TFS_MEMORY_DEVICE, false);
	a_read_back_behind_shared_memory(TFS_MEMORY_MANAGED, true);
	return test_result();
}
