/* SPDX-License-Identifier: MIT */
/* What memset-elision asks of a fill and of the call behind it, at the edges: bytes that touch and
 * bytes that only lie beside each other, streams, and what tells one kind of call from another. */
#include "shim/rewrites/memset_elision/fill_checks.h"

#include "shim/record/hook.h"
#include "shim/rewrites/common/unseen.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "shim/rewrites/rewrite.h"
#include "shim/state/memory.h"
#include "shim/state/streams.h"
#include "tests/test.h"

#define AT UINT64_C(0x10000)
#define BYTES 4096u
#define DEVICE 2u

const struct tfs_rewrite tfs_rewrite_memset_elision;
unsigned tfs_captures_open;

/* What the program has done, as far as it matters here. */
static struct {
	const char *work, *users, *lookups;
	bool free, elsewhere, peers, pageable;
	uint32_t made;
	uint64_t families;
	int error;
} program;

const char *tfs_unseen_work(void)
{
	return program.work;
}

const char *tfs_unseen_users(void)
{
	return program.users;
}

const char *tfs_unseen_lookups(void)
{
	return program.lookups;
}

bool tfs_streams_free(void)
{
	return program.free;
}

uint32_t tfs_streams_made(void)
{
	return program.made;
}

uint64_t tfs_hook_families(void)
{
	return program.families;
}

bool tfs_memory_any_elsewhere(uint32_t device)
{
	TEST_EQ(device, DEVICE);
	return program.elsewhere;
}

bool tfs_memory_peers(void)
{
	return program.peers;
}

bool tfs_memory_reaches_pageable(const struct tfs_memory_functions *use, int device)
{
	TEST_TRUE(use);
	TEST_EQ(device, DEVICE);
	return program.pageable;
}

static struct tfs_range range;

bool tfs_memory_find(uint64_t address, struct tfs_range *out_range)
{
	*out_range = range;
	return address >= range.address && address < range.address + range.bytes;
}

static int error_waits(void)
{
	return program.error;
}

static const struct tfs_memory_functions functions = {.error_waits = error_waits};
static uint32_t refused; /* by which check, the last time */
static const char *refused_because;

void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site)
{
	TEST_TRUE(rewrite == &tfs_rewrite_memset_elision);
	TEST_EQ(site, 7);
	refused = check;
}

bool tfs_rewrite_check_cause(
	const struct tfs_rewrite *rewrite, uint32_t check, const char *cause, uint32_t site)
{
	refused_because = cause;
	return tfs_rewrite_check(rewrite, check, !cause, site);
}

static int self;

const void *tfs_held_self(void)
{
	return &self;
}

static struct tfs_op fill;

static void begin(void)
{
	memset(&program, 0, sizeof(program));
	range = (struct tfs_range){AT, BYTES, TFS_MEMORY_DEVICE, DEVICE, TFS_RANGE_WHOLE, 0};
	fill = (struct tfs_op){.kind = TFS_OP_FILL,
		.site = 7,
		.fill = {.target = (void *)(uintptr_t)AT, .bytes = BYTES}};
	tfs_captures_open = 0;
}

/* By which check the fill is refused; none if it may be followed. */
static uint32_t followed(void)
{
	refused = TFS_CHECK_none;
	const bool may = tfs_fill_followable(&functions, &fill, DEVICE);
	TEST_EQ(may, refused == TFS_CHECK_none);
	return refused;
}

static void check_memory(void)
{
	begin();
	TEST_EQ(followed(), TFS_CHECK_none);
	fill.fill.bytes = BYTES + 1;
	TEST_EQ(followed(), TFS_FILL_MEMORY);
	fill.fill.target = (void *)(uintptr_t)(AT + 1);
	fill.fill.bytes = BYTES - 1;
	TEST_EQ(followed(), TFS_CHECK_none);
	fill.fill.bytes = BYTES;
	TEST_EQ(followed(), TFS_FILL_MEMORY);
	begin();
	fill.fill.target = (void *)(uintptr_t)(AT + BYTES);
	TEST_EQ(followed(), TFS_FILL_MEMORY);
	begin();
	range.kind = TFS_MEMORY_MANAGED;
	TEST_EQ(followed(), TFS_FILL_MEMORY);
	begin();
	range.flags = 0;
	TEST_EQ(followed(), TFS_FILL_MEMORY);
	range.flags = TFS_RANGE_WHOLE | TFS_RANGE_SHARED;
	TEST_EQ(followed(), TFS_FILL_MEMORY);
	begin();
	range.device = DEVICE + 1;
	TEST_EQ(followed(), TFS_FILL_MEMORY);
}

/* All streams in order, and the fill's the legacy one or the only one there is. */
static void check_streams(void)
{
	static const struct {
		uintptr_t stream;
		bool per_thread;
		uint32_t made;
		bool good;
	} cases[] = {{0, false, 0, true}, {0, false, 5, true}, {1, false, 5, true},
		{0, true, 0, false}, {0, true, 1, false}, {2, false, 1, false}, {2, true, 1, false},
		{0x100, false, 1, true}, {0x100, true, 1, true}, {0x100, false, 2, false},
		{0x100, false, 0, false}};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		begin();
		fill.stream = (void *)cases[i].stream;
		fill.per_thread = cases[i].per_thread;
		program.made = cases[i].made;
		if (!TEST_EQ(followed(), cases[i].good ? TFS_CHECK_none : TFS_FILL_STREAM))
			printf("  in case %zu\n", i);
	}
	begin();
	program.free = true;
	TEST_EQ(followed(), TFS_FILL_STREAM);
	begin();
	program.families = UINT64_C(1) << TFS_FAMILY_stream_destroy;
	TEST_EQ(followed(), TFS_FILL_STREAM);
}

static void check_program(void)
{
	begin();
	program.lookups = "looked up";
	TEST_EQ(followed(), TFS_FILL_SIGHT);
	TEST_STR(refused_because, "looked up");
	program.users = "used";
	TEST_EQ(followed(), TFS_FILL_SIGHT);
	TEST_STR(refused_because, "used");
	program.work = "work";
	TEST_EQ(followed(), TFS_FILL_SIGHT);
	TEST_STR(refused_because, "work");
	begin();
	tfs_captures_open = 1;
	TEST_EQ(followed(), TFS_FILL_CAPTURE);
	begin();
	program.pageable = true;
	TEST_EQ(followed(), TFS_FILL_HOST);
	begin();
	program.elsewhere = true;
	TEST_EQ(followed(), TFS_FILL_DEVICE);
	begin();
	program.peers = true;
	TEST_EQ(followed(), TFS_FILL_DEVICE);
	begin();
	program.error = 1;
	TEST_EQ(followed(), TFS_FILL_ERROR);
}

static struct tfs_held all[TFS_HELD_MOST];
static struct tfs_use_call call;

static struct tfs_held *hold(unsigned i, uint64_t address, uint64_t bytes)
{
	all[i] = (struct tfs_held){.state = TFS_HELD_BACK,
		.device = DEVICE,
		.site = 9,
		.address = address,
		.bytes = bytes,
		.stream = TFS_STREAM_IN_ORDER,
		.thread = &self};
	return &all[i];
}

/* A call that writes what was filled with beta = 1. */
static void add(void)
{
	memset(all, 0, sizeof(all));
	hold(3, AT, BYTES);
	call = (struct tfs_use_call){.output = (void *)(uintptr_t)AT,
		.output_bytes = BYTES,
		.dense = true,
		.repeats = true,
		.scaled = true,
		.element_bytes = 4,
		.alpha = 1,
		.beta = 1,
		.shape = 5,
		.site = 8};
}

static void output(uint64_t address, uint64_t bytes)
{
	call.output = (void *)(uintptr_t)address;
	call.output_bytes = bytes;
}

/* What is against it, and whether it is about the fill at all. */
static enum tfs_fill_check look(struct tfs_held *about)
{
	struct tfs_held *found = &all[99];
	const enum tfs_fill_check against = tfs_fill_look(&call, all, &found);

	TEST_TRUE(found == about);
	return against;
}

static void check_whole(void)
{
	add();
	TEST_EQ(look(&all[3]), TFS_FILL_FINE);
	/* With beta = 1 exactly the fill's bytes, with beta = 0 more may be written. */
	static const struct {
		uint64_t address, bytes;
		bool covers;
	} outputs[] = {{AT - 64, BYTES + 64, true}, {AT, BYTES + 64, true},
		{AT - 64, BYTES + 128, true}, {AT, BYTES - 1, false}, {AT + 1, BYTES - 1, false},
		{AT + 1, BYTES, false}, {AT - 1, BYTES, false}};

	for (size_t i = 0; i < sizeof(outputs) / sizeof(outputs[0]); i++) {
		output(outputs[i].address, outputs[i].bytes);
		call.beta = 1;
		TEST_EQ(look(&all[3]), TFS_FILL_WHOLE);
		call.beta = 0;
		if (!TEST_EQ(look(&all[3]), outputs[i].covers ? TFS_FILL_FINE : TFS_FILL_WHOLE))
			printf("  for output %zu\n", i);
	}
	/* Beside it, on either side. */
	output(AT - 64, 64);
	TEST_EQ(look(NULL), TFS_FILL_FINE);
	output(AT + BYTES, 64);
	TEST_EQ(look(NULL), TFS_FILL_FINE);
	/* Two fills at once. */
	hold(100, AT + BYTES, 64);
	output(AT, BYTES + 64);
	struct tfs_held *found;
	TEST_EQ(tfs_fill_look(&call, all, &found), TFS_FILL_WHOLE);
	output(AT, BYTES);
	TEST_EQ(look(&all[3]), TFS_FILL_FINE);
	/* One that is over is none. */
	all[3].state = TFS_HELD_LATE;
	TEST_EQ(look(NULL), TFS_FILL_FINE);
	all[3].state = TFS_HELD_DONE;
	TEST_EQ(look(&all[3]), TFS_FILL_FINE);
}

static void check_reads(void)
{
	add();
	for (unsigned i = 0; i < TFS_USE_READS; i++) {
		call.reads[call.read_count].address = (void *)(uintptr_t)(AT + BYTES);
		call.reads[call.read_count++].bytes = 64;
		TEST_EQ(look(&all[3]), TFS_FILL_FINE);
		call.reads[i].address = (void *)(uintptr_t)(AT + BYTES - 1);
		TEST_EQ(look(NULL), TFS_FILL_READ);
		call.reads[i].address = (void *)(uintptr_t)(AT - 64);
		TEST_EQ(look(&all[3]), TFS_FILL_FINE);
		call.reads[i].bytes = 65;
		TEST_EQ(look(NULL), TFS_FILL_READ);
		call.reads[i].bytes = 64;
	}
	call.unknown = true;
	TEST_EQ(look(NULL), TFS_FILL_READ);
}

static void check_others(void)
{
	static int other;

	add();
	all[3].thread = &other;
	TEST_EQ(look(NULL), TFS_FILL_THREAD);
	add();
	call.stream = (void *)0x100;
	TEST_EQ(look(NULL), TFS_FILL_ELSEWHERE);
	all[3].stream = (void *)0x100;
	TEST_EQ(look(&all[3]), TFS_FILL_FINE);
	add();
	call.scaled = false;
	TEST_EQ(look(&all[3]), TFS_FILL_COPY);
	add();
	call.beta = 0.5;
	TEST_EQ(look(&all[3]), TFS_FILL_BETA);
	add();
	call.dense = false;
	TEST_EQ(look(&all[3]), TFS_FILL_WHOLE);
	add();
	call.repeats = false;
	TEST_EQ(look(&all[3]), TFS_FILL_REPEATS);
}

/* What is added to zeros is +0 where a product is -0: which a negative alpha makes of +0. */
static void check_signs(void)
{
	add();
	call.alpha = -1;
	TEST_EQ(look(&all[3]), TFS_FILL_SIGN);
	call.alpha = __builtin_nan("");
	TEST_EQ(look(&all[3]), TFS_FILL_SIGN);
	call.alpha = -1;
	call.beta = 0;
	TEST_EQ(look(&all[3]), TFS_FILL_FINE);
}

static uint64_t shape(void)
{
	return tfs_fill_shape(&call, &all[3]);
}

/* Counts those of another kind. */
#define DIFFERS(change)                                                                            \
	do {                                                                                       \
		add();                                                                             \
		call.reads[call.read_count++].address = (void *)(uintptr_t)0x5000;                 \
		change;                                                                            \
		TEST_TRUE(shape() != usual);                                                       \
	} while (0)
#define SAME(change)                                                                               \
	do {                                                                                       \
		add();                                                                             \
		call.reads[call.read_count++].address = (void *)(uintptr_t)0x5000;                 \
		change;                                                                            \
		TEST_TRUE(shape() == usual);                                                       \
	} while (0)

static void check_shape(void)
{
	add();
	call.reads[call.read_count++].address = (void *)(uintptr_t)0x5000;
	const uint64_t usual = shape();

	DIFFERS(call.shape++);
	DIFFERS(call.output_bytes++);
	DIFFERS(call.element_bytes = 2);
	DIFFERS(all[3].site++);
	DIFFERS(all[3].bytes++);
	/* Addresses count up to 16 bytes, by what divides them. */
	DIFFERS(output(AT + 8, BYTES));
	DIFFERS(output(AT + 2, BYTES));
	SAME(output(AT + 16, BYTES));
	DIFFERS(call.reads[0].address = (void *)(uintptr_t)0x5004);
	SAME(call.reads[0].address = (void *)(uintptr_t)0x7030);
	/* Of numbers whether alpha is 0 or 1, and whether beta is 0. */
	DIFFERS(call.alpha = 0);
	DIFFERS(call.alpha = 2);
	DIFFERS(call.beta = 0);
	SAME(call.beta = 0.5);
	add();
	call.alpha = 2;
	const uint64_t scaled = shape();
	call.alpha = 3;
	TEST_TRUE(shape() == scaled);
	call.alpha = 0;
	TEST_TRUE(shape() != scaled);
}

/* A place and a kind that gave -0: for good, and once there are too many to remember, all. */
static void check_left_alone(void)
{
	add();
	tfs_fill_leave_alone(call.site, shape());
	TEST_EQ(look(&all[3]), TFS_FILL_SIGN);
	call.site++;
	TEST_EQ(look(&all[3]), TFS_FILL_FINE);
	call.site--;
	call.shape++;
	TEST_EQ(look(&all[3]), TFS_FILL_FINE);
	for (uint32_t i = 1; i < 64; i++)
		tfs_fill_leave_alone(1000 + i, i);
	TEST_EQ(look(&all[3]), TFS_FILL_FINE);
	call.site = 1063;
	tfs_fill_leave_alone(call.site, shape());
	TEST_EQ(look(&all[3]), TFS_FILL_SIGN);
	call.site = 5;
	TEST_EQ(look(&all[3]), TFS_FILL_SIGN);
}

static enum tfs_fill_check ended_by(enum tfs_family family)
{
	const struct tfs_function function = {.family = (uint8_t)family};

	return tfs_fill_ended_by(&function);
}

static bool passes(const char *name, enum tfs_family family)
{
	struct tfs_function function = {.family = (uint8_t)family};

	snprintf(function.name, sizeof(function.name), "%s", name);
	return tfs_fill_passes(&function);
}

static void check_calls(void)
{
	TEST_EQ(ended_by(TFS_FAMILY_launch), TFS_FILL_KERNEL);
	TEST_EQ(ended_by(TFS_FAMILY_copy), TFS_FILL_COPY);
	TEST_EQ(ended_by(TFS_FAMILY_copy_async), TFS_FILL_COPY);
	TEST_EQ(ended_by(TFS_FAMILY_event_record), TFS_FILL_EVENT);
	TEST_EQ(ended_by(TFS_FAMILY_stream_wait), TFS_FILL_EVENT);
	TEST_EQ(ended_by(TFS_FAMILY_device_sync), TFS_FILL_WAIT);
	TEST_EQ(ended_by(TFS_FAMILY_stream_sync), TFS_FILL_WAIT);
	TEST_EQ(ended_by(TFS_FAMILY_event_sync), TFS_FILL_WAIT);
	TEST_EQ(ended_by(TFS_FAMILY_query), TFS_FILL_WAIT);
	TEST_EQ(ended_by(TFS_FAMILY_collective), TFS_FILL_CALL);
	TEST_EQ(tfs_fill_ended_by(NULL), TFS_FILL_CALL);
	TEST_TRUE(!tfs_fill_passes(NULL));
	TEST_TRUE(passes("cudaMalloc", TFS_FAMILY_alloc));
	TEST_TRUE(passes("cudaGetDevice", TFS_FAMILY_other));
	TEST_TRUE(passes("cudaGetLastError", TFS_FAMILY_other));
	TEST_TRUE(passes("cudaPeekAtLastError", TFS_FAMILY_other));
	TEST_TRUE(!passes("cudaMallocManaged", TFS_FAMILY_alloc));
	TEST_TRUE(!passes("cudaFree", TFS_FAMILY_free));
	TEST_TRUE(!passes("cudaSetDevice", TFS_FAMILY_other));
	TEST_TRUE(passes("any", TFS_FAMILY_property));
	TEST_TRUE(passes("any", TFS_FAMILY_descriptor));
	TEST_TRUE(passes("any", TFS_FAMILY_workspace_query));
	TEST_TRUE(!passes("any", TFS_FAMILY_launch));
	TEST_TRUE(!passes("any", TFS_FAMILY_event_record));
}

int main(void)
{
	check_memory();
	check_streams();
	check_program();
	check_whole();
	check_reads();
	check_others();
	check_signs();
	check_shape();
	check_left_alone();
	check_calls();
	return test_result();
}
