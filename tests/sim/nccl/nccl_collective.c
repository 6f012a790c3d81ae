/* SPDX-License-Identifier: MIT */
#include "tests/sim/nccl/nccl_comm.h"

static bool reduces(enum tfs_nccl_what what)
{
	return what == TFS_NCCL_ALL_REDUCE || what == TFS_NCCL_REDUCE ||
	       what == TFS_NCCL_REDUCE_SCATTER;
}

static ncclResult_t submit(ncclComm_t comm, cudaStream_t stream, struct tfs_nccl_op o)
{
	if (!comm || !tfs_nccl_size(o.type))
		return ncclInvalidArgument;
	if (comm->revoked)
		return ncclInvalidUsage;
	if (o.peer < 0 || o.peer >= comm->nranks)
		return ncclInvalidArgument;
	if (reduces(o.what) && (int)o.op >= ncclNumOps) {
		int i = (int)o.op - ncclNumOps;

		if (i >= TFS_NCCL_FACTORS || !comm->factors[i].used)
			return ncclInvalidArgument;
		o.factor = comm->factors[i];
	}
	return tfs_nccl_submit(comm, stream, &o);
}

TFS_NCCL_API ncclResult_t pncclAllReduce(const void *sendbuff, void *recvbuff, size_t count,
	ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_ALL_REDUCE,
			.send = sendbuff,
			.recv = recvbuff,
			.count = count,
			.type = datatype,
			.op = op});
}

TFS_NCCL_ALIAS(ncclAllReduce);

TFS_NCCL_API ncclResult_t pncclReduce(const void *sendbuff, void *recvbuff, size_t count,
	ncclDataType_t datatype, ncclRedOp_t op, int root, ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_REDUCE,
			.send = sendbuff,
			.recv = recvbuff,
			.count = count,
			.type = datatype,
			.op = op,
			.peer = root});
}

TFS_NCCL_ALIAS(ncclReduce);

TFS_NCCL_API ncclResult_t pncclBroadcast(const void *sendbuff, void *recvbuff, size_t count,
	ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_BROADCAST,
			.send = sendbuff,
			.recv = recvbuff,
			.count = count,
			.type = datatype,
			.peer = root});
}

TFS_NCCL_ALIAS(ncclBroadcast);

TFS_NCCL_API ncclResult_t pncclBcast(void *buff, size_t count, ncclDataType_t datatype, int root,
	ncclComm_t comm, cudaStream_t stream)
{
	return pncclBroadcast(buff, buff, count, datatype, root, comm, stream);
}

TFS_NCCL_ALIAS(ncclBcast);

TFS_NCCL_API ncclResult_t pncclReduceScatter(const void *sendbuff, void *recvbuff, size_t recvcount,
	ncclDataType_t datatype, ncclRedOp_t op, ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_REDUCE_SCATTER,
			.send = sendbuff,
			.recv = recvbuff,
			.count = recvcount,
			.type = datatype,
			.op = op});
}

TFS_NCCL_ALIAS(ncclReduceScatter);

TFS_NCCL_API ncclResult_t pncclAllGather(const void *sendbuff, void *recvbuff, size_t sendcount,
	ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_ALL_GATHER,
			.send = sendbuff,
			.recv = recvbuff,
			.count = sendcount,
			.type = datatype});
}

TFS_NCCL_ALIAS(ncclAllGather);

TFS_NCCL_API ncclResult_t pncclAlltoAll(const void *sendbuff, void *recvbuff, size_t count,
	ncclDataType_t datatype, ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_ALL_TO_ALL,
			.send = sendbuff,
			.recv = recvbuff,
			.count = count,
			.type = datatype});
}

TFS_NCCL_ALIAS(ncclAlltoAll);

TFS_NCCL_API ncclResult_t pncclGather(const void *sendbuff, void *recvbuff, size_t count,
	ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_GATHER,
			.send = sendbuff,
			.recv = recvbuff,
			.count = count,
			.type = datatype,
			.peer = root});
}

TFS_NCCL_ALIAS(ncclGather);

TFS_NCCL_API ncclResult_t pncclScatter(const void *sendbuff, void *recvbuff, size_t count,
	ncclDataType_t datatype, int root, ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_SCATTER,
			.send = sendbuff,
			.recv = recvbuff,
			.count = count,
			.type = datatype,
			.peer = root});
}

TFS_NCCL_ALIAS(ncclScatter);

TFS_NCCL_API ncclResult_t pncclSend(const void *sendbuff, size_t count, ncclDataType_t datatype,
	int peer, ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_SEND,
			.send = sendbuff,
			.count = count,
			.type = datatype,
			.peer = peer});
}

TFS_NCCL_ALIAS(ncclSend);

TFS_NCCL_API ncclResult_t pncclRecv(void *recvbuff, size_t count, ncclDataType_t datatype, int peer,
	ncclComm_t comm, cudaStream_t stream)
{
	return submit(comm, stream,
		(struct tfs_nccl_op){.what = TFS_NCCL_RECV,
			.recv = recvbuff,
			.count = count,
			.type = datatype,
			.peer = peer});
}

TFS_NCCL_ALIAS(ncclRecv);
