/* SPDX-License-Identifier: MIT */
#include "shim/rewrites/common/work.h"

#include <stdatomic.h>
#include <string.h>

#include "shim/base/mutant.h"
#include "shim/record/details.h"
#include "shim/state/memory.h"

#define FUNCTIONS 2048u
#define STREAMS 4097u /* by id; 0 = not known which */

enum work {
	VISIBLE,  /* the default: unknown functions too */
	NOTHING,  /* submits nothing */
	QUIET,    /* if all its operands are device memory */
	BLOCKING, /* the same, or host memory, which it is through with when it returns */
	KERNEL,   /* as VISIBLE; QUIET in a mutant */
	ORDER,    /* QUIET without operands: orders work */
	UNFOLLOWED,
};

static uint8_t classes[FUNCTIONS]; /* enum work and 1, by id; 0 until asked for */
static _Atomic uint64_t latest;
static _Atomic uint64_t finished;
static struct {
	_Atomic uint64_t any;
	_Atomic uint64_t visible;
	_Atomic uint64_t finished;
} streams[STREAMS];
static _Atomic uint32_t stream_count;
static _Atomic(const struct tfs_self *) submitter;
static _Atomic bool many_submitters;

#define BIT(family) (UINT64_C(1) << TFS_FAMILY_##family)

static const uint64_t nothing =
	BIT(alloc) | BIT(free) | BIT(host_alloc) | BIT(host_free) | BIT(host_register) |
	BIT(host_unregister) | BIT(stream_create) | BIT(stream_destroy) | BIT(stream_sync) |
	BIT(device_sync) | BIT(event_create) | BIT(event_destroy) | BIT(event_sync) | BIT(query) |
	BIT(property) | BIT(constant) | BIT(elapsed) | BIT(descriptor) | BIT(descriptor_create) |
	BIT(descriptor_destroy) | BIT(handle) | BIT(handle_create) | BIT(handle_destroy) |
	BIT(workspace_query) | BIT(module) | BIT(conv_get) | BIT(capture) | BIT(capture_end) |
	BIT(reset);
static const uint64_t quiet = BIT(set) | BIT(set_async) | BIT(copy_async) | BIT(gemm) | BIT(blas) |
			      BIT(conv_forward) | BIT(conv_backward_data) |
			      BIT(conv_backward_filter) | BIT(conv_backward_bias) |
			      BIT(normalisation) | BIT(pooling) | BIT(softmax) | BIT(pointwise) |
			      BIT(blas_pointwise) | BIT(bias) | BIT(activation);
static const uint64_t order = BIT(event_record) | BIT(stream_wait);

/* By how the name begins; the first that fits. */
static const struct {
	const char *name;
	enum work class;
} exceptions[] = {
	{"cudaGetLastError", NOTHING},
	{"cudaPeekAtLastError", NOTHING},
	{"cudaSetDevice", NOTHING},
	{"cudaGetDevice", NOTHING},
	{"cudaFuncSetAttribute", NOTHING},
	{"cudaPointerGetAttributes", NOTHING},
	{"cuPointerGetAttribute", NOTHING},
	{"cuMemGetAddressRange", NOTHING},
	{"cublasLtMatmulAlgo", NOTHING},
	/* Its descriptor names more memory than the call does. */
	{"cublasLtMatmul", VISIBLE},
	/* Scalars are read where the call does not say. */
	{"cublasSetPointerMode", UNFOLLOWED},
	/* Other processes, devices and network cards; contexts that go. */
	{"cudaIpcGetMemHandle", UNFOLLOWED},
	{"cuIpcGetMemHandle", UNFOLLOWED},
	{"cuIpcOpenMemHandle", UNFOLLOWED},
	{"cuMemExportToShareableHandle", UNFOLLOWED},
	{"cuMemImportFromShareableHandle", UNFOLLOWED},
	{"cuMemGetHandleForAddressRange", UNFOLLOWED},
	{"cuPointerSetAttribute", UNFOLLOWED},
	{"cuMulticast", UNFOLLOWED},
	{"cuFabricCpy", UNFOLLOWED},
	/* Parts of the device with an order, and default streams, of their own. */
	{"cuGreenCtx", UNFOLLOWED},
	{"cuCtxFromGreenCtx", UNFOLLOWED},
	{"cudaGreenCtx", UNFOLLOWED},
	{"cudaDeviceEnablePeerAccess", UNFOLLOWED},
	{"cuCtxEnablePeerAccess", UNFOLLOWED},
	{"cudaImportExternalSemaphore", UNFOLLOWED},
	{"cuImportExternalSemaphore", UNFOLLOWED},
	{"cuCtxDestroy", UNFOLLOWED},
	{"cuDevicePrimaryCtxRelease", UNFOLLOWED},
};

static bool is_of(uint64_t families, uint8_t family)
{
	return family < 64 && (families >> family & 1) != 0;
}

static enum work class_of(const struct tfs_function *function)
{
	for (size_t i = 0; i < sizeof(exceptions) / sizeof(exceptions[0]); i++)
		if (strncmp(exceptions[i].name, function->name, strlen(exceptions[i].name)) == 0)
			return exceptions[i].class;
	if (function->library == TFS_LIBRARY_nccl)
		return UNFOLLOWED;
	if (is_of(nothing, function->family))
		return NOTHING;
	if (is_of(quiet, function->family))
		return QUIET;
	if (is_of(order, function->family))
		return ORDER;
	if (function->family == TFS_FAMILY_copy)
		return BLOCKING;
	return function->family == TFS_FAMILY_launch ? KERNEL : VISIBLE;
}

static enum work classify(const struct tfs_function *function)
{
	uint8_t *kept = &classes[function->id % FUNCTIONS];
	const uint8_t known = __atomic_load_n(kept, __ATOMIC_RELAXED);
	enum work class;

	if (function->id >= FUNCTIONS)
		return VISIBLE;
	if (known != 0)
		return (enum work)(known - 1);
	class = class_of(function);
	if (class == KERNEL)
		class = TFS_MUTANT(TFS_NAIVE_ARGUMENTS) ? QUIET : VISIBLE;
	__atomic_store_n(kept, (uint8_t)(class + 1), __ATOMIC_RELAXED);
	return class;
}

/* More than fit were not all written down. */
static bool only_device_memory(const struct tfs_details *details, bool or_hosts)
{
	bool any = false;

	if (details->count == sizeof(details->items) / sizeof(details->items[0]))
		return false;
	for (uint32_t i = 0; i < details->count; i++) {
		const struct tfs_item *item = &details->items[i];
		struct tfs_range range;

		if ((TFS_ITEM_ROLE(item) & TFS_ROLE_OPERAND) == 0)
			continue;
		any = true;
		const bool listed = tfs_memory_find(item->value, &range);
		if (or_hosts && (!listed || range.kind == TFS_MEMORY_PINNED))
			continue;
		if (!listed || range.kind != TFS_MEMORY_DEVICE ||
			(range.flags & TFS_RANGE_MAPPED) != 0)
			return false;
	}
	return any;
}

static void raise_to(_Atomic uint64_t *value, uint64_t number)
{
	uint64_t now = atomic_load(value);

	while (now < number && !atomic_compare_exchange_weak(value, &now, number))
		continue;
}

bool tfs_work_is_own(void)
{
	return atomic_load(&submitter) == &tfs_self && !atomic_load(&many_submitters);
}

static void note_submitter(void)
{
	const struct tfs_self *first = NULL;

	if (!atomic_compare_exchange_strong(&submitter, &first, &tfs_self) && first != &tfs_self)
		atomic_store(&many_submitters, true);
}

bool tfs_work_note(const struct tfs_function *function, const struct tfs_details *details)
{
	const enum work class = classify(function);
	const uint32_t stream = details->stream < STREAMS ? details->stream : 0;

	if (class == NOTHING)
		return false;
	note_submitter();
	const bool seen = !TFS_MUTANT(TFS_NAIVE_BLIND) && class != ORDER &&
			  ((class != QUIET && class != BLOCKING) ||
				  !only_device_memory(details, class == BLOCKING));
	const uint64_t number = atomic_fetch_add(&latest, 1) + 1;
	uint32_t count = atomic_load(&stream_count);
	while (count < stream + 1 &&
		!atomic_compare_exchange_weak(&stream_count, &count, stream + 1))
		continue;
	raise_to(&streams[stream].any, number);
	if (seen)
		raise_to(&streams[stream].visible, number);
	return class == UNFOLLOWED;
}

uint64_t tfs_work_now(void)
{
	return atomic_load(&latest);
}

void tfs_work_finished(uint64_t before)
{
	raise_to(&finished, before);
}

void tfs_work_finished_on(uint16_t stream, uint64_t before)
{
	if (stream != 0 && stream < STREAMS)
		raise_to(&streams[stream].finished, before);
}

static bool is_after(uint32_t stream, uint64_t number)
{
	return number > atomic_load(&finished) && number > atomic_load(&streams[stream].finished);
}

bool tfs_work_on(uint16_t stream)
{
	return stream >= STREAMS || is_after(stream, atomic_load(&streams[stream].any)) ||
	       is_after(0, atomic_load(&streams[0].any));
}

bool tfs_work_any(void)
{
	const uint32_t count = atomic_load(&stream_count);

	for (uint32_t i = 0; i < count; i++)
		if (is_after(i, atomic_load(&streams[i].any)))
			return true;
	return false;
}

void tfs_work_look(struct tfs_work *out)
{
	const uint32_t count = atomic_load(&stream_count);

	*out = (struct tfs_work){.unknown = is_after(0, atomic_load(&streams[0].any))};
	for (uint32_t i = 1; i < count; i++) {
		if (is_after(i, atomic_load(&streams[i].visible))) {
			if (out->visible < TFS_WORK_STREAMS)
				out->streams[out->visible] = (uint16_t)i;
			out->visible++;
		} else if (is_after(i, atomic_load(&streams[i].any))) {
			out->quiet++;
		}
	}
}
