/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/content_kernel.h"

#include <cuda.h>

#include "rules/rewrites/memory_functions.h"
#include "shim/hook.h"

#define CONTEXTS 4u
#define WARPS 4u         /* of a thread block; each hashes a block of memory */
#define LEAST (1u << 16) /* bytes for sums */
#define GRAIN (2u << 20) /* the driver takes memory by this much */
#define SPARE 64u        /* of so much that is free, one part may be taken */

/*
 * One level, in C for CUDA:
 *
 *	__global__ void tfshim_content(const u64 *data, u64 bytes, const u64 *key, u64 *out)
 *	{
 *		u64 block = blockIdx.x * 4ull + threadIdx.x / 32, sums[4] = {0};
 *		if (block * 4096 >= bytes)
 *			return;
 *		data += block * 512;
 *		u32 left = min(bytes - block * 4096, 4096ull);
 *		for (u32 at = threadIdx.x % 32 * 8; at < left; at += 256) {
 *			u64 word = at + 8 <= left ? data[at / 8] : the bytes that are left, then
 *zeros; for (int t = 0; t < 4; t++) { u64 k = key[at / 8 + t]; sums[t] += (u64)(lo(word) + lo(k)) *
 *(hi(word) + hi(k));
 *			}
 *		}
 *		for (int step = 16; step > 0; step /= 2)
 *			for (int t = 0; t < 4; t++)
 *				sums[t] += __shfl_down_sync(~0u, sums[t], step);
 *		if (threadIdx.x % 32 == 0)
 *			for (int t = 0; t < 4; t++)
 *				out[block * 4 + t] = sums[t];
 *	}
 *
 * The oldest architecture and version that have what it uses: any later driver compiles it.
 */
#define MIX(sum, offset)                                                                           \
	"ld.global.u64 %k, [%keyat+" #offset "];\n"                                                \
	"mov.b64 {%klow, %khigh}, %k;\n"                                                           \
	"add.u32 %klow, %klow, %low;\n"                                                            \
	"add.u32 %khigh, %khigh, %high;\n"                                                         \
	"mad.wide.u32 %" #sum ", %klow, %khigh, %" #sum ";\n"
#define FOLD(sum)                                                                                  \
	"mov.b64 {%low, %high}, %" #sum ";\n"                                                      \
	"shfl.sync.down.b32 %low, %low, %step, 31, 0xffffffff;\n"                                  \
	"shfl.sync.down.b32 %high, %high, %step, 31, 0xffffffff;\n"                                \
	"mov.b64 %k, {%low, %high};\n"                                                             \
	"add.u64 %" #sum ", %" #sum ", %k;\n"

#define MIXES MIX(s0, 0) MIX(s1, 8) MIX(s2, 16) MIX(s3, 24)
#define FOLDS FOLD(s0) FOLD(s1) FOLD(s2) FOLD(s3)

const char tfs_content_kernel[] =
	".version 6.0\n"
	".target sm_50\n"
	".address_size 64\n"
	".visible .entry tfshim_content(\n"
	"	.param .u64 pdata,\n"
	"	.param .u64 pbytes,\n"
	"	.param .u64 pkey,\n"
	"	.param .u64 pout\n"
	")\n"
	"{\n"
	".reg .pred %done, %whole, %first;\n"
	".reg .u32 %thread, %lane, %left, %at, %end, %step, %n, %byte;\n"
	".reg .u32 %low, %high, %klow, %khigh;\n"
	".reg .u64 %data, %bytes, %key, %out, %block, %start, %warp, %from, %keyat;\n"
	".reg .u64 %word, %k, %one, %s0, %s1, %s2, %s3;\n"
	"ld.param.u64 %data, [pdata];\n"
	"ld.param.u64 %bytes, [pbytes];\n"
	"ld.param.u64 %key, [pkey];\n"
	"ld.param.u64 %out, [pout];\n"
	"cvta.to.global.u64 %data, %data;\n"
	"cvta.to.global.u64 %key, %key;\n"
	"cvta.to.global.u64 %out, %out;\n"
	"mov.u32 %thread, %tid.x;\n"
	"and.b32 %lane, %thread, 31;\n"
	"shr.u32 %thread, %thread, 5;\n"
	"cvt.u64.u32 %warp, %thread;\n"
	"mov.u32 %n, %ctaid.x;\n"
	"mul.wide.u32 %block, %n, 4;\n"
	"add.u64 %block, %block, %warp;\n"
	"shl.b64 %start, %block, 12;\n"
	"setp.ge.u64 %done, %start, %bytes;\n"
	"@%done bra END;\n"
	"add.u64 %data, %data, %start;\n"
	"sub.u64 %bytes, %bytes, %start;\n"
	"min.u64 %bytes, %bytes, 4096;\n"
	"cvt.u32.u64 %left, %bytes;\n"
	"mov.u64 %s0, 0;\n"
	"mov.u64 %s1, 0;\n"
	"mov.u64 %s2, 0;\n"
	"mov.u64 %s3, 0;\n"
	"shl.b32 %at, %lane, 3;\n"
	"NEXT:\n"
	"setp.ge.u32 %done, %at, %left;\n"
	"@%done bra SUM;\n"
	"cvt.u64.u32 %from, %at;\n"
	"add.u64 %keyat, %key, %from;\n"
	"add.u64 %from, %data, %from;\n"
	"add.u32 %end, %at, 8;\n"
	"setp.le.u32 %whole, %end, %left;\n"
	"@%whole bra WHOLE;\n"
	/* From the last byte to the first. */
	"mov.u64 %word, 0;\n"
	"sub.u32 %n, %left, %at;\n"
	"BYTE:\n"
	"sub.u32 %n, %n, 1;\n"
	"cvt.u64.u32 %one, %n;\n"
	"add.u64 %one, %from, %one;\n"
	"ld.global.u8 %byte, [%one];\n"
	"cvt.u64.u32 %one, %byte;\n"
	"shl.b64 %word, %word, 8;\n"
	"or.b64 %word, %word, %one;\n"
	"setp.ne.u32 %whole, %n, 0;\n"
	"@%whole bra BYTE;\n"
	"bra MIX;\n"
	"WHOLE:\n"
	"ld.global.u64 %word, [%from];\n"
	"MIX:\n"
	"mov.b64 {%low, %high}, %word;\n"
	/* Into all four sums. */
	MIXES
	/* On to the thread's next word. */
	"add.u32 %at, %at, 256;\n"
	"bra NEXT;\n"
	"SUM:\n"
	"mov.u32 %step, 16;\n"
	"FOLD:\n"
	/* The sums of the upper half are added to the lower half's. */
	FOLDS
	/* Then of half as many threads. */
	"shr.u32 %step, %step, 1;\n"
	"setp.ne.u32 %whole, %step, 0;\n"
	"@%whole bra FOLD;\n"
	"setp.ne.u32 %first, %lane, 0;\n"
	"@%first bra END;\n"
	"shl.b64 %block, %block, 5;\n"
	"add.u64 %out, %out, %block;\n"
	"st.global.u64 [%out], %s0;\n"
	"st.global.u64 [%out+8], %s1;\n"
	"st.global.u64 [%out+16], %s2;\n"
	"st.global.u64 [%out+24], %s3;\n"
	"END:\n"
	"ret;\n"
	"}\n";

static struct {
	__typeof__(&cuModuleLoadData) load;
	__typeof__(&cuModuleGetFunction) function;
	__typeof__(&cuModuleUnload) unload;
	__typeof__(&cuLaunchKernel) launch;
	__typeof__(&cuMemAlloc) alloc;
	__typeof__(&cuMemFree) release;
	__typeof__(&cuMemGetInfo) info;
	__typeof__(&cuMemcpyHtoD) send;
	__typeof__(&cuMemcpyDtoH) receive;
	__typeof__(&cuPointerGetAttribute) attribute;
} driver;

/* What lies in a context: the kernel, and memory with the key in front. */
static struct place {
	void *context; /* NULL: free */
	uint32_t device;
	CUmodule module;
	CUfunction kernel;
	CUdeviceptr memory;
	uint64_t room;            /* bytes for sums, behind the key */
	unsigned long long stamp; /* that memory's, which goes when the context does */
} places[CONTEXTS];
static CUdeviceptr result; /* of what was started */

#define LOOK_UP(field, name)                                                                       \
	(driver.field = (__typeof__(driver.field))tfs_lookup_named(TFS_LIBRARY_cuda, name))

static bool have_driver(void)
{
	static int known; /* 1: there, 2: not */

	if (known == 0)
		known = LOOK_UP(load, "cuModuleLoadData") &&
					LOOK_UP(function, "cuModuleGetFunction") &&
					LOOK_UP(unload, "cuModuleUnload") &&
					LOOK_UP(launch, "cuLaunchKernel") &&
					LOOK_UP(alloc, "cuMemAlloc_v2") &&
					LOOK_UP(release, "cuMemFree_v2") &&
					LOOK_UP(info, "cuMemGetInfo_v2") &&
					LOOK_UP(send, "cuMemcpyHtoD_v2") &&
					LOOK_UP(receive, "cuMemcpyDtoH_v2") &&
					LOOK_UP(attribute, "cuPointerGetAttribute")
				? 1
				: 2;
	return known == 1;
}

/* 0: none. */
static unsigned long long stamp_of(CUdeviceptr memory)
{
	unsigned long long stamp = 0;

	return memory != 0 && driver.attribute(&stamp, CU_POINTER_ATTRIBUTE_BUFFER_ID, memory) ==
				       CUDA_SUCCESS
		       ? stamp
		       : 0;
}

/* The sums of all levels, one behind the other. */
static uint64_t sums_of(uint64_t bytes)
{
	uint64_t all = 0;

	do {
		bytes = (bytes + TFS_CONTENT_BLOCK - 1) / TFS_CONTENT_BLOCK *
			sizeof(struct tfs_content_hash);
		all += bytes;
	} while (bytes > sizeof(struct tfs_content_hash));
	return all;
}

static struct place *place_of(void *context)
{
	for (uint32_t i = 0; i < CONTEXTS; i++)
		if (places[i].context == context)
			return &places[i];
	return NULL;
}

static bool has_room(uint64_t bytes)
{
	size_t available = 0;
	size_t all = 0;

	return driver.info(&available, &all) == CUDA_SUCCESS &&
	       (bytes < GRAIN ? GRAIN : bytes) * SPARE <= available;
}

/* Memory for so many sums, with the key; what was there before is given back. */
static bool grow(struct place *place, uint64_t room, const struct tfs_content_key *key)
{
	CUdeviceptr memory = 0;

	for (uint64_t power = LEAST;; power *= 2)
		if (power >= room) {
			room = power;
			break;
		}
	if (!has_room(sizeof(*key) + room) ||
		driver.alloc(&memory, sizeof(*key) + room) != CUDA_SUCCESS)
		return false;
	const unsigned long long stamp = stamp_of(memory);
	if (stamp == 0 || driver.send(memory, key, sizeof(*key)) != CUDA_SUCCESS) {
		driver.release(memory);
		return false;
	}
	if (place->memory != 0)
		driver.release(place->memory);
	place->memory = memory;
	place->room = room;
	place->stamp = stamp;
	return true;
}

static bool load(struct place *place)
{
	if (driver.load(&place->module, tfs_content_kernel) != CUDA_SUCCESS)
		return false;
	if (driver.function(&place->kernel, place->module, "tfshim_content") == CUDA_SUCCESS)
		return true;
	driver.unload(place->module);
	return false;
}

/* NULL when it cannot be had. */
static struct place *prepare(
	void *context, uint32_t device, uint64_t room, const struct tfs_content_key *key)
{
	struct place *place = place_of(context);

	/* Another context at the same address: all that was in the old one is gone. */
	if (place != NULL && stamp_of(place->memory) != place->stamp)
		*place = (struct place){0};
	if (place != NULL && place->context == context)
		return place->room >= room || grow(place, room, key) ? place : NULL;
	place = place_of(NULL);
	if (place == NULL || !grow(place, room, key))
		return NULL;
	if (!load(place)) {
		driver.release(place->memory);
		*place = (struct place){0};
		return NULL;
	}
	place->context = context;
	place->device = device;
	return place;
}

bool tfs_content_start(void *context, uint32_t device, const void *memory, size_t bytes,
	const struct tfs_content_key *key)
{
	struct place *place;
	CUdeviceptr from = (CUdeviceptr)(uintptr_t)memory;
	uint64_t left = bytes;

	if (!have_driver() || (place = prepare(context, device, sums_of(bytes), key)) == NULL)
		return false;
	result = place->memory + sizeof(*key);
	for (uint32_t level = 0;; level++) {
		CUdeviceptr key_at = place->memory + level * sizeof(key->words[0]);
		const uint64_t blocks = (left + TFS_CONTENT_BLOCK - 1) / TFS_CONTENT_BLOCK;
		void *arguments[] = {&from, &left, &key_at, &result};

		if (driver.launch(place->kernel, (unsigned)((blocks + WARPS - 1) / WARPS), 1, 1,
			    32 * WARPS, 1, 1, 0, CU_STREAM_LEGACY, arguments, NULL) != CUDA_SUCCESS)
			return false;
		if (blocks == 1)
			return true;
		from = result;
		left = blocks * sizeof(struct tfs_content_hash);
		result += left;
	}
}

bool tfs_content_finish(struct tfs_content_hash *out_hash)
{
	return driver.receive(out_hash, result, sizeof(*out_hash)) == CUDA_SUCCESS;
}

bool tfs_content_read(void *to, const void *from, size_t bytes)
{
	return driver.receive(to, (CUdeviceptr)(uintptr_t)from, bytes) == CUDA_SUCCESS;
}

void tfs_content_reset(uint32_t device)
{
	for (uint32_t i = 0; i < CONTEXTS; i++)
		if (places[i].device == device)
			places[i] = (struct place){0};
}
