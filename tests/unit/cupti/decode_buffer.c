/* SPDX-License-Identifier: MIT */
#include "tests/unit/cupti/decode.h"

#define FILLER 0xa5

const struct layout *layout;
__typeof__(cuptiActivityGetNextRecord) *next_of_library;
CUptiResult broken_status = CUPTI_ERROR_INVALID_KIND;
bool (*keeps)(uint32_t cbid, bool driver);
uint64_t from_ns;

struct put puts_[PUTS_MOST];
unsigned put_count, lost_count;

static union {
	uint64_t align;
	uint8_t bytes[BUFFER_BYTES];
} buffer;
static size_t used;

void buffer_clear(void)
{
	memset(buffer.bytes, FILLER, sizeof(buffer.bytes));
	used = 0;
}

size_t buffer_used(void)
{
	return used;
}

uint8_t *buffer_bytes(void)
{
	return buffer.bytes;
}

size_t size_of(uint32_t kind)
{
	switch (kind) {
	case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL:
		return layout->kernel;
	case CUPTI_ACTIVITY_KIND_MEMCPY:
		return layout->copy;
	case CUPTI_ACTIVITY_KIND_MEMCPY2:
		return layout->peer;
	case CUPTI_ACTIVITY_KIND_MEMSET:
		return layout->set;
	case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION:
		return layout->sync;
	case CUPTI_ACTIVITY_KIND_OVERHEAD:
		return layout->overhead;
	case CUPTI_ACTIVITY_KIND_GRAPH_TRACE:
		return layout->graph;
	case CUPTI_ACTIVITY_KIND_MEMORY2:
		return layout->memory;
	case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION:
		return 24;
	case CUPTI_ACTIVITY_KIND_RUNTIME:
	case CUPTI_ACTIVITY_KIND_DRIVER:
		return 40;
	case CUPTI_ACTIVITY_KIND_FORCE_INT:
		return 0;
	default:
		return 48;
	}
}

static CUptiResult next(uint8_t *bytes, size_t valid, CUpti_Activity **record)
{
	size_t offset = 0;

	if (next_of_library)
		return next_of_library(bytes, valid, record);
	if (*record)
		offset = (size_t)((uint8_t *)*record - bytes) + size_of((*record)->kind);
	if (offset >= valid)
		return CUPTI_ERROR_MAX_LIMIT_REACHED;
	if (!size_of(((CUpti_Activity *)(bytes + offset))->kind))
		return broken_status;
	*record = (CUpti_Activity *)(bytes + offset);
	return CUPTI_SUCCESS;
}

static void put(const void *record, enum tfs_record_kind kind, size_t bytes)
{
	if (put_count == PUTS_MOST || !TEST_TRUE(bytes <= sizeof(puts_[0].op)))
		return;
	puts_[put_count].kind = kind;
	memcpy(&puts_[put_count++].op, record, bytes);
}

static uint32_t intern(const char *name)
{
	return strcmp(name, "gemm") ? 1 : 77;
}

static void lose(enum tfs_loss loss, uint64_t count)
{
	TEST_EQ(loss, TFS_LOSS_cupti_unknown);
	lost_count += (unsigned)count;
}

/* What a layout cuts off or adds is not ours to read: the rest is filler. */
void add(const void *record, size_t bytes)
{
	size_t size = size_of(((const CUpti_Activity *)record)->kind);

	memset(buffer.bytes + used, FILLER, size);
	memcpy(buffer.bytes + used, record, bytes < size ? bytes : size);
	used += size;
}

void decode(size_t valid, int64_t offset_ns)
{
	const struct tfs_decoder decoder = {.next = next,
		.version = layout->version,
		.from_ns = from_ns,
		.offset_ns = offset_ns,
		.put = put,
		.keeps = keeps,
		.kernel = intern,
		.lost = lose};

	put_count = 0;
	lost_count = 0;
	tfs_cupti_decode(&decoder, buffer.bytes, valid);
}
