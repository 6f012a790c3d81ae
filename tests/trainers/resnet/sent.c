/* SPDX-License-Identifier: MIT */
#include "sent.h"

#include "check.h"
#include "resnet.h"

void sent_init(struct sent *sent, size_t floats)
{
	*sent = (struct sent){.floats = floats};
	CUDA(cudaStreamCreateWithFlags(&sent->stream, cudaStreamNonBlocking));
	for (unsigned i = 0; i < 2; i++) {
		CUDA(cudaMallocHost((void **)&sent->host[i], floats * sizeof(float)));
		sent->device[i] = resnet_alloc(floats);
		CUDA(cudaEventCreateWithFlags(&sent->copied[i], cudaEventDisableTiming));
		CUDA(cudaEventCreateWithFlags(&sent->used[i], cudaEventDisableTiming));
	}
}

void sent_finish(struct sent *sent)
{
	for (unsigned i = 0; i < 2; i++) {
		CUDA(cudaEventDestroy(sent->used[i]));
		CUDA(cudaEventDestroy(sent->copied[i]));
		CUDA(cudaFree(sent->device[i]));
		CUDA(cudaFreeHost(sent->host[i]));
	}
	CUDA(cudaStreamDestroy(sent->stream));
}

float *sent_fill(struct sent *sent)
{
	CUDA(cudaEventSynchronize(sent->copied[sent->next])); /* trap: TFS201 */
	return sent->host[sent->next];
}

void sent_go(struct sent *sent)
{
	const unsigned n = sent->next;

	CUDA(cudaStreamWaitEvent(sent->stream, sent->used[n], 0));
	CUDA(cudaMemcpyAsync(/* trap: TFS103 TFS204 */ sent->device[n], sent->host[n],
		sent->floats * sizeof(float), cudaMemcpyHostToDevice, sent->stream));
	CUDA(cudaEventRecord(sent->copied[n], sent->stream));
	sent->next = 1 - n;
}

float *sent_take(struct sent *sent, cudaStream_t stream)
{
	CUDA(cudaStreamWaitEvent(stream, sent->copied[sent->next], 0));
	return sent->device[sent->next];
}

void sent_give(struct sent *sent, cudaStream_t stream)
{
	CUDA(cudaEventRecord(sent->used[sent->next], stream));
}
