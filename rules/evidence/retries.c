/* SPDX-License-Identifier: MIT */
#include "rules/evidence/retries.h"

/* cudaErrorMemoryAllocation, CUDA_ERROR_OUT_OF_MEMORY */
#define OUT_OF_MEMORY 2u

bool tfs_retry_allocates(const struct tfs_host_call *call)
{
	return call->family == TFS_FAMILY_alloc || call->family == TFS_FAMILY_alloc_async ||
	       call->family == TFS_FAMILY_host_alloc;
}

bool tfs_retry_frees(const struct tfs_host_call *call)
{
	return (call->family == TFS_FAMILY_free || call->family == TFS_FAMILY_free_async ||
		       call->family == TFS_FAMILY_host_free) &&
	       !call->record->status;
}

/* Whether both ask for the same. */
static bool alike(const struct tfs_host_call *one, const struct tfs_host_call *other)
{
	return tfs_retry_allocates(other) && one->function == other->function &&
	       one->record->amount == other->record->amount;
}

uint32_t tfs_retry_find(const struct tfs_steady *steady, uint32_t failed, struct tfs_hits *freed)
{
	const struct tfs_host_call *call = tfs_steady_call(steady, failed);
	const size_t before = freed->count;

	if (!tfs_retry_allocates(call) || call->record->status != OUT_OF_MEMORY)
		return TFS_NONE;
	for (uint32_t i = failed + 1; i < steady->call_count && i - failed < TFS_RETRY_CALLS; i++) {
		const struct tfs_host_call *later = tfs_steady_call(steady, i);

		if (later->thread != call->thread)
			continue;
		if (later->step != call->step)
			break;
		if (tfs_retry_frees(later))
			tfs_hits_add(freed, steady->calls[i], later->record->amount,
				(struct tfs_edit){.gone = true});
		if (!alike(call, later) || later->record->status == OUT_OF_MEMORY)
			continue;
		if (!later->record->status && freed->count > before)
			return i;
		break;
	}
	freed->count = before;
	return TFS_NONE;
}
