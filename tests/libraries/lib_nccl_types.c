/* SPDX-License-Identifier: MIT */
/* NCCL's reductions for every type and operation, against sums in this file. */
#include <nccl.h>

#include "tests/libraries/lib_check.h"

enum { MAX = 4, COUNT = 64 };

static int ranks;
static ncclComm_t comms[MAX];
static cudaStream_t streams[MAX];
static char *in[MAX], *out[MAX];

static const char *const names[ncclNumTypes] = {"int8", "uint8", "int32", "uint32", "int64",
	"uint64", "half", "float", "double", "bfloat16", "e4m3", "e5m2"};
static const size_t sizes[ncclNumTypes] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};

/* A number that the type holds exactly, as its bytes. */
static void encode(ncclDataType_t type, double v, void *to)
{
	int64_t whole = (int64_t)v;
	float f = (float)v;
	uint32_t bits, sign, exponent;
	uint16_t two;

	memcpy(&bits, &f, sizeof(bits));
	sign = bits >> 31;
	exponent = bits >> 23 & 255;
	switch (type) {
	case ncclFloat64:
		memcpy(to, &v, 8);
		return;
	case ncclFloat32:
		memcpy(to, &f, 4);
		return;
	case ncclBfloat16:
		two = (uint16_t)(bits >> 16);
		memcpy(to, &two, 2);
		return;
	case ncclFloat16:
	case ncclFloat8e5m2:
		two = (uint16_t)(sign << 15);
		if (exponent)
			two = (uint16_t)(two | (exponent - 112) << 10 | (bits >> 13 & 0x3ff));
		if (type == ncclFloat8e5m2)
			two = (uint16_t)(two >> 8);
		memcpy(to, &two, sizes[type]);
		return;
	case ncclFloat8e4m3:
		*(uint8_t *)to =
			(uint8_t)(sign << 7 |
				  (exponent ? (exponent - 120) << 3 | (bits >> 20 & 7) : 0));
		return;
	default:
		memcpy(to, &whole, sizes[type]);
	}
}

/* Different on each rank; the mean of all is a whole number. */
static double value(int rank, size_t i)
{
	return (double)(i % 2 + 1) + (rank == 0) - (rank == 1);
}

static double reduced(ncclRedOp_t op, size_t i)
{
	double acc = value(0, i);

	for (int r = 1; r < ranks; r++) {
		double v = value(r, i);

		if (op == ncclProd)
			acc *= v;
		else if (op == ncclMax)
			acc = v > acc ? v : acc;
		else if (op == ncclMin)
			acc = v < acc ? v : acc;
		else
			acc += v;
	}
	return op == ncclAvg ? acc / ranks : acc;
}

static void all_reduce(ncclDataType_t type, ncclRedOp_t op, size_t count)
{
	LIB_EQ(ncclGroupStart(), 0);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclAllReduce(in[r], out[r], count, type, op, comms[r], streams[r]), 0);
	LIB_EQ(ncclGroupEnd(), 0);
}

static void put(int rank, const void *host, size_t bytes)
{
	LIB_EQ(cudaSetDevice(rank), 0);
	LIB_EQ(cudaMemcpy(in[rank], host, bytes, cudaMemcpyHostToDevice), 0);
}

static void get(int rank, void *host, size_t bytes)
{
	LIB_EQ(cudaSetDevice(rank), 0);
	LIB_EQ(cudaStreamSynchronize(streams[rank]), 0);
	LIB_EQ(cudaMemcpy(host, out[rank], bytes, cudaMemcpyDeviceToHost), 0);
}

static void check_type(ncclDataType_t type)
{
	char host[COUNT * 8], want[COUNT * 8], got[COUNT * 8];

	for (int r = 0; r < ranks; r++) {
		for (size_t i = 0; i < COUNT; i++)
			encode(type, value(r, i), host + i * sizes[type]);
		put(r, host, COUNT * sizes[type]);
	}
	for (int op = 0; op < ncclNumOps; op++) {
		for (size_t i = 0; i < COUNT; i++)
			encode(type, reduced((ncclRedOp_t)op, i), want + i * sizes[type]);
		all_reduce(type, (ncclRedOp_t)op, COUNT);
		for (int r = 0; r < ranks; r++) {
			get(r, got, COUNT * sizes[type]);
			if (!LIB_TRUE(!memcmp(got, want, COUNT * sizes[type])))
				printf("of %s, operation %d, rank %d\n", names[type], op, r);
		}
	}
}

/* a on rank 0, b on rank 1, nothing elsewhere. */
static void check_float8(ncclDataType_t type, uint8_t a, uint8_t b, uint8_t want)
{
	uint8_t got;

	for (int r = 0; r < ranks; r++)
		put(r, (uint8_t[]){r == 0 ? a : r == 1 ? b : 0}, 1);
	all_reduce(type, ncclSum, 1);
	get(ranks - 1, &got, 1);
	LIB_EQ(got, want);
}

int main(void)
{
	LIB_EQ(cudaGetDeviceCount(&ranks), 0);
	if (ranks > MAX)
		ranks = MAX;
	if (!LIB_TRUE(ranks > 1) || !LIB_EQ(ncclCommInitAll(comms, ranks, NULL), 0))
		return lib_result();
	for (int r = 0; r < ranks; r++) {
		LIB_EQ(cudaSetDevice(r), 0);
		LIB_EQ(cudaStreamCreate(&streams[r]), 0);
		in[r] = (char *)lib_upload(NULL, COUNT * 2);
		out[r] = (char *)lib_upload(NULL, COUNT * 2);
	}
	for (int type = 0; type < ncclNumTypes; type++)
		check_type((ncclDataType_t)type);
	check_float8(ncclFloat8e4m3, 0x7e, 0x7e, 0x7e); /* 448 + 448: the largest is 448 */
	check_float8(ncclFloat8e4m3, 0x58, 0x38, 0x58); /* 16 + 1: to the even one of 16 and 18 */
	check_float8(ncclFloat8e4m3, 0x59, 0x38, 0x5a); /* 18 + 1: to the even one of 18 and 20 */
	check_float8(ncclFloat8e4m3, 0x01, 0x82, 0x81); /* 1 - 2 of the smallest */
	check_float8(ncclFloat8e4m3, 0x07, 0x01, 0x08); /* the smallest normal one */
	check_float8(ncclFloat8e4m3, 0x7f, 0x38, 0x7f);
	check_float8(ncclFloat8e5m2, 0x7b, 0x7b, 0x7b); /* 57344 */
	check_float8(ncclFloat8e5m2, 0x48, 0x3c, 0x48); /* 8 + 1: to the even one of 8 and 10 */
	check_float8(ncclFloat8e5m2, 0x03, 0x01, 0x04);
	LIB_EQ(ncclAllReduce(in[0], out[0], 1, ncclNumTypes, ncclSum, comms[0], streams[0]),
		ncclInvalidArgument);
	for (int r = 0; r < ranks; r++)
		LIB_EQ(ncclCommDestroy(comms[r]), 0);
	return lib_result();
}
