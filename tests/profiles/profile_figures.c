/* SPDX-License-Identifier: MIT */
/*
 * The figures of a profile, one by one, against ranges that recordings and published measurements
 * of such GPUs give. Each is measured through the runtime's own calls: median and ninetieth
 * percentile, in microseconds, or megabytes per second where it says so.
 */
#include "figures.h"

#include <sys/mman.h>

#define BULK (256 * MIB)

static char *device, *pinned, *pageable;
static cudaStream_t stream;

static void measure_launch(struct samples *s)
{
	for (int i = 0; i < SAMPLES; i++) {
		const double before = host_ns();

		launch(stream, 1000, 1);
		sample(s, host_ns() - before);
		OK(cudaStreamSynchronize(stream));
	}
}

static void measure_latency(struct samples *s)
{
	for (int i = 0; i < SAMPLES; i++) {
		OK(cudaStreamSynchronize(stream));
		tfsim_host_spend(100000);

		const double before = host_ns();

		launch(stream, 1000, 1);
		sample(s, (double)last_op.start_ns - before);
	}
}

static void measure_gap(struct samples *s)
{
	launch(stream, 50000, 4000);
	for (int i = 0; i < SAMPLES; i++) {
		const double end = (double)last_op.end_ns;

		launch(stream, 50000, 4000);
		sample(s, (double)last_op.start_ns - end);
	}
	OK(cudaStreamSynchronize(stream));
}

static void measure_record(struct samples *s)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	for (int i = 0; i < SAMPLES; i++) {
		const double before = host_ns();

		OK(cudaEventRecord(event, stream));
		sample(s, host_ns() - before);
	}
	OK(cudaEventDestroy(event));
}

static void measure_stream_wait(struct samples *s)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	OK(cudaEventRecord(event, stream));
	for (int i = 0; i < SAMPLES; i++) {
		const double before = host_ns();

		OK(cudaStreamWaitEvent(stream, event, 0));
		sample(s, host_ns() - before);
	}
	OK(cudaEventDestroy(event));
}

static void measure_event_sync(struct samples *s)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	OK(cudaEventRecord(event, stream));
	OK(cudaStreamSynchronize(stream));
	tfsim_host_spend(100000);
	for (int i = 0; i < SAMPLES; i++) {
		const double before = host_ns();

		OK(cudaEventSynchronize(event));
		sample(s, host_ns() - before);
	}
	OK(cudaEventDestroy(event));
}

static void measure_stream_sync(struct samples *s)
{
	for (int i = 0; i < SAMPLES; i++) {
		OK(cudaStreamSynchronize(stream));
		tfsim_host_spend(100000);

		const double before = host_ns();

		OK(cudaStreamSynchronize(stream));
		sample(s, host_ns() - before);
	}
}

static void measure_device_sync(struct samples *s)
{
	for (int i = 0; i < SAMPLES; i++) {
		OK(cudaDeviceSynchronize());
		tfsim_host_spend(100000);

		const double before = host_ns();

		OK(cudaDeviceSynchronize());
		sample(s, host_ns() - before);
	}
}

static void measure_tail(struct samples *s)
{
	for (int i = 0; i < SAMPLES; i++) {
		launch(stream, 200000, 4000);
		OK(cudaStreamSynchronize(stream));
		sample(s, host_ns() - (double)last_op.end_ns);
	}
}

/* The host's part of a copy, or with `copied` its rate on the device. */
static void measure_copy(struct samples *s, void *to, const void *from, size_t bytes, bool copied)
{
	for (int i = 0; i < SAMPLES / 8; i++) {
		OK(cudaStreamSynchronize(stream));
		tfsim_host_spend(100000);

		const double before = host_ns();

		OK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, stream));
		sample(s, copied ? (double)bytes * 1e6 / (double)(last_op.end_ns - last_op.start_ns)
				 : host_ns() - before);
	}
}

static void measure_pinned_call(struct samples *s)
{
	measure_copy(s, device, pinned, 65536, false);
}

static void measure_pinned_up(struct samples *s)
{
	measure_copy(s, device, pinned, 64 * MIB, true);
}

static void measure_pinned_down(struct samples *s)
{
	measure_copy(s, pinned, device, 64 * MIB, true);
}

static void measure_pageable_up(struct samples *s)
{
	measure_copy(s, device, pageable, 64 * MIB, true);
}

/* The pages exist by then. */
static void measure_pageable_down(struct samples *s)
{
	memset(pageable, 0, 64 * MIB);
	measure_copy(s, pageable, device, 64 * MIB, true);
}

/* How many times longer a copy takes to memory that nobody has touched. */
static void measure_fresh(struct samples *s)
{
	for (int i = 0; i < 4; i++) {
		void *fresh = mmap(
			NULL, 64 * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		struct span first;

		TEST_NEED(fresh != MAP_FAILED);
		OK(cudaMemcpyAsync(fresh, device, 64 * MIB, cudaMemcpyDefault, stream));
		first = last_op;
		OK(cudaMemcpyAsync(fresh, device, 64 * MIB, cudaMemcpyDefault, stream));
		sample(s, 1e3 * (double)(first.end_ns - first.start_ns) /
				  (double)(last_op.end_ns - last_op.start_ns));
		munmap(fresh, 64 * MIB);
	}
}

static void measure_small_up(struct samples *s)
{
	measure_copy(s, device, pageable, 1024, false);
}

static void measure_inline_up(struct samples *s)
{
	measure_copy(s, device, pageable, 65536, false);
}

static void measure_small_down(struct samples *s)
{
	measure_copy(s, pageable, device, 1536, false);
}

static void measure_within(struct samples *s)
{
	measure_copy(s, device, device + BULK / 2, 64 * MIB, true);
}

static void measure_fill(struct samples *s)
{
	for (int i = 0; i < SAMPLES / 8; i++) {
		OK(cudaMemsetAsync(device, 0, 64 * MIB, stream));
		sample(s, 64.0 * MIB * 1e6 / (double)(last_op.end_ns - last_op.start_ns));
	}
}

static void measure_elementwise(struct samples *s)
{
	for (int i = 0; i < SAMPLES / 8; i++) {
		launch(stream, tfsim_cost_kernel(64 * MIB, 0), 4000);
		sample(s, 64.0 * MIB * 1e6 / (double)(last_op.end_ns - last_op.start_ns));
	}
}

static void measure_kernel_floor(struct samples *s)
{
	launch(stream, tfsim_cost_kernel(0, 0), 1);
	sample(s, (double)(last_op.end_ns - last_op.start_ns));
}

/* How many launches go by before one is held until the device has done something. */
static void measure_depth(struct samples *s)
{
	int launches = 0;
	double took;

	OK(cudaStreamSynchronize(stream));
	do {
		const double before = host_ns();

		launch(stream, 50000000, 4000);
		launches++;
		took = host_ns() - before;
	} while (took < 1e6 && launches < 5000);
	sample(s, (launches - 1) * 1e3);
	OK(cudaStreamSynchronize(stream));
}

static void measure_first(struct samples *s)
{
	static const char *const names[] = {"a", "b", "c", "d", "e", "f", "g", "h", "i", "j", "k",
		"l", "m", "n", "o", "p", "q", "r", "s", "t"};

	for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		const struct tfsim_work work = {
			.kind = TFSIM_KERNEL, .name = names[i], .cost_ns = 1000};
		const double before = host_ns();

		OK(tfsim_enqueue(stream, &work));
		sample(s, host_ns() - before);
	}
}

/*
 * Ranges over servers with the same GPU; the node of eight with slow links is left out. Not of
 * recordings: an A100's elementwise rate (up to its memory's peak) and small copies to pageable
 * memory, an H100's first launches, event waits and memset calls (an A100's or a V100's). Copies of
 * up to 64 KiB from pageable memory are an H200's: 2.6 us for 4 KiB, 7.4 for 64.
 */
static const struct row rows[] = {
	{"launch", measure_launch, {{4, 10}, {3.2, 5.8}}, {{5, 12.1}, {4, 6}}},
	{"first launch", measure_first, SAME(140, 180), {ANY, ANY}},
	{"start on an idle stream", measure_latency, {{8, 12.3}, {5.7, 6.6}},
		{{9, 13.7}, {7, 8.4}}},
	{"gap between queued", measure_gap, {{1.0, 2.0}, {1.0, 1.4}}, SAME(1.4, 2.2)},
	{"cudaEventRecord", measure_record, SAME(1, 2.4), {{1.4, 2.7}, {1.4, 2.7}}},
	{"cudaStreamWaitEvent", measure_stream_wait, SAME(0.8, 2.0), {ANY, ANY}},
	{"idle cudaEventSynchronize", measure_event_sync, {{2, 8.1}, {0.7, 3}}, {ANY, ANY}},
	{"idle cudaStreamSynchronize", measure_stream_sync, {{3, 4}, {0.7, 0.9}}, {ANY, ANY}},
	{"idle cudaDeviceSynchronize", measure_device_sync, SAME(5, 15), {ANY, ANY}},
	{"device end to return", measure_tail, {{3, 9}, {4, 5}}, {{3, 10}, {4, 6}}},
	{"pinned copy's call", measure_pinned_call, SAME(3.4, 6), {{3.4, 10.2}, {3.4, 10.2}}},
	{"pinned to device, MB/s", measure_pinned_up, {{25000, 26200}, {27000, 28000}}, {ANY, ANY}},
	{"device to pinned, MB/s", measure_pinned_down, {{25000, 26200}, {27000, 28000}},
		{ANY, ANY}},
	{"pageable to device, MB/s", measure_pageable_up, {{10000, 14400}, {11000, 20000}},
		{ANY, ANY}},
	{"device to pageable, MB/s", measure_pageable_down, {{3000, 10800}, {20000, 24500}},
		{ANY, ANY}},
	{"times longer to fresh pages", measure_fresh, SAME(3, 5), {ANY, ANY}},
	{"1 KiB from pageable", measure_small_up, {{9, 14}, {1.9, 2.6}}, {ANY, ANY}},
	{"64 KiB from pageable", measure_inline_up, {{12, 26}, {5, 7.5}}, {ANY, ANY}},
	{"1.5 KiB to pageable", measure_small_down, {{12, 25}, {11, 15}}, {ANY, ANY}},
	{"device to device, MB/s", measure_within, {{920e3, 990e3}, {1520e3, 1910e3}}, {ANY, ANY}},
	{"memset, MB/s", measure_fill, {{1190e3, 1920e3}, {2840e3, 3170e3}}, {ANY, ANY}},
	{"elementwise, MB/s", measure_elementwise, {{1100e3, 1555e3}, {2400e3, 3360e3}},
		{ANY, ANY}},
	{"smallest kernel", measure_kernel_floor, {{2.0, 2.2}, {1.8, 2.2}}, {ANY, ANY}},
	{"launches before one is held", measure_depth, SAME(1003, 1023), {ANY, ANY}},
};

int main(int argc, char **argv)
{
	listen();
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMalloc((void **)&device, BULK));
	OK(cudaMallocHost((void **)&pinned, 64 * MIB));
	pageable = calloc(1, 64 * MIB);
	TEST_NEED(pageable);
	launch(stream, 1000, 1);
	figures_check(rows, sizeof(rows) / sizeof(rows[0]), argc > 1 ? argv[1] : "a100");
	free(pageable);
	return test_result();
}
