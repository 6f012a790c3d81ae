/* SPDX-License-Identifier: MIT */
/* Buffers as CUPTI 11.8, 13.0 and a version to come lay them out: the same activities give the same
 * records, whatever a record's length and whatever stands behind the fields that all share. With
 * the path of a real CUPTI as argument: the same with its lengths and its way from one record to
 * the next. */
#include <dlfcn.h>

#include "tests/unit/cupti/decode.h"

static const struct layout layouts[] = {
	{18, 200, 88, 96, 88, 40, 40, 48, 120},
	{130001, 216, 96, 96, 88, 56, 56, 56, 128},
	{140000, 320, 128, 136, 104, 72, 80, 96, 160},
};

/* What is read stands where the structs of 11.8 have it. */
#define SAME_PLACE(old, fresh, field)                                                              \
	_Static_assert(offsetof(old, field) == offsetof(fresh, field), #old " " #field)
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, start);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, streamId);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, blockZ);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, staticSharedMemory);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, correlationId);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, name);
SAME_PLACE(CUpti_ActivityKernel8, CUpti_ActivityKernel10, graphNodeId);
SAME_PLACE(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, correlationId);
SAME_PLACE(CUpti_ActivityMemcpy5, CUpti_ActivityMemcpy6, graphNodeId);
SAME_PLACE(CUpti_ActivitySynchronization, CUpti_ActivitySynchronization2, cudaEventId);
SAME_PLACE(CUpti_ActivityOverhead, CUpti_ActivityOverhead3, end);
SAME_PLACE(CUpti_ActivityGraphTrace, CUpti_ActivityGraphTrace2, streamId);
SAME_PLACE(CUpti_ActivityMemory2, CUpti_ActivityMemory4, deviceId);
SAME_PLACE(CUpti_ActivityMemory3, CUpti_ActivityMemory4, deviceId);

static void check_damage(size_t whole)
{
	CUpti_Activity marker = {CUPTI_ACTIVITY_KIND_MARKER};
	CUpti_Activity unheard_of = {(CUpti_ActivityKind)200};
	CUpti_Activity broken = {CUPTI_ACTIVITY_KIND_FORCE_INT};

	/* Cut inside the last record: its fields are not all there. */
	decode(whole - layout->overhead + 8, 1000);
	TEST_EQ(lost_count, 1);
	TEST_EQ(put_count, 10);
	add(&marker, sizeof(marker));
	add(&unheard_of, sizeof(unheard_of));
	decode(buffer_used(), 1000);
	TEST_EQ(lost_count, 2);
	TEST_EQ(put_count, 11);
	memcpy(buffer_bytes() + buffer_used(), &broken, sizeof(broken));
	for (unsigned i = 0; i < 2; i++) {
		broken_status = i ? CUPTI_ERROR_INVALID_PARAMETER : CUPTI_ERROR_INVALID_KIND;
		decode(buffer_used() + 64, 1000);
		TEST_EQ(lost_count, 3);
		TEST_EQ(put_count, 11);
	}
}

/* The length of a record of this kind, from where the library finds the next one. */
static size_t stride(uint32_t kind)
{
	CUpti_Activity *record = NULL;
	size_t i;

	/* The same kind wherever the second record may begin. */
	memset(buffer_bytes(), 0, 1024);
	for (i = 0; i < 1024; i += 8)
		memcpy(buffer_bytes() + i, &kind, sizeof(kind));
	if (next_of_library(buffer_bytes(), 1024, &record) ||
		next_of_library(buffer_bytes(), 1024, &record))
		return 0;
	return (size_t)((uint8_t *)record - buffer_bytes());
}

static int check_library(const char *path)
{
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	struct layout real;

	if (!library)
		printf("%s\n", dlerror());
	TEST_NEED(library);
	next_of_library = (__typeof__(next_of_library))dlsym(library, "cuptiActivityGetNextRecord");
	__typeof__(&cuptiGetVersion) version =
		(__typeof__(version))dlsym(library, "cuptiGetVersion");
	TEST_NEED(next_of_library && version);
	TEST_EQ(version(&real.version), CUPTI_SUCCESS);
	real.kernel = stride(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
	real.copy = stride(CUPTI_ACTIVITY_KIND_MEMCPY);
	real.peer = stride(CUPTI_ACTIVITY_KIND_MEMCPY2);
	real.set = stride(CUPTI_ACTIVITY_KIND_MEMSET);
	real.sync = stride(CUPTI_ACTIVITY_KIND_SYNCHRONIZATION);
	real.overhead = stride(CUPTI_ACTIVITY_KIND_OVERHEAD);
	real.graph = stride(CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
	real.memory = stride(CUPTI_ACTIVITY_KIND_MEMORY2);
	printf("CUPTI %u: kernel %zu, copy %zu, peer %zu, set %zu, sync %zu, overhead %zu, graph %zu, memory %zu\n",
		real.version, real.kernel, real.copy, real.peer, real.set, real.sync, real.overhead,
		real.graph, real.memory);
	layout = &real;
	TEST_EQ(stride(CUPTI_ACTIVITY_KIND_RUNTIME), size_of(CUPTI_ACTIVITY_KIND_RUNTIME));
	TEST_EQ(stride(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION),
		size_of(CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION));
	add_device_work();
	add_host_work();
	decode(buffer_used(), 1000);
	TEST_EQ(put_count, 11);
	TEST_EQ(lost_count, 0);
	check_device_work();
	check_host_work(&puts_[5]);
	return test_result();
}

/* What ended before is left out, and nothing else: neither what lost its end, nor what has none. */
static void check_early(void)
{
	static const enum tfs_record_kind left[] = {TFS_RECORD_device_op, TFS_RECORD_device_op,
		TFS_RECORD_device_op, TFS_RECORD_device_api, TFS_RECORD_overhead, TFS_RECORD_link};

	buffer_clear();
	add_device_work();
	add_host_work();
	from_ns = 1451;
	decode(buffer_used(), 1000);
	from_ns = 0;
	TEST_EQ(lost_count, 0);
	TEST_EQ(put_count, 6);
	for (unsigned i = 0; i < 6; i++)
		TEST_EQ(puts_[i].kind, left[i]);
	TEST_EQ(puts_[0].op.correlation, 43);
	TEST_EQ(puts_[1].op.correlation, 45);
	TEST_EQ(puts_[2].op.correlation, 46);
	TEST_EQ(puts_[3].api.correlation, 51);
}

int main(int count, char **words)
{
	unsigned i;

	if (count > 1)
		return check_library(words[1]);

	for (i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
		layout = &layouts[i];
		buffer_clear();
		decode(0, 0);
		TEST_EQ(put_count + lost_count, 0);
		add_device_work();
		add_host_work();
		decode(buffer_used(), 1000);
		TEST_EQ(put_count, 11);
		TEST_EQ(lost_count, 0);
		check_device_work();
		check_host_work(&puts_[5]);
		check_damage(buffer_used());
		check_bare_kernels();
		check_calls();
		check_early();
	}
	return test_result();
}
