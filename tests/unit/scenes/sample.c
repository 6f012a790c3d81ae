/* SPDX-License-Identifier: MIT */
#include "tests/unit/scenes/sample.h"

#include <math.h>
#include <string.h>

#define WEIGHTS 0x7f0000000000u
#define INPUT 0x7f0000100000u
#define LOSS 0x7f0000200000u
#define HOST_INPUT 0x10000000u
#define HOST_LOSS 0x20000000u
#define BYTES 65536u

struct names {
	uint16_t malloc_function, free_function, copy, launch, sync, stream;
	uint32_t site[5];
	uint32_t kernel;
	uint32_t correlation;
};

static void define(struct builder *builder, struct names *names)
{
	const struct tfs_thread_record thread = {.index = 0, .tid = 77, .name = "main"};
	struct tfs_module_record module = {
		.build_id_bytes = 20, .start = 0x400000, .end = 0x500000};
	const struct tfs_clock_record clock = {.ticks = 2000, .monotonic_ns = 2000};

	module.path = builder_string(builder, "/somewhere/trainer");
	builder_record(builder, TFS_RECORD_thread, &thread, sizeof(thread));
	builder_record(builder, TFS_RECORD_module, &module, sizeof(module));
	builder_record(builder, TFS_RECORD_clock, &clock, sizeof(clock));
	builder_device(builder, 0, "Sample device", true);
	builder_library(builder, TFS_LIBRARY_cudart, "/somewhere/libcudart.so.13", 13000, 1);
	builder_fact(builder, TFS_FACT_nvtx_taken, NULL, 0);
	names->stream = builder_stream(builder, 0, 7, 1);
	names->malloc_function =
		builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_alloc, "cudaMalloc");
	names->free_function =
		builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_free, "cudaFree");
	names->copy = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy");
	names->launch = builder_function(
		builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "cudaLaunchKernel");
	names->sync = builder_function(
		builder, TFS_LIBRARY_cudart, TFS_FAMILY_device_sync, "cudaDeviceSynchronize");
	names->kernel = builder_kernel(builder, "_Z5scalePff");
	for (unsigned i = 0; i < 5; i++) {
		uint64_t frames[] = {0x401000 + i * 16, 0x402000};

		names->site[i] = builder_site(builder, 2, frames);
	}
	names->correlation = 1;
}

static void put_alloc(struct builder *builder, const struct names *names, uint64_t ns,
	uint64_t address, bool frees)
{
	struct builder_call call = {
		.function = frees ? names->free_function : names->malloc_function,
		.stream = TFS_NO_STREAM,
		.site = names->site[0],
		.start_ns = ns,
		.duration_ns = 1000,
		.amount = BYTES};

	builder_operand(&call, TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE), address, BYTES);
	builder_call(builder, &call);
}

static void put_copy(struct builder *builder, struct names *names, uint64_t ns, bool in)
{
	uint64_t bytes = in ? BYTES : 4;
	struct builder_call call = {.function = names->copy,
		.stream = names->stream,
		.site = names->site[in ? 1 : 2],
		.start_ns = ns,
		.duration_ns = 100000,
		.amount = bytes};
	uint32_t unit;

	builder_operand(&call, TFS_ROLE_WRITE, in ? INPUT : HOST_LOSS, bytes);
	builder_operand(&call, TFS_ROLE_READ, in ? HOST_INPUT : LOSS, bytes);
	builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, in ? 1 : 2);
	unit = builder_call(builder, &call);
	builder_link(builder, unit, names->correlation);
	builder_device_op(builder, TFS_DEVICE_MEMCPY, in ? 1 : 2, 7, names->correlation++,
		ns + 20000, ns + 90000, bytes);
}

static void put_launch(
	struct builder *builder, struct names *names, uint64_t ns, uint64_t op_ns, uint64_t writes)
{
	struct builder_call call = {.function = names->launch,
		.stream = names->stream,
		.site = names->site[3],
		.start_ns = ns,
		.duration_ns = 5000};
	uint32_t unit;

	builder_operand(&call, TFS_ROLE_READ, INPUT, BYTES);
	builder_operand(&call, TFS_ROLE_READ, WEIGHTS, BYTES);
	builder_operand(&call, TFS_ROLE_WRITE, writes, writes == LOSS ? 4 : BYTES);
	builder_attribute(&call, TFS_ATTRIBUTE_kernel, names->kernel);
	unit = builder_call(builder, &call);
	builder_link(builder, unit, names->correlation);
	builder_device_op(builder, TFS_DEVICE_KERNEL, names->kernel, 7, names->correlation++, op_ns,
		op_ns + 200000, 0);
}

static void put_sync(struct builder *builder, const struct names *names, uint64_t ns, uint64_t end)
{
	const struct builder_call call = {.function = names->sync,
		.stream = TFS_NO_STREAM,
		.site = names->site[4],
		.start_ns = ns,
		.duration_ns = end - ns};

	builder_call(builder, &call);
}

static void put_rest(struct builder *builder, const struct names *names)
{
	const struct tfs_device_sync_record sync = {.start_ns = 5, .end_ns = 6};
	const struct tfs_device_api_record api = {.correlation = 1, .start_ns = 5, .tid = 77};
	const struct tfs_overhead_record overhead = {.start_ns = 5, .end_ns = 6};
	const struct tfs_rewrite_record rewrite = {
		.name = builder_string(builder, "pinned-staging"), .predicted_ns = NAN, .class = 1};
	const struct tfs_refusal_record refusal = {
		.site = names->site[1], .rewrite = rewrite.name, .count = 3};
	const struct tfs_search_record search = {.time_ms = 1};
	const struct tfs_product_record product = {.question = 1, .own_ms = 1, .best_ms = 1};
	const int32_t fields[] = {25, 0, 0, 1, 1, 0, 64, 1, 28, 28};
	const struct tfs_aggregate total = {.site = names->site[1],
		.function = names->copy,
		.count = 100,
		.amount = 100 * BYTES,
		.ticks = 100 * 100000,
		.longest_ticks = 120000,
		.first_ticks = 5000,
		.latest_ticks = 9000000};

	const struct tfs_api_record watched = {
		.cbid = 20, .name = names->site[1], .domain = TFS_LIBRARY_cudart};
	const struct tfs_device_memory_record memory = {
		.operation = 1, .correlation = 1, .address = 1u << 20, .bytes = 4096};
	const struct tfs_host_record host = {
		.doing = TFS_HOST_file, .tid = 100, .ns = SAMPLE_FIRST_NS};
	const struct tfs_host_code_record code = {
		.tid = 100, .ns = SAMPLE_FIRST_NS, .address = 0x401000};
	const struct tfs_host_others_record others = {
		.threads = {2, 1, 0}, .children = {1, 0, 1}, .ns = SAMPLE_FIRST_NS};
	const struct tfs_range_record range = {.start_ticks = SAMPLE_FIRST_NS, .duration_ticks = 9};

	builder_problem(builder, fields, 10);
	builder_record(builder, TFS_RECORD_api, &watched, sizeof(watched));
	builder_record(builder, TFS_RECORD_range, &range, sizeof(range));
	builder_record(builder, TFS_RECORD_device_memory, &memory, sizeof(memory));
	builder_record(builder, TFS_RECORD_host, &host, sizeof(host));
	builder_record(builder, TFS_RECORD_host_code, &code, sizeof(code));
	builder_record(builder, TFS_RECORD_host_others, &others, sizeof(others));
	builder_record(builder, TFS_RECORD_device_sync, &sync, sizeof(sync));
	builder_record(builder, TFS_RECORD_device_api, &api, sizeof(api));
	builder_record(builder, TFS_RECORD_overhead, &overhead, sizeof(overhead));
	builder_record(builder, TFS_RECORD_rewrite, &rewrite, sizeof(rewrite));
	builder_record(builder, TFS_RECORD_refusal, &refusal, sizeof(refusal));
	builder_record(builder, TFS_RECORD_search, &search, sizeof(search));
	builder_record(builder, TFS_RECORD_product, &product, sizeof(product));
	builder_aggregate(builder, &total);
	builder_thread(builder, 1);
	builder_aggregate(builder, &total);
	builder_thread(builder, 0);
}

/*
 * One step, in microseconds from its start: copy in 10-110 (device 30-100); launches at 120 and 130
 * (device 150-350, 350-550); wait 140-560; read back 700-800 (device 720-790).
 */
static void put_step(struct builder *builder, struct names *names, uint64_t ns)
{
	put_copy(builder, names, ns + 10000, true);
	put_launch(builder, names, ns + 120000, ns + 150000, WEIGHTS);
	put_launch(builder, names, ns + 130000, ns + 350000, LOSS);
	put_sync(builder, names, ns + 140000, ns + 560000);
	put_copy(builder, names, ns + 700000, false);
}

struct builder *sample_create(uint32_t chunk_bytes, unsigned steps)
{
	const float outside[] = {900000, 910000, 920000, 930000};
	struct builder *builder = builder_create_sized(chunk_bytes);
	struct names names;
	uint64_t ns = SAMPLE_FIRST_NS;

	define(builder, &names);
	put_alloc(builder, &names, 3000, WEIGHTS, false);
	put_alloc(builder, &names, 5000, INPUT, false);
	put_alloc(builder, &names, 7000, LOSS, false);
	builder_window(builder, true, 1, ns - 1, 3);
	for (unsigned i = 0; i < steps; i++, ns += SAMPLE_STEP_NS) {
		builder_step(builder, i + 1, ns, TFS_PHASE_TRAINING, 2);
		put_step(builder, &names, ns);
	}
	builder_window(builder, false, 1, ns + 1, 3);
	builder_steps(builder, steps + 1, ns, 4, outside, 0);
	put_alloc(builder, &names, ns + 4000000, INPUT, true);
	put_rest(builder, &names);
	return builder;
}
