/* SPDX-License-Identifier: MIT */
/*
 * Makes the calls of a recording on the simulated device. Reads lines from the standard input, and
 * answers each with modelled times in nanoseconds: of the host before and after it, and the start
 * and end of the operation that it gave the device (else zeros).
 *
 *	spend NS                           the host's own time, or a call without a cost here
 *	kernel STREAM NS BLOCKS THREADS    an operation that took so long in the recording
 *	memset STREAM NS BYTES
 *	copy STREAM NS BYTES TO FROM       within the device: its recorded time; else as the profile
 *says record EVENT STREAM wait STREAM EVENT event-sync EVENT stream-sync STREAM device-sync
 *
 * Streams are numbered as Kineto does: 7 is the default stream, others were created. Events are
 * numbered from 0.
 */
#include "tests/sim/core/core.h"
#include "tests/test.h"

#define MAX_STREAMS 256
#define MAX_EVENTS 4096
#define MAX_BYTES ((size_t)32 << 20)
#define DEFAULT_STREAM 7

static struct {
	cudaStream_t stream[MAX_STREAMS];
	cudaEvent_t event[MAX_EVENTS];
	void *device, *pinned, *pageable;
} made;

/* Nothing is computed: an operation's times are told in the call that asks for it. */
static uint64_t start_ns, end_ns;

static void fact(const struct tfsim_fact *fact)
{
	if (fact->kind != TFSIM_FACT_KERNEL && fact->kind != TFSIM_FACT_MEMCPY &&
		fact->kind != TFSIM_FACT_MEMSET)
		return;
	start_ns = fact->modelled_start_ns;
	end_ns = fact->modelled_end_ns;
}

static cudaStream_t stream_of(unsigned long number)
{
	TEST_NEED(number < MAX_STREAMS);
	if (number == DEFAULT_STREAM)
		return cudaStreamLegacy;
	if (!made.stream[number])
		TEST_NEED(cudaStreamCreateWithFlags(&made.stream[number], cudaStreamNonBlocking) ==
			  cudaSuccess);
	return made.stream[number];
}

static cudaEvent_t event_of(unsigned long number)
{
	TEST_NEED(number < MAX_EVENTS);
	if (!made.event[number])
		TEST_NEED(cudaEventCreateWithFlags(&made.event[number], cudaEventDisableTiming) ==
			  cudaSuccess);
	return made.event[number];
}

static cudaError_t kernel(unsigned long stream, uint64_t ns, unsigned blocks, unsigned threads)
{
	const struct tfsim_work work = {
		.kind = TFSIM_KERNEL,
		.cost_ns = tfsim_cost_ns(ns),
		.grid = {blocks, 1, 1},
		.block = {threads, 1, 1},
	};

	return tfsim_enqueue(stream_of(stream), &work);
}

static cudaError_t within(enum tfsim_kind kind, unsigned long stream, uint64_t ns, uint64_t bytes)
{
	const struct tfsim_work work = {
		.kind = kind,
		.cost_ns = tfsim_cost_ns(ns),
		.bytes = bytes,
		.src = TFSIM_DEVICE,
		.dst = TFSIM_DEVICE,
	};

	return tfsim_enqueue(stream_of(stream), &work);
}

static void *memory_of(const char *kind)
{
	return !strcmp(kind, "device")   ? made.device
	       : !strcmp(kind, "pinned") ? made.pinned
					 : made.pageable;
}

static cudaError_t copy(const char *line)
{
	unsigned long stream, ns, bytes;
	char to[16], from[16];

	TEST_NEED(sscanf(line, "copy %lu %lu %lu %15s %15s", &stream, &ns, &bytes, to, from) == 5);
	if (!strcmp(to, "device") && !strcmp(from, "device"))
		return within(TFSIM_MEMCPY, stream, ns, bytes);
	TEST_NEED(bytes <= MAX_BYTES);
	return cudaMemcpyAsync(
		memory_of(to), memory_of(from), bytes, cudaMemcpyDefault, stream_of(stream));
}

static cudaError_t make(const char *line)
{
	unsigned long a, b;
	unsigned blocks, threads;
	uint64_t ns;

	if (sscanf(line, "spend %lu", &ns) == 1) {
		tfsim_host_spend(ns);
		return cudaSuccess;
	}
	if (sscanf(line, "kernel %lu %lu %u %u", &a, &ns, &blocks, &threads) == 4)
		return kernel(a, ns, blocks, threads);
	if (sscanf(line, "memset %lu %lu %lu", &a, &ns, &b) == 3)
		return within(TFSIM_MEMSET, a, ns, b);
	if (!strncmp(line, "copy ", 5))
		return copy(line);
	if (sscanf(line, "record %lu %lu", &a, &b) == 2)
		return cudaEventRecord(event_of(a), stream_of(b));
	if (sscanf(line, "wait %lu %lu", &a, &b) == 2)
		return cudaStreamWaitEvent(stream_of(a), event_of(b), 0);
	if (sscanf(line, "event-sync %lu", &a) == 1)
		return cudaEventSynchronize(event_of(a));
	if (sscanf(line, "stream-sync %lu", &a) == 1)
		return cudaStreamSynchronize(stream_of(a));
	if (!strcmp(line, "device-sync\n"))
		return cudaDeviceSynchronize();
	return cudaErrorInvalidValue;
}

int main(void)
{
	static const struct tfsim_sink sink = {.fact = fact};
	char line[128];

	TEST_NEED(cudaMalloc(&made.device, MAX_BYTES) == cudaSuccess);
	TEST_NEED(cudaMallocHost(&made.pinned, MAX_BYTES) == cudaSuccess);
	made.pageable = calloc(1, MAX_BYTES);
	TEST_NEED(made.pageable);
	tfsim_sink_set(&sink);
	while (fgets(line, sizeof(line), stdin)) {
		const uint64_t before_ns = tfsim_host_modelled_ns();

		start_ns = end_ns = 0;
		if (!TEST_EQ(make(line), cudaSuccess)) {
			fputs(line, stdout);
			break;
		}
		printf("%lu %lu %lu %lu\n", before_ns, tfsim_host_modelled_ns(), start_ns, end_ns);
	}
	tfsim_sink_set(NULL);
	cudaFreeHost(made.pinned);
	cudaFree(made.device);
	free(made.pageable);
	return test_result();
}
