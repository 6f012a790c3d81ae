/* SPDX-License-Identifier: MIT */
/*
 * Bandwidth of copies to and from the device, by kind of memory, size, chunk and number of copying
 * threads: copies [--rounds N] [--loaders N] [--only PREFIX] [--most BYTES]. Every round measures
 * each way once, so that whatever drifts meets all alike. Prints "copy NAME GB/s" for every round.
 * With --loaders, N threads keep as many cores and the memory busy all the while.
 */
#include <getopt.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tests/gpu/facts/fact.h"

#define OK(call) TEST_EQ(call, 0)

enum { THREADS = 8, RING = 2, CHUNK = 16 << 20, LOADERS = 64, LOADER_BYTES = 16 << 20 };

/* Copies of one size until so much is moved, so that short ones are seen at all. */
static const size_t moved_bytes = 128 << 20;

struct way {
	const char *kind;
	size_t bytes;
	unsigned threads; /* 0: not staged */
	size_t chunk;
};

static size_t most = 256 << 20;
static char *device, *pageable, *pinned, *rings[THREADS];
static cudaStream_t stream;

/* The source moves through a buffer larger than the caches. */
static char *source(char *memory, size_t bytes, unsigned i)
{
	const size_t places = most / bytes;

	return memory + (i % places) * bytes;
}

struct copier {
	pthread_t thread;
	const struct way *way;
	const char *from;
	unsigned number;
};

static void *stage(void *argument)
{
	const struct copier *c = argument;
	const size_t chunk = c->way->chunk;
	cudaEvent_t events[RING];
	unsigned used = 0;

	for (unsigned i = 0; i < RING; i++)
		OK(cudaEventCreateWithFlags(&events[i], cudaEventDisableTiming));
	for (size_t at = c->number * chunk; at < c->way->bytes; at += chunk * c->way->threads) {
		const size_t left = c->way->bytes - at, bytes = left < chunk ? left : chunk;
		char *slot = rings[c->number] + (used % RING) * CHUNK;

		OK(cudaEventSynchronize(events[used % RING]));
		memcpy(slot, c->from + at, bytes);
		OK(cudaMemcpyAsync(device + at, slot, bytes, cudaMemcpyHostToDevice, stream));
		OK(cudaEventRecord(events[used++ % RING], stream));
	}
	for (unsigned i = 0; i < RING; i++) {
		OK(cudaEventSynchronize(events[i]));
		OK(cudaEventDestroy(events[i]));
	}
	return NULL;
}

static void copy_staged(const struct way *way, const char *from)
{
	struct copier copiers[THREADS];

	for (unsigned i = 0; i < way->threads; i++) {
		copiers[i] = (struct copier){.way = way, .from = from, .number = i};
		OK(pthread_create(&copiers[i].thread, NULL, stage, &copiers[i]));
	}
	for (unsigned i = 0; i < way->threads; i++)
		OK(pthread_join(copiers[i].thread, NULL));
}

static void copy_once(const struct way *way, unsigned i)
{
	char *page = source(pageable, way->bytes, i), *pin = source(pinned, way->bytes, i);

	if (way->threads)
		copy_staged(way, page);
	else if (!strcmp(way->kind, "pageable"))
		OK(cudaMemcpy(device, page, way->bytes, cudaMemcpyHostToDevice));
	else if (!strcmp(way->kind, "pageable-async"))
		OK(cudaMemcpyAsync(device, page, way->bytes, cudaMemcpyHostToDevice, stream));
	else if (!strcmp(way->kind, "pinned"))
		OK(cudaMemcpyAsync(device, pin, way->bytes, cudaMemcpyHostToDevice, stream));
	else if (!strcmp(way->kind, "to-pageable"))
		OK(cudaMemcpy(page, device, way->bytes, cudaMemcpyDeviceToHost));
	else if (!strcmp(way->kind, "to-pinned"))
		OK(cudaMemcpyAsync(pin, device, way->bytes, cudaMemcpyDeviceToHost, stream));
	else
		memcpy(pin, page, way->bytes);
}

static void measure(const struct way *way, const char *suffix)
{
	const unsigned times = way->bytes < moved_bytes ? (unsigned)(moved_bytes / way->bytes) : 1;
	char chunk[64] = "";

	OK(cudaDeviceSynchronize());
	const uint64_t start = fact_now_ns();
	for (unsigned i = 0; i < times; i++)
		copy_once(way, i);
	OK(cudaDeviceSynchronize());
	const double seconds = (double)(fact_now_ns() - start) / 1e9;
	if (way->threads)
		snprintf(chunk, sizeof(chunk), "-%u-threads-%zuK-chunks", way->threads,
			way->chunk >> 10);
	printf("copy %s-%zuK%s%s %.3f\n", way->kind, way->bytes >> 10, chunk, suffix,
		(double)way->bytes * times / seconds / 1e9);
	fflush(stdout);
}

/* All ways at most so large; returns how many. */
static unsigned list_ways(struct way *ways, const char *only)
{
	static const char *const kinds[] = {
		"pageable", "pageable-async", "pinned", "to-pageable", "to-pinned", "memcpy"};
	static const size_t sizes[] = {256 << 10, 1536 << 10, 38535168, 256 << 20};
	unsigned count = 0;

	for (unsigned s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
		if (sizes[s] > most)
			continue;
		for (unsigned k = 0; k < sizeof(kinds) / sizeof(*kinds); k++)
			ways[count++] = (struct way){kinds[k], sizes[s], 0, 0};
		for (unsigned threads = 1; threads <= THREADS; threads *= 2)
			for (size_t chunk = 256 << 10; chunk <= CHUNK; chunk *= 4)
				if (chunk <= sizes[s])
					ways[count++] =
						(struct way){"staged", sizes[s], threads, chunk};
	}
	for (unsigned i = 0; i < count;) {
		if (strncmp(ways[i].kind, only, strlen(only)))
			ways[i] = ways[--count];
		else
			i++;
	}
	return count;
}

static void *loader(void *unused)
{
	char *memory = malloc(2 * LOADER_BYTES);

	(void)unused;
	memset(memory, 1, 2 * LOADER_BYTES);
	for (;;)
		memcpy(memory, memory + LOADER_BYTES, LOADER_BYTES);
	return NULL;
}

static void prepare(unsigned loaders)
{
	pthread_t thread;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&device, most));
	OK(cudaMallocHost((void **)&pinned, most));
	for (unsigned i = 0; i < THREADS; i++)
		OK(cudaMallocHost((void **)&rings[i], (size_t)RING * CHUNK));
	TEST_NEED((pageable = malloc(most)));
	memset(pageable, 1, most);
	memset(pinned, 1, most);
	for (unsigned i = 0; i < loaders; i++)
		OK(pthread_create(&thread, NULL, loader, NULL));
}

int main(int argc, char **argv)
{
	static const struct option longs[] = {{"rounds", required_argument, NULL, 'r'},
		{"loaders", required_argument, NULL, 'l'}, {"only", required_argument, NULL, 'o'},
		{"most", required_argument, NULL, 'm'}, {NULL, 0, NULL, 0}};
	static struct way ways[128];
	unsigned rounds = 3, loaders = 0;
	const char *only = "";
	char suffix[32] = "";
	int letter;

	while ((letter = getopt_long(argc, argv, "", longs, NULL)) != -1) {
		if (letter == 'r')
			rounds = (unsigned)atoi(optarg);
		else if (letter == 'l')
			loaders = (unsigned)atoi(optarg) % LOADERS;
		else if (letter == 'o')
			only = optarg;
		else if (letter == 'm')
			most = strtoull(optarg, NULL, 10);
		else
			return 2;
	}
	if (!fact_device())
		return test_skip("no CUDA device");
	prepare(loaders);
	if (loaders)
		snprintf(suffix, sizeof(suffix), "-%u-loaders", loaders);
	const unsigned count = list_ways(ways, only);
	for (unsigned i = 0; i < count; i++) /* what a first copy sets up is no part of it */
		copy_once(&ways[i], 0);
	for (unsigned round = 0; round < rounds; round++)
		for (unsigned i = 0; i < count; i++)
			measure(&ways[round % 2 ? count - 1 - i : i], suffix);
	return test_result();
}
