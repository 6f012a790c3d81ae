/* SPDX-License-Identifier: MIT */
#define TFS_HOT_HOOKS
#include <nccl.h>

#include "shim/record/hook.h"
#include "shim/resolve/direct.h"
#include "shim/state/streams.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_nccl

/* A collective or a transfer; counts are in elements. */
struct collective {
	const void *send;
	size_t send_count;
	void *receive;
	size_t receive_count;
	ncclDataType_t type;
	ncclComm_t communicator;
	cudaStream_t stream;
};

static uint32_t type_bytes(ncclDataType_t type)
{
	switch (type) {
	case ncclInt64:
	case ncclUint64:
	case ncclFloat64:
		return 8;
	case ncclFloat16:
	case ncclBfloat16:
		return 2;
	case ncclInt8:
	case ncclUint8:
	case ncclFloat8e4m3:
	case ncclFloat8e5m2:
		return 1;
	default:
		return 4;
	}
}

static int ranks(ncclComm_t communicator)
{
	int size = 1;

	if (!tfs_lookup_steady(TFS_LIBRARY_nccl))
		return 1;
	const __typeof__(&pncclCommCount) count = TFS_DIRECT(pncclCommCount);
	return count && count(communicator, &size) == ncclSuccess ? size : 1;
}

static void note(struct tfs_frame *frame, const struct collective *call)
{
	const uint32_t role = TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE);
	struct tfs_details details;

	tfs_details_init(&details, tfs_stream_id(call->stream, 0));
	tfs_put_operand(&details, call->send, call->send_count * type_bytes(call->type),
		TFS_ROLE_READ | role);
	tfs_put_operand(&details, call->receive, call->receive_count * type_bytes(call->type),
		TFS_ROLE_WRITE | role);
	tfs_put_attribute(
		&details, TFS_ATTRIBUTE_communicator, (uint64_t)(uintptr_t)call->communicator);
	tfs_put_attribute(&details, TFS_ATTRIBUTE_data_type, (uint64_t)call->type);
	tfs_hook_details(frame, &details);
}

/* Of one block per collective: `bytes` is what the call moves out of its send buffer. */
#define COLLECTIVE_HOOK(name, parameters, arguments, bytes, ...)                                   \
	TFS_HOOK(ncclResult_t, name, parameters)                                                   \
	{                                                                                          \
		struct tfs_frame frame = TFS_ENTER(name);                                          \
		const ncclResult_t status = TFS_REAL(name) arguments;                              \
                                                                                                   \
		if (TFS_END(&frame, status, (bytes)*type_bytes(type)))                             \
			note(&frame, &(struct collective){__VA_ARGS__});                           \
		return TFS_LEAVE(&frame), status;                                                  \
	}

COLLECTIVE_HOOK(ncclAllReduce,
	(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
		ncclComm_t communicator, cudaStream_t stream),
	(send, receive, count, type, operation, communicator, stream), count, send, count, receive,
	count, type, communicator, stream)
COLLECTIVE_HOOK(ncclBroadcast,
	(const void *send, void *receive, size_t count, ncclDataType_t type, int root,
		ncclComm_t communicator, cudaStream_t stream),
	(send, receive, count, type, root, communicator, stream), count, send, count, receive,
	count, type, communicator, stream)
COLLECTIVE_HOOK(ncclBcast,
	(void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t communicator,
		cudaStream_t stream),
	(buffer, count, type, root, communicator, stream), count, buffer, count, buffer, count,
	type, communicator, stream)
COLLECTIVE_HOOK(ncclReduce,
	(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
		int root, ncclComm_t communicator, cudaStream_t stream),
	(send, receive, count, type, operation, root, communicator, stream), count, send, count,
	receive, count, type, communicator, stream)
COLLECTIVE_HOOK(ncclAllGather,
	(const void *send, void *receive, size_t count, ncclDataType_t type,
		ncclComm_t communicator, cudaStream_t stream),
	(send, receive, count, type, communicator, stream), count, send, count, receive,
	count *(size_t)ranks(communicator), type, communicator, stream)
COLLECTIVE_HOOK(ncclReduceScatter,
	(const void *send, void *receive, size_t count, ncclDataType_t type, ncclRedOp_t operation,
		ncclComm_t communicator, cudaStream_t stream),
	(send, receive, count, type, operation, communicator, stream), count, send,
	count *(size_t)ranks(communicator), receive, count, type, communicator, stream)
COLLECTIVE_HOOK(ncclSend,
	(const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
		cudaStream_t stream),
	(send, count, type, peer, communicator, stream), count, send, count, NULL, 0, type,
	communicator, stream)
COLLECTIVE_HOOK(ncclRecv,
	(void *receive, size_t count, ncclDataType_t type, int peer, ncclComm_t communicator,
		cudaStream_t stream),
	(receive, count, type, peer, communicator, stream), count, NULL, 0, receive, count, type,
	communicator, stream)
COLLECTIVE_HOOK(ncclAlltoAll,
	(const void *send, void *receive, size_t count, ncclDataType_t type,
		ncclComm_t communicator, cudaStream_t stream),
	(send, receive, count, type, communicator, stream), count, send,
	count *(size_t)ranks(communicator), receive, count *(size_t)ranks(communicator), type,
	communicator, stream)

/* Only the root has all parts. */
static size_t at_root(size_t count, int root, ncclComm_t communicator)
{
	int own = -1;

	if (!tfs_lookup_steady(TFS_LIBRARY_nccl))
		return 0;
	const __typeof__(&pncclCommUserRank) rank = TFS_DIRECT(pncclCommUserRank);
	if (!rank || rank(communicator, &own) != ncclSuccess || own != root)
		return 0;
	return count * (size_t)ranks(communicator);
}

COLLECTIVE_HOOK(ncclGather,
	(const void *send, void *receive, size_t count, ncclDataType_t type, int root,
		ncclComm_t communicator, cudaStream_t stream),
	(send, receive, count, type, root, communicator, stream), count, send, count,
	at_root(count, root, communicator) > 0 ? receive : NULL, at_root(count, root, communicator),
	type, communicator, stream)
COLLECTIVE_HOOK(ncclScatter,
	(const void *send, void *receive, size_t count, ncclDataType_t type, int root,
		ncclComm_t communicator, cudaStream_t stream),
	(send, receive, count, type, root, communicator, stream), count,
	at_root(count, root, communicator) > 0 ? send : NULL, at_root(count, root, communicator),
	receive, count, type, communicator, stream)

#define FUNCTIONS(X)                                                                               \
	X(ncclAllReduce, collective)                                                               \
	X(ncclBroadcast, collective)                                                               \
	X(ncclBcast, collective)                                                                   \
	X(ncclReduce, collective)                                                                  \
	X(ncclAlltoAll, collective)                                                                \
	X(ncclGather, collective)                                                                  \
	X(ncclScatter, collective)                                                                 \
	X(ncclAllGather, collective)                                                               \
	X(ncclReduceScatter, collective)                                                           \
	X(ncclSend, collective)                                                                    \
	X(ncclRecv, collective)

FUNCTIONS(TFS_FUNCTION_ROW)
