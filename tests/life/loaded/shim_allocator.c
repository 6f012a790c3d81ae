/* SPDX-License-Identifier: MIT */
/*
 * A program with its own malloc, as those that link jemalloc have: what it is asked to free and did
 * not hand out ends it. Prints how many blocks are left, which is its own affair alone.
 */
#include <cuda_runtime_api.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/test.h"

#define ROOM (64u << 20)
#define MAGIC 0x5eedf00d12345678u

struct block {
	size_t bytes;
	unsigned long magic;
};

static _Alignas(64) char room[ROOM];
static size_t used;

void *malloc(size_t bytes)
{
	const size_t whole = (bytes + sizeof(struct block) + 63) / 64 * 64;
	const size_t at = __atomic_fetch_add(&used, whole, __ATOMIC_RELAXED);
	struct block *block = (struct block *)(room + at + 64 - sizeof(*block));

	if (at + whole + 64 > ROOM) {
		errno = ENOMEM;
		return NULL;
	}
	*block = (struct block){bytes, MAGIC};
	return block + 1;
}

void free(void *memory)
{
	static const char text[] = "free: not my block\n";
	struct block *block = (struct block *)memory - 1;

	if (!memory)
		return;
	if ((char *)memory < room || (char *)memory >= room + ROOM || block->magic != MAGIC) {
		if (write(STDERR_FILENO, text, sizeof(text) - 1) > 0)
			_exit(98);
		_exit(99);
	}
	block->magic = 0;
}

void *calloc(size_t count, size_t bytes)
{
	void *memory = malloc(count * bytes);

	if (memory)
		memset(memory, 0, count * bytes);
	return memory;
}

void *realloc(void *memory, size_t bytes)
{
	void *grown = malloc(bytes);

	if (memory && grown) {
		const size_t was = ((struct block *)memory - 1)->bytes;

		memcpy(grown, memory, was < bytes ? was : bytes);
		free(memory);
	}
	return grown;
}

int main(void)
{
	size_t before;

	for (int i = 0; i < 50; i++) {
		char *host = malloc(4096);
		void *device = NULL;

		if (cudaMalloc(&device, 4096) != cudaSuccess)
			return test_skip("no device");
		memset(host, i, 4096);
		TEST_EQ(cudaMemcpy(device, host, 4096, cudaMemcpyHostToDevice), cudaSuccess);
		TEST_EQ(cudaMemcpy(host, device, 4096, cudaMemcpyDeviceToHost), cudaSuccess);
		TEST_EQ(host[77], i);
		TEST_EQ(cudaFree(device), cudaSuccess);
		free(host);
	}
	before = used;
	free(malloc(1));
	printf("%zu bytes a block\n", used - before);
	return test_result();
}
