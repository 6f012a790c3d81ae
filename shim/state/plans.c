/* SPDX-License-Identifier: MIT */
#include "shim/state/plans.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

#include "shim/base/child.h"
#include "shim/base/spin.h"
#include "shim/record/recorder.h"
#include "shim/trace/format/format.h"

#define SLOTS 16384u   /* a power of two */
#define MOST 12288u    /* that are taken */
#define MOST_AXES 8    /* cuDNN's */
#define CHANNEL_AXIS 1 /* of any tensor, whatever its layout */

/* Of two that differ nothing is known. */
#define DIFFERS 0xffu

/* What is put together. Types are cudnnDataType_t, and 1 more: 0 = not known. */
struct facts {
	uint16_t operations; /* TFS_OPERATION_* */
	bool unknown;        /* and others */
	uint8_t type;        /* of what products read */
	uint8_t compute;
	uint8_t layout;  /* enum tfs_layout */
	bool is_virtual; /* a tensor that is never in memory, in whatever type that suits cuDNN */
};

static struct slot {
	cudnnBackendDescriptor_t descriptor; /* NULL = free */
	uint8_t type;                        /* cudnnBackendDescriptorType_t */
	struct facts facts;
} slots[SLOTS];
static uint32_t taken;
static struct tfs_spin lock;

/* How many have such an address: most descriptors that come and go are packs of pointers, of which
 * there is one for each call, and need no lock. What is full stays so. */
static _Atomic uint8_t crowd[1u << 16];

/* No operation, but what has operations, or says what they work on. */
#define PART 0x8000u

/* TFS_OPERATION_*, PART, or 0 for what is not kept. */
static uint16_t kind_of(cudnnBackendDescriptorType_t type)
{
	switch (type) {
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR:
		return TFS_OPERATION_CONVOLUTION;
	case CUDNN_BACKEND_OPERATION_MATMUL_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_MOE_GROUPED_MATMUL_DESCRIPTOR:
		return TFS_OPERATION_PRODUCT;
	case CUDNN_BACKEND_OPERATION_SDPA_FWD_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR:
		return TFS_OPERATION_ATTENTION;
	case CUDNN_BACKEND_OPERATION_NORM_FORWARD_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_NORM_BACKWARD_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_GEN_STATS_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_BN_FINALIZE_STATISTICS_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATION_BN_BWD_WEIGHTS_DESCRIPTOR:
		return TFS_OPERATION_NORMALISATION;
	case CUDNN_BACKEND_OPERATION_POINTWISE_DESCRIPTOR:
		return TFS_OPERATION_POINTWISE;
	case CUDNN_BACKEND_TENSOR_DESCRIPTOR:
	case CUDNN_BACKEND_CONVOLUTION_DESCRIPTOR:
	case CUDNN_BACKEND_MATMUL_DESCRIPTOR:
	case CUDNN_BACKEND_OPERATIONGRAPH_DESCRIPTOR:
	case CUDNN_BACKEND_ENGINE_DESCRIPTOR:
	case CUDNN_BACKEND_ENGINECFG_DESCRIPTOR:
	case CUDNN_BACKEND_ENGINEHEUR_DESCRIPTOR:
	case CUDNN_BACKEND_EXECUTION_PLAN_DESCRIPTOR:
		return PART;
	case CUDNN_BACKEND_POINTWISE_DESCRIPTOR:
	case CUDNN_BACKEND_VARIANT_PACK_DESCRIPTOR:
	case CUDNN_BACKEND_KNOB_CHOICE_DESCRIPTOR:
	case CUDNN_BACKEND_KNOB_INFO_DESCRIPTOR:
	case CUDNN_BACKEND_LAYOUT_INFO_DESCRIPTOR:
	case CUDNN_BACKEND_INTERMEDIATE_INFO_DESCRIPTOR:
	case CUDNN_BACKEND_REDUCTION_DESCRIPTOR:
	case CUDNN_BACKEND_RESAMPLE_DESCRIPTOR:
	case CUDNN_BACKEND_RNG_DESCRIPTOR:
	case CUDNN_BACKEND_KERNEL_CACHE_DESCRIPTOR:
	case CUDNN_BACKEND_DEVICEPROP_DESCRIPTOR:
		return 0;
	default:
		return TFS_OPERATION_OTHER;
	}
}

/* What newer versions have may be anything. */
static bool is_newer(cudnnBackendDescriptorType_t type)
{
	return type > CUDNN_BACKEND_OPERATION_SDPA_BWD_DESCRIPTOR;
}

/* Not in a process that is not recorded; nor in a child, where the lock may be held for ever, and
 * the table half changed. */
static bool is_followed(void)
{
	return tfs_recording.header && !tfs_child_is();
}

static uint32_t spread(cudnnBackendDescriptor_t descriptor)
{
	return (uint32_t)((uint64_t)(uintptr_t)descriptor * UINT64_C(0x9E3779B97F4A7C15) >> 32);
}

static uint32_t home(cudnnBackendDescriptor_t descriptor)
{
	return spread(descriptor) & (SLOTS - 1);
}

static _Atomic uint8_t *crowd_of(cudnnBackendDescriptor_t descriptor)
{
	return &crowd[spread(descriptor) >> 16];
}

/* Without the lock. Whoever has the descriptor has it from the thread that made it. */
static bool may_be_known(cudnnBackendDescriptor_t descriptor)
{
	return descriptor && atomic_load_explicit(crowd_of(descriptor), memory_order_relaxed) > 0;
}

static void crowd_add(cudnnBackendDescriptor_t descriptor, int more)
{
	_Atomic uint8_t *own = crowd_of(descriptor);
	const uint8_t now = atomic_load_explicit(own, memory_order_relaxed);

	if (now < UINT8_MAX)
		atomic_store_explicit(own, (uint8_t)(now + more), memory_order_relaxed);
}

/* Its slot, or the free one where it would be. */
static uint32_t find(cudnnBackendDescriptor_t descriptor)
{
	uint32_t at = home(descriptor);

	while (slots[at].descriptor && slots[at].descriptor != descriptor)
		at = (at + 1) & (SLOTS - 1);
	return at;
}

static struct slot *known(cudnnBackendDescriptor_t descriptor)
{
	struct slot *slot = &slots[find(descriptor)];

	return descriptor && slot->descriptor ? slot : NULL;
}

/* Those behind it move up, so that no search ends too early. */
static void forget(cudnnBackendDescriptor_t descriptor)
{
	uint32_t gap = find(descriptor);

	if (!slots[gap].descriptor)
		return;
	for (uint32_t at = (gap + 1) & (SLOTS - 1); slots[at].descriptor;
		at = (at + 1) & (SLOTS - 1)) {
		const uint32_t wants = home(slots[at].descriptor);

		if (((at - wants) & (SLOTS - 1)) < ((at - gap) & (SLOTS - 1)))
			continue;
		slots[gap] = slots[at];
		gap = at;
	}
	slots[gap] = (struct slot){0};
	crowd_add(descriptor, -1);
	taken--;
}

void tfs_plan_created(cudnnBackendDescriptor_t descriptor, cudnnBackendDescriptorType_t type)
{
	const uint16_t kind = kind_of(type);

	if (!descriptor || (!kind && !may_be_known(descriptor)) || !is_followed())
		return;
	tfs_spin_lock(&lock);
	forget(descriptor); /* it was destroyed unseen */
	if (kind && taken < MOST) {
		slots[find(descriptor)] = (struct slot){.descriptor = descriptor,
			.type = (uint8_t)type,
			.facts = {.operations = kind & ~PART, .unknown = is_newer(type)}};
		crowd_add(descriptor, 1);
		taken++;
	}
	tfs_spin_unlock(&lock);
}

void tfs_plan_destroyed(cudnnBackendDescriptor_t descriptor)
{
	if (!may_be_known(descriptor) || !is_followed())
		return;
	tfs_spin_lock(&lock);
	forget(descriptor);
	tfs_spin_unlock(&lock);
}

static void merge_byte(uint8_t *own, uint8_t other)
{
	if (!*own)
		*own = other;
	else if (other && other != *own)
		*own = DIFFERS;
}

/* Is it what an operation reads? */
static bool is_input(cudnnBackendAttributeName_t name)
{
	switch (name) {
	case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X:
	case CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W:
	case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W:
	case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY:
	case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X:
	case CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY:
	case CUDNN_ATTR_OPERATION_MATMUL_ADESC:
	case CUDNN_ATTR_OPERATION_MATMUL_BDESC:
	case CUDNN_ATTR_OPERATION_SDPA_FWD_QDESC:
	case CUDNN_ATTR_OPERATION_SDPA_BWD_QDESC:
		return true;
	default:
		return false;
	}
}

static void merge(struct slot *slot, cudnnBackendAttributeName_t name, const struct slot *other)
{
	const uint16_t own = kind_of((cudnnBackendDescriptorType_t)slot->type) & ~PART;

	slot->facts.operations |= other->facts.operations;
	slot->facts.unknown |= other->facts.unknown;
	merge_byte(&slot->facts.compute, other->facts.compute);
	if (own && (!is_input(name) || other->facts.is_virtual))
		return;
	merge_byte(&slot->facts.type, other->facts.type);
	/* Matrices have none. */
	if (!own || own == TFS_OPERATION_CONVOLUTION)
		merge_byte(&slot->facts.layout, other->facts.layout);
}

static void merge_all(
	struct slot *slot, cudnnBackendAttributeName_t name, int64_t count, const void *elements)
{
	for (int64_t i = 0; i < count; i++) {
		cudnnBackendDescriptor_t one;
		const struct slot *other;

		memcpy(&one, (const char *)elements + (size_t)i * sizeof(one), sizeof(one));
		other = known(one);
		if (other && other != slot)
			merge(slot, name, other);
		else if (name == CUDNN_ATTR_OPERATIONGRAPH_OPS)
			slot->facts.unknown = true;
	}
}

/* Of images: channels beside each other, or apart. One channel is both. */
static uint8_t layout_of(int64_t rank, const void *elements)
{
	int64_t strides[MOST_AXES];

	if (rank < 4 || rank > MOST_AXES)
		return TFS_LAYOUT_UNKNOWN;
	memcpy(strides, elements, (size_t)rank * sizeof(strides[0]));
	if (strides[CHANNEL_AXIS] == 1)
		return strides[rank - 1] == 1 ? TFS_LAYOUT_UNKNOWN : TFS_LAYOUT_CHANNELS_LAST;
	return strides[rank - 1] == 1 ? TFS_LAYOUT_CHANNELS_APART : TFS_LAYOUT_UNKNOWN;
}

static uint8_t type_of(const void *element)
{
	cudnnDataType_t type;

	memcpy(&type, element, sizeof(type));
	return (uint32_t)type < 0xff ? (uint8_t)(type + 1) : 0;
}

static void set(struct slot *slot, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
	if (type == CUDNN_TYPE_BACKEND_DESCRIPTOR)
		merge_all(slot, name, count, elements);
	else if (name == CUDNN_ATTR_TENSOR_DATA_TYPE)
		slot->facts.type = type_of(elements);
	else if (name == CUDNN_ATTR_CONVOLUTION_COMP_TYPE || name == CUDNN_ATTR_MATMUL_COMP_TYPE)
		slot->facts.compute = type_of(elements);
	else if (name == CUDNN_ATTR_TENSOR_IS_VIRTUAL)
		slot->facts.is_virtual = *(const unsigned char *)elements != 0;
	else if (name == CUDNN_ATTR_TENSOR_STRIDES && type == CUDNN_TYPE_INT64)
		slot->facts.layout = layout_of(count, elements);
}

void tfs_plan_set(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeName_t name,
	cudnnBackendAttributeType_t type, int64_t count, const void *elements)
{
	struct slot *slot;

	if (!elements || count < 1 || !may_be_known(descriptor) || !is_followed())
		return;
	tfs_spin_lock(&lock);
	slot = known(descriptor);
	if (slot)
		set(slot, name, type, count, elements);
	tfs_spin_unlock(&lock);
}

static bool is_of_graph(const struct slot *slot)
{
	return slot->type == CUDNN_BACKEND_ENGINECFG_DESCRIPTOR ||
	       slot->type == CUDNN_BACKEND_ENGINE_DESCRIPTOR;
}

void tfs_plan_got(cudnnBackendDescriptor_t descriptor, cudnnBackendAttributeType_t type,
	int64_t count, const void *elements)
{
	const struct slot *slot;

	if (!elements || type != CUDNN_TYPE_BACKEND_DESCRIPTOR || !may_be_known(descriptor) ||
		!is_followed())
		return;
	tfs_spin_lock(&lock);
	slot = known(descriptor);
	for (int64_t i = 0; slot && i < count; i++) {
		cudnnBackendDescriptor_t one;
		struct slot *other;

		memcpy(&one, (const char *)elements + (size_t)i * sizeof(one), sizeof(one));
		other = known(one);
		if (other && other != slot && is_of_graph(other))
			other->facts = slot->facts;
	}
	tfs_spin_unlock(&lock);
}

uint64_t tfs_plan_operations(cudnnBackendDescriptor_t descriptor)
{
	struct facts facts = {0};
	const struct slot *slot;

	if (!is_followed())
		return 0;
	tfs_spin_lock(&lock);
	slot = known(descriptor);
	if (slot)
		facts = slot->facts;
	tfs_spin_unlock(&lock);
	if (!facts.operations || facts.unknown)
		return 0;
	return TFS_OPERATIONS(facts.operations, facts.type == DIFFERS ? 0 : facts.type,
		facts.compute == DIFFERS ? 0 : facts.compute,
		facts.layout == DIFFERS ? TFS_LAYOUT_UNKNOWN : facts.layout);
}
