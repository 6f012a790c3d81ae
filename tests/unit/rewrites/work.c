/* SPDX-License-Identifier: MIT */
/* What the program has submitted and not waited for: which calls count as what, stream by stream.
 */
#include "shim/rewrites/common/work.h"

#include "shim/record/details.h"
#include "shim/record/hook.h"
#include "shim/state/memory.h"
#include "tests/test.h"

#define ON_DEVICE ((void *)0x10000)
#define PINNED ((void *)0x20000)
#define UNKNOWN ((void *)0x30000)

static struct tfs_function functions[] = {
	{.name = "cudaMemsetAsync", .id = 1, .family = TFS_FAMILY_set_async},
	{.name = "cudaMemcpyAsync", .id = 2, .family = TFS_FAMILY_copy_async},
	{.name = "cudaMemcpy", .id = 3, .family = TFS_FAMILY_copy},
	{.name = "cudaLaunchKernel", .id = 4, .family = TFS_FAMILY_launch},
	{.name = "cudaGetLastError", .id = 5, .family = TFS_FAMILY_other},
	{.name = "cuIpcOpenMemHandle_v2", .id = 6, .family = TFS_FAMILY_other},
	{.name = "cuMemPrefetchAsync", .id = 7, .family = TFS_FAMILY_other},
	{.name = "cudaEventRecord", .id = 8, .family = TFS_FAMILY_event_record},
	{.name = "cublasLtMatmul", .id = 9, .family = TFS_FAMILY_gemm},
	{.name = "cublasLtMatmulAlgoGetHeuristic", .id = 10, .family = TFS_FAMILY_workspace_query},
	{.name = "ncclAllReduce",
		.id = 11,
		.library = TFS_LIBRARY_nccl,
		.family = TFS_FAMILY_collective},
	{.name = "cublasSetPointerMode_v2", .id = 12, .family = TFS_FAMILY_handle},
	{.name = "cuCtxRecordEvent", .id = 13, .family = TFS_FAMILY_event_record},
	{.name = "cuGreenCtxCreate", .id = 14, .family = TFS_FAMILY_handle_create},
};
enum {
	SET = 0,
	COPY,
	BLOCKING,
	LAUNCH,
	ERROR,
	OPEN,
	PREFETCH,
	RECORD,
	LT,
	HEURISTIC,
	REDUCE,
	POINTERS,
	RECORD_ALL,
	GREEN
};

__thread struct tfs_self tfs_self __attribute__((tls_model("initial-exec")));

void tfs_recorder_lost(enum tfs_loss loss, uint64_t count)
{
	TEST_EQ(loss, count);
}

/* Everything before is finished; then one call, on stream 3, that touches these. */
static struct tfs_work after(int function, const void *one, const void *other)
{
	struct tfs_details details;
	struct tfs_work work;

	tfs_work_finished(tfs_work_now());
	TEST_TRUE(!tfs_work_any());
	tfs_details_init(
		&details, function == PREFETCH || function == RECORD_ALL ? TFS_NO_STREAM : 3);
	tfs_put_operand(&details, one, 64, TFS_ROLE_WRITE);
	tfs_put_operand(&details, other, 64, TFS_ROLE_READ);
	const bool followed = !tfs_work_note(&functions[function], &details);
	TEST_EQ(followed, function != OPEN && function != REDUCE && function != POINTERS &&
				  function != GREEN);
	tfs_work_look(&work);
	return work;
}

#define IS(work, how_visible, how_quiet)                                                           \
	do {                                                                                       \
		const struct tfs_work found = work;                                                \
		TEST_EQ(found.visible, how_visible);                                               \
		TEST_EQ(found.quiet, how_quiet);                                                   \
	} while (0)

static void check_streams(void)
{
	struct tfs_details details;
	struct tfs_work work;

	tfs_work_finished(tfs_work_now());
	for (uint16_t stream = 1; stream <= 20; stream++) {
		tfs_details_init(&details, stream);
		tfs_work_note(&functions[LAUNCH], &details);
	}
	const uint64_t before = tfs_work_now();
	tfs_details_init(&details, 7);
	tfs_work_note(&functions[LAUNCH], &details);
	tfs_work_finished_on(6, before);
	tfs_work_finished_on(7, before);
	TEST_TRUE(!tfs_work_on(6));
	TEST_TRUE(tfs_work_on(7));
	TEST_TRUE(tfs_work_on(8));
	tfs_work_look(&work);
	TEST_EQ(work.visible, 19);
	TEST_EQ(work.streams[0], 1);
	tfs_work_finished(before);
	tfs_work_look(&work);
	TEST_EQ(work.visible, 1);
	TEST_EQ(work.streams[0], 7);
	TEST_TRUE(!work.unknown);
	TEST_TRUE(tfs_work_is_own());
}

int main(void)
{
	const struct tfs_range device = {.address = (uint64_t)(uintptr_t)ON_DEVICE,
		.bytes = 4096,
		.kind = TFS_MEMORY_DEVICE};
	const struct tfs_range pinned = {.address = (uint64_t)(uintptr_t)PINNED,
		.bytes = 4096,
		.kind = TFS_MEMORY_PINNED,
		.flags = TFS_RANGE_MAPPED};

	tfs_memory_add(&device);
	tfs_memory_add(&pinned);
	IS(after(SET, ON_DEVICE, NULL), 0, 1);
	IS(after(SET, PINNED, NULL), 1, 0);
	IS(after(SET, UNKNOWN, NULL), 1, 0);
	IS(after(SET, NULL, NULL), 1, 0);
	IS(after(COPY, ON_DEVICE, ON_DEVICE), 0, 1);
	IS(after(COPY, ON_DEVICE, PINNED), 1, 0);
	IS(after(COPY, UNKNOWN, ON_DEVICE), 1, 0);
	IS(after(BLOCKING, ON_DEVICE, PINNED), 0, 1);
	IS(after(BLOCKING, UNKNOWN, ON_DEVICE), 0, 1);
	IS(after(LAUNCH, ON_DEVICE, ON_DEVICE), 1, 0);
	IS(after(ERROR, NULL, NULL), 0, 0);
	IS(after(OPEN, NULL, NULL), 1, 0);
	IS(after(RECORD, NULL, NULL), 0, 1);
	IS(after(LT, ON_DEVICE, ON_DEVICE), 1, 0);
	IS(after(HEURISTIC, NULL, NULL), 0, 0);
	IS(after(REDUCE, ON_DEVICE, ON_DEVICE), 1, 0);
	IS(after(POINTERS, NULL, NULL), 1, 0);
	IS(after(GREEN, NULL, NULL), 1, 0);
	TEST_TRUE(after(PREFETCH, ON_DEVICE, NULL).unknown);
	TEST_TRUE(after(RECORD_ALL, NULL, NULL).unknown);
	check_streams();
	return test_result();
}
