/* SPDX-License-Identifier: MIT */
/* The driver's log of errors. The simulated driver writes none: nobody is called, and there is
 * nothing to read. */
#include <pthread.h>
#include <stdlib.h>

#include "tests/sim/cuda/cuda_private.h"

struct CUlogsCallbackEntry_st {
	struct CUlogsCallbackEntry_st *next;
};

static struct CUlogsCallbackEntry_st *entries;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

CUresult cuLogsRegisterCallback(
	CUlogsCallback callbackFunc, void *userData, CUlogsCallbackHandle *callback_out)
{
	struct CUlogsCallbackEntry_st *entry;

	(void)userData;
	if (!callbackFunc)
		return CUDA_ERROR_INVALID_VALUE;
	entry = calloc(1, sizeof(*entry));
	if (!entry)
		return CUDA_ERROR_OUT_OF_MEMORY;
	pthread_mutex_lock(&lock);
	entry->next = entries;
	entries = entry;
	pthread_mutex_unlock(&lock);
	if (callback_out)
		*callback_out = entry;
	return CUDA_SUCCESS;
}

CUresult cuLogsUnregisterCallback(CUlogsCallbackHandle callback)
{
	struct CUlogsCallbackEntry_st **at;
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	pthread_mutex_lock(&lock);
	for (at = &entries; *at && *at != callback; at = &(*at)->next)
		continue;
	if (*at) {
		*at = callback->next;
		free(callback);
		result = CUDA_SUCCESS;
	}
	pthread_mutex_unlock(&lock);
	return result;
}

CUresult cuLogsCurrent(CUlogIterator *iterator_out, unsigned int flags)
{
	if (!iterator_out || flags)
		return CUDA_ERROR_INVALID_VALUE;
	*iterator_out = 0;
	return CUDA_SUCCESS;
}

CUresult cuLogsDumpToMemory(CUlogIterator *iterator, char *buffer, size_t *size, unsigned int flags)
{
	(void)iterator;
	if (!buffer || !size || !*size || flags)
		return CUDA_ERROR_INVALID_VALUE;
	buffer[0] = '\0';
	*size = 0;
	return CUDA_SUCCESS;
}
