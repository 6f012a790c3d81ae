/* SPDX-License-Identifier: MIT */
/*
 * Writes the recording of a made-up trainer, for tests of the command line:
 *
 *	record FILE [KEY=NUMBER...]
 *
 *	steps=60   training steps            copies=1      input copies per step
 *	bytes=1048576  of each copy          pageable=1    0: from pinned memory
 *	device=1   0: no device activity     moved=0       added to all addresses, as by a rebuild
 *	extra=0    read-backs per step, from another call site
 *	read=4     bytes of each of these
 *	hostile=0  1: names that reorder text and steer terminals
 *	machine=1  0: nothing tells which device it was
 *	marked=1   0: nothing tells where the steps begin
 *	outside=0  steps of 1.9 ms before the window, 100 at most
 *	chunk=0    bytes of a chunk, a multiple of 64; 0: as the library has them
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/unit/scenes/builder.h"

#define STEP_NS 2000000u
#define OUTSIDE_NS 1900000u
#define INPUT 0x7f0000100000u
#define LOSS 0x7f0000400000u
#define HOST 0x10000000u

struct plan {
	unsigned steps, copies, bytes, pageable, device, moved, extra, read, hostile, chunk,
		machine, marked, outside;
};

struct names {
	uint16_t copy, launch, stream;
	uint32_t copy_site, launch_site, extra_site;
	uint32_t kernel;
	uint32_t correlation;
};

static bool set(struct plan *plan, const char *text)
{
	const struct {
		const char *key;
		unsigned *value;
	} keys[] = {{"steps", &plan->steps}, {"copies", &plan->copies}, {"bytes", &plan->bytes},
		{"pageable", &plan->pageable}, {"device", &plan->device}, {"moved", &plan->moved},
		{"extra", &plan->extra}, {"read", &plan->read}, {"hostile", &plan->hostile},
		{"chunk", &plan->chunk}, {"machine", &plan->machine}, {"marked", &plan->marked},
		{"outside", &plan->outside}};
	size_t length = strcspn(text, "=");
	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
		if (strlen(keys[i].key) == length && !strncmp(keys[i].key, text, length)) {
			*keys[i].value = (unsigned)strtoul(text + length + 1, NULL, 10);
			return true;
		}
	}
	return false;
}

static uint32_t site(struct builder *builder, const struct plan *plan, uint64_t address)
{
	uint64_t frames[] = {address + plan->moved, 0x402000 + plan->moved};
	return builder_site(builder, 2, frames);
}

/* A right-to-left override, a C1 control, the start of a terminal's own, a byte order mark, a blank
 * without width, a line separator, a tag, and half a character. */
#define HOSTILE                                                                                    \
	"ev\xe2\x80\xaeil\xc2\x85\x1b["                                                            \
	"31m\xef\xbb\xbf\xe2\x80\x8b\xe2\x80\xa8\xf3\xa0\x81\x81\xe2\x80"

static const char *name(const struct plan *plan, const char *plain)
{
	static char text[256];

	snprintf(text, sizeof(text), "%s%s", plain, plan->hostile ? HOSTILE : "");
	return text;
}

static void define(struct builder *builder, const struct plan *plan, struct names *names)
{
	const struct tfs_clock_record clock = {.ticks = 2000, .monotonic_ns = 2000};
	struct tfs_module_record module = {
		.start = 0x400000 + plan->moved, .end = 0x500000 + plan->moved};

	module.path = builder_string(builder, name(plan, "/nowhere/trainer"));
	builder_record(builder, TFS_RECORD_module, &module, sizeof(module));
	builder_record(builder, TFS_RECORD_clock, &clock, sizeof(clock));
	if (plan->machine)
		builder_device(builder, 0, name(plan, "Sample device"), true);
	builder_library(
		builder, TFS_LIBRARY_cudart, name(plan, "/nowhere/libcudart.so.13"), 13000, 1);
	builder_fact(builder, TFS_FACT_cupti_in_windows, NULL, 130000);
	builder_fact(builder, TFS_FACT_step_range, name(plan, "step"), 0);
	names->stream = builder_stream(builder, 0, 7, 1);
	names->copy = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_copy, "cudaMemcpy");
	names->launch = builder_function(
		builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "cudaLaunchKernel");
	names->kernel = builder_kernel(builder, plan->hostile ? HOSTILE : "_Z5scalePff");
	names->copy_site = site(builder, plan, 0x401000);
	names->launch_site = site(builder, plan, 0x401010);
	names->extra_site = site(builder, plan, 0x401020);
	names->correlation = 1;
}

static void work(struct builder *builder, const struct plan *plan, struct names *names,
	uint32_t unit, uint16_t kind, uint32_t what, uint64_t start_ns, uint64_t end_ns,
	uint64_t bytes)
{
	if (!plan->device)
		return;
	builder_link(builder, unit, names->correlation);
	builder_device_op(builder, kind, what, 7, names->correlation++, start_ns, end_ns, bytes);
}

static void copy(
	struct builder *builder, const struct plan *plan, struct names *names, uint64_t ns, bool in)
{
	uint64_t bytes = in ? plan->bytes : plan->read;
	uint32_t memory = plan->pageable ? TFS_MEMORY_PAGEABLE : TFS_MEMORY_PINNED;
	struct builder_call call = {.function = names->copy,
		.stream = names->stream,
		.site = in ? names->copy_site : names->extra_site,
		.start_ns = ns,
		.duration_ns = 180000,
		.amount = bytes};
	uint32_t host = TFS_ROLE_MEMORY(memory), device = TFS_ROLE_MEMORY(TFS_MEMORY_DEVICE);

	builder_operand(&call, TFS_ROLE_WRITE | (in ? device : host), in ? INPUT : HOST, bytes);
	builder_operand(&call, TFS_ROLE_READ | (in ? host : device), in ? HOST : LOSS, bytes);
	builder_attribute(&call, TFS_ATTRIBUTE_copy_kind, in ? 1 : 2);
	work(builder, plan, names, builder_call(builder, &call), TFS_DEVICE_MEMCPY, in ? 1 : 2,
		ns + 20000, ns + 170000, bytes);
}

static void launch(
	struct builder *builder, const struct plan *plan, struct names *names, uint64_t ns)
{
	struct builder_call call = {.function = names->launch,
		.stream = names->stream,
		.site = names->launch_site,
		.start_ns = ns,
		.duration_ns = 5000};

	builder_operand(&call, TFS_ROLE_READ, INPUT, plan->bytes);
	builder_operand(&call, TFS_ROLE_WRITE, LOSS, 4);
	builder_attribute(&call, TFS_ATTRIBUTE_kernel, names->kernel);
	/* Several read-backs are behind the kernel, as they are of one stream. */
	work(builder, plan, names, builder_call(builder, &call), TFS_DEVICE_KERNEL, names->kernel,
		ns + 10000,
		ns + (plan->extra > 1       ? 590000
			     : plan->copies ? 950000
					    : 1910000),
		0);
}

static void total(
	struct builder *builder, uint16_t function, uint32_t at, uint64_t count, uint64_t bytes)
{
	const struct tfs_aggregate sum = {.site = at,
		.function = function,
		.count = count,
		.amount = count * bytes,
		.ticks = count * 180000,
		.first_ticks = 5000};
	if (count)
		builder_aggregate(builder, &sum);
}

static void range(struct builder *builder, const struct plan *plan, uint64_t ns)
{
	const struct tfs_range_record pushed = {
		.range = TFS_RANGE_PUSHED,
		.name = builder_string(builder, HOSTILE),
		.start_ticks = ns,
		.duration_ticks = STEP_NS / 2,
		.tid = 1,
	};

	if (plan->hostile)
		builder_record(builder, TFS_RECORD_range, &pushed, sizeof(pushed));
}

static void put_outside(struct builder *builder, const struct plan *plan, uint64_t end_ns)
{
	const unsigned count = plan->outside < 100 ? plan->outside : 100;
	float durations[100];

	for (unsigned i = 0; i < count; i++)
		durations[i] = OUTSIDE_NS;
	if (count)
		builder_steps(builder, 0, end_ns - count * OUTSIDE_NS, count, durations, 0);
}

static void record(struct builder *builder, const struct plan *plan)
{
	struct names names;
	uint64_t ns = plan->outside ? 1000000000 : 10000000;

	define(builder, plan, &names);
	put_outside(builder, plan, ns);
	builder_window(builder, true, 1, ns - 1000, plan->device ? 3 : 1);
	for (unsigned i = 0; i < plan->steps; i++, ns += STEP_NS) {
		if (plan->marked)
			builder_step(builder, plan->outside + i, ns, TFS_PHASE_TRAINING, 2);
		for (unsigned j = 0; j < plan->copies; j++)
			copy(builder, plan, &names, ns + 1000 + j * 200000, true);
		launch(builder, plan, &names, ns + (plan->copies ? 1000000 : 40000));
		range(builder, plan, ns + 500);
		for (unsigned j = 0; j < plan->extra; j++)
			copy(builder, plan, &names, ns + 1600000 + j * 200000, false);
	}
	if (plan->steps && plan->marked)
		builder_step(builder, plan->outside + plan->steps, ns, TFS_PHASE_OTHER, 2);
	builder_window(builder, false, 1, ns + 1000, 3);
	total(builder, names.copy, names.copy_site, (uint64_t)plan->steps * plan->copies,
		plan->bytes);
	total(builder, names.launch, names.launch_site, plan->steps, 0);
	total(builder, names.copy, names.extra_site, (uint64_t)plan->steps * plan->extra,
		plan->read);
}

int main(int argc, char **argv)
{
	struct plan plan = {.steps = 60,
		.copies = 1,
		.bytes = 1u << 20,
		.pageable = 1,
		.device = 1,
		.read = 4,
		.machine = 1,
		.marked = 1};
	for (int i = 2; i < argc; i++) {
		if (!set(&plan, argv[i])) {
			fprintf(stderr, "record: no key in '%s'\n", argv[i]);
			return 2;
		}
	}
	if (argc < 2)
		return 2;
	struct builder *builder = plan.chunk ? builder_create_sized(plan.chunk) : builder_create();
	record(builder, &plan);
	int err = builder_save(builder, argv[1]);
	builder_destroy(builder);
	return err ? 1 : 0;
}
