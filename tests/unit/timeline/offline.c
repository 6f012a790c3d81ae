/* SPDX-License-Identifier: MIT */
/* Recordings without marks: in whose calls steps are looked for, by what, and where they begin and
 * end. */
#include "tests/unit/timeline/laid_out.h"

#include "shim/trace/format/iterations.h"

#define WEIGHTS 0x10000u
#define INPUT 0x20000u
#define SCRATCH 0x30000u
#define GAP_NS 100u /* from call to call */
#define MOST 4u     /* sites */

enum part { LOAD, COMPUTE, UPDATE, ELSE };

static uint16_t launch;
static uint32_t sites[MOST], inner_sites[2];
static uint64_t now_ns;

static void begin(void)
{
	builder = builder_create();
	launch = builder_function(builder, TFS_LIBRARY_cudart, TFS_FAMILY_launch, "l");
	for (uint64_t i = 0; i < MOST; i++)
		sites[i] = builder_site(builder, 2, (uint64_t[]){0x401000 + i * 16, 0x7f00});
	/* Two calls of a function that the loop calls to load. */
	for (uint64_t i = 0; i < 2; i++)
		inner_sites[i] =
			builder_site(builder, 3, (uint64_t[]){0x500000 + i * 16, 0x401000, 0x7f00});
	now_ns = 1000;
}

/* A call with an operand, or none. */
static void put_at(uint32_t site, uint32_t role, uint64_t address)
{
	struct builder_call call = {.function = launch,
		.site = site,
		.start_ns = now_ns,
		.duration_ns = 10,
		.stream = TFS_NO_STREAM};

	if (role)
		builder_operand(&call, role, address, 64);
	builder_call(builder, &call);
	now_ns += GAP_NS;
}

static void put(enum part part)
{
	static const struct {
		uint32_t role;
		uint64_t address;
	} parts[MOST] = {{TFS_ROLE_WRITE, INPUT}, {TFS_ROLE_READ, WEIGHTS},
		{TFS_ROLE_READ | TFS_ROLE_WRITE, WEIGHTS}, {0, 0}};

	put_at(sites[part], parts[part].role, parts[part].address);
}

/* A loop that trains, 300 ns for each step. */
static void put_loop(unsigned steps)
{
	for (unsigned i = 0; i < steps; i++)
		for (enum part part = LOAD; part <= UPDATE; part++)
			put(part);
}

static void found(uint64_t training, uint64_t other, uint32_t whole)
{
	lay_out();
	TEST_TRUE(timeline->steps_offline);
	TEST_EQ(timeline->step_source, TFS_STEP_LOOPS);
	TEST_EQ(timeline->training_steps, training);
	TEST_EQ(timeline->other_steps, other);
	TEST_NEED(timeline->step_count == whole);
}

/* What comes between and behind is none of the steps; the last of them has no end. */
static void phases(void)
{
	begin();
	builder_window(builder, true, 1, 1, 7);
	put_loop(20);
	put(ELSE);
	put(ELSE);
	put_loop(20);
	found(40, 1, 40);
	TEST_EQ(timeline->judged_count, 39);
	TEST_EQ(timeline->steps[20].phase, TFS_PHASE_OTHER);
	TEST_EQ(timeline->steps[20].end_ns - timeline->steps[20].start_ns, 2 * GAP_NS);
	TEST_EQ(timeline->steps[21].phase, TFS_PHASE_TRAINING);
	TEST_EQ(timeline->steps[21].index, 21);
	TEST_EQ(timeline->steps[21].site, sites[LOAD]);
	end();
}

/* What begins and ends at one moment is no phase. */
static void no_time_at_all(void)
{
	begin();
	builder_window(builder, true, 1, 1, 7);
	put_loop(20);
	put(ELSE);
	now_ns -= GAP_NS;
	put_loop(20);
	found(40, 1, 39);
	for (uint32_t i = 0; i < timeline->step_count; i++)
		TEST_EQ(timeline->steps[i].phase, TFS_PHASE_TRAINING);
	end();
}

/* A step lies in a window if all of it does. */
static void windows(void)
{
	begin();
	builder_window(builder, true, 1, 1, 7);
	put_loop(20);
	put(LOAD);
	builder_window(builder, false, 1, now_ns, 7);
	builder_window(builder, true, 2, now_ns + 10, 7);
	put(COMPUTE);
	put(UPDATE);
	put_loop(10);
	found(31, 0, 30);
	TEST_EQ(timeline->judged_count, 29);
	TEST_EQ(timeline->steps[19].window, 0);
	TEST_EQ(timeline->steps[20].window, TFS_NONE);
	TEST_EQ(timeline->steps[21].window, 1);
	end();
}

/* There is room for all of them. */
static void many(void)
{
	begin();
	builder_window(builder, true, 1, 1, 7);
	put_loop(1500);
	found(1500, 0, 1499);
	for (uint32_t i = 0; i < timeline->step_count; i++)
		TEST_EQ(timeline->steps[i].start_ns, 1000 + UINT64_C(3) * i * GAP_NS);
	end();
}

/* Two calls that the loop makes at one place open one step. */
static void opened_by_a_function(void)
{
	begin();
	for (unsigned i = 0; i < 30; i++) {
		put_at(inner_sites[0], TFS_ROLE_WRITE, INPUT);
		put_at(inner_sites[1], TFS_ROLE_WRITE, INPUT);
		put(COMPUTE);
		put(UPDATE);
	}
	found(30, 0, 29);
	TEST_EQ(timeline->steps[0].end_ns - timeline->steps[0].start_ns, 4 * GAP_NS);
	end();
}

/* The thread that made most calls makes the steps, whichever was there first. */
static void of_the_busiest_thread(void)
{
	begin();
	put_loop(2);
	builder_thread(builder, 1);
	put_loop(30);
	builder_thread(builder, 2);
	put_loop(3);
	found(30, 0, 29);
	TEST_EQ(timeline->steps[0].start_ns, 1000 + 6 * GAP_NS);
	end();
}

/* What kernels do with their pointers is not known: it may be an update. */
static void by_kernels(void)
{
	begin();
	for (unsigned i = 0; i < 30; i++) {
		put(LOAD);
		put_at(sites[COMPUTE], TFS_ROLE_MAYBE, WEIGHTS);
		put_at(sites[UPDATE], TFS_ROLE_MAYBE, WEIGHTS);
	}
	found(30, 0, 29);
	end();
}

/* A workspace carries nothing from step to step: that loop may be no training, and its iterations
 * only stand for steps. Of other tools' recordings not even that is said. */
static void without_updates(bool imported)
{
	begin();
	if (imported)
		builder_fact(builder, TFS_FACT_imported, "a tool", 0);
	for (unsigned i = 0; i < 30; i++) {
		put(LOAD);
		put_at(sites[ELSE], TFS_ROLE_READ, WEIGHTS);
		put_at(sites[COMPUTE], TFS_ROLE_READ | TFS_ROLE_WRITE | TFS_ROLE_SCRATCH, SCRATCH);
		put_at(sites[UPDATE], TFS_ROLE_READ | TFS_ROLE_WRITE | TFS_ROLE_SCRATCH, SCRATCH);
	}
	lay_out();
	TEST_EQ(timeline->steps_offline, !imported);
	TEST_EQ(timeline->step_source, imported ? 0 : TFS_STEP_ITERATIONS);
	TEST_EQ(timeline->training_steps, imported ? 0 : 30);
	end();
}

int main(void)
{
	phases();
	no_time_at_all();
	windows();
	many();
	opened_by_a_function();
	of_the_busiest_thread();
	by_kernels();
	without_updates(false);
	without_updates(true);
	return test_result();
}
