/* SPDX-License-Identifier: MIT */
/* The lists of algorithms that a program asks cuDNN for, on a made-up cuDNN: where the choice goes,
 * what a measured list decides, and when one is answered from what was remembered. */
#include "shim/base/env.h"
#include "shim/rewrites/convolution.h"
#include "shim/rewrites/cudnn_search/cudnn_search.h"
#include "shim/rewrites/cudnn_search/decisions_file.h"
#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/memory/blocks.h"
#include "tests/test.h"

#define MATH 1
#define ROOM 8

const struct tfs_rewrite tfs_rewrite_cudnn_search = {.name = "made up"};
struct tfs_options tfs_options = {.ranks = 1};
_Atomic uint32_t tfs_blocks_count = 1;
_Atomic bool tfs_search_by_itself;

static struct tfs_search_device device;
static uint32_t machine = 1;
static int32_t problem_number; /* of the next call */
static bool complete, writable = true, capturing, applies = true;
static enum tfs_rewrite_mode mode = TFS_MODE_APPLY;
static unsigned applied, waits;
static uint32_t refused;
static struct tfs_known met = {.in_list = true};
static struct tfs_decision written, replayed;
static unsigned writes;
static const void *gone; /* memory that is there no more */
static struct tfs_performance list[ROOM], guesses[ROOM];
static int guess_count, returned;

bool tfs_search_check(enum tfs_search_check check, bool holds, uint32_t site)
{
	TEST_EQ(site, 4);
	if (!holds)
		refused = check;
	return holds;
}

struct tfs_search_device *tfs_search_cudnn_device(void)
{
	return &device;
}

uint32_t tfs_search_machine(const struct tfs_search_device *one)
{
	TEST_TRUE(one == &device);
	return machine;
}

bool tfs_search_capturing(CUstream stream)
{
	TEST_TRUE(!stream);
	return capturing;
}

cudaStream_t tfs_cudnn_stream(cudnnHandle_t handle)
{
	TEST_TRUE(handle);
	return NULL;
}

bool tfs_search_device_wait(CUstream stream, bool all)
{
	TEST_TRUE(!stream);
	waits += all ? 1 : 100;
	return true;
}

bool tfs_search_is_memory(const void *address)
{
	return address && address != gone;
}

static unsigned parted;

void tfs_blocks_part(const void *first, const void *other)
{
	(void)first, (void)other;
	parted++;
}

enum tfs_rewrite_mode tfs_rewrite_mode(const struct tfs_rewrite *rewrite)
{
	TEST_TRUE(rewrite == &tfs_rewrite_cudnn_search);
	return mode;
}

bool tfs_rewrite_apply(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	TEST_TRUE(rewrite == &tfs_rewrite_cudnn_search && bytes == 0);
	applied += applies;
	return applies;
}

bool tfs_problem_read(enum tfs_family family, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
	cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
	struct tfs_problem *out_problem)
{
	(void)family, (void)x, (void)w, (void)convolution, (void)y;
	*out_problem = (struct tfs_problem){
		.fields = {[TFS_PROBLEM_family] = problem_number, [TFS_PROBLEM_math] = MATH}};
	return problem_number >= 0;
}

int tfs_search_guess(const struct tfs_search *search, struct tfs_performance *out_list, int most)
{
	TEST_TRUE((int)search->math == MATH && most >= ROOM);
	memcpy(out_list, guesses, sizeof(guesses));
	return guess_count;
}

struct tfs_known *tfs_search_meet(const struct tfs_search *what, const struct tfs_problem *problem,
	int asked, uint32_t site, bool in_list, struct tfs_search_device **out_device)
{
	TEST_TRUE(in_list && site == 4 && problem->fields[TFS_PROBLEM_math] == MATH);
	TEST_EQ(asked, list[0].algo);
	/* A choice may need no more than the program has by now. */
	TEST_EQ(what->most, list[0].memory);
	*out_device = &device;
	return &met;
}

const struct tfs_decision *tfs_decisions_find(uint32_t on, const struct tfs_problem *problem)
{
	TEST_EQ(on, machine);
	return problem->fields[TFS_PROBLEM_family] == replayed.problem.fields[TFS_PROBLEM_family] &&
			       replayed.machine == on
		       ? &replayed
		       : NULL;
}

bool tfs_decisions_complete(uint32_t on)
{
	TEST_EQ(on, machine);
	return complete;
}

bool tfs_search_written(const struct tfs_decision *decision)
{
	written = *decision;
	writes++;
	return writable;
}

static struct tfs_performance entry_of(int algorithm, size_t memory)
{
	return (struct tfs_performance){.algo = (cudnnConvolutionFwdAlgo_t)algorithm,
		.status = CUDNN_STATUS_SUCCESS,
		.time = 2,
		.memory = memory,
		.mathType = MATH};
}

static struct tfs_choice_call call;

static struct tfs_op describe(bool measured, int requested)
{
	call = (struct tfs_choice_call){.family = TFS_FAMILY_conv_forward,
		.measured = measured,
		.handle = (cudnnHandle_t)&device,
		.list = list,
		.returned = &returned,
		.requested = requested,
		.workspace_bytes = TFS_CHOICE_OWN_MEMORY,
		.site = 4};
	refused = 0;
	return (struct tfs_op){.kind = TFS_OP_CHOICE, .site = 4, .choice = &call};
}

/* cuDNN has answered with these algorithms, each of which needs ten times its number of bytes. */
static void answered(bool measured, int requested, const char *algorithms)
{
	const struct tfs_op op = describe(measured, requested);

	memset(list, 0, sizeof(list));
	returned = (int)strlen(algorithms);
	for (int i = 0; i < returned; i++)
		list[i] = entry_of(algorithms[i] - '0', (size_t)(algorithms[i] - '0') * 10);
	tfs_search_choice(&op);
}

/* The list as it is now. */
static const char *listed(void)
{
	static char text[ROOM + 1];

	for (int i = 0; i < returned; i++)
		text[i] = (char)('0' + list[i].algo);
	text[returned] = '\0';
	return text;
}

static void check_guessed(void)
{
	struct tfs_decision decision = {.asked = 5, .chosen = 3};

	met.decision = &decision;
	answered(false, ROOM, "5432");
	TEST_STR(listed(), "3542");
	TEST_EQ(list[0].memory, 30);
	TEST_EQ(applied, 1);
	/* Asked otherwise than it was decided. */
	answered(false, ROOM, "4532");
	TEST_STR(listed(), "4532");
	TEST_EQ(refused, TFS_SEARCH_ASKED);
	/* It would need more than the program has. */
	decision.asked = 2;
	answered(false, ROOM, "2345");
	TEST_STR(listed(), "2345");
	TEST_EQ(refused, TFS_SEARCH_WORKSPACE);
	decision.chosen = 2;
	answered(false, ROOM, "2345");
	TEST_STR(listed(), "2345");
	TEST_EQ(applied, 1);
	/* A list that is too short for it loses its last entry. */
	decision = (struct tfs_decision){.asked = 5, .chosen = 1};
	guesses[0] = entry_of(5, 50);
	guesses[1] = entry_of(1, 50);
	guess_count = 2;
	answered(false, 3, "543");
	TEST_STR(listed(), "154");
	TEST_EQ(list[0].memory, 50);
	TEST_EQ(list[3].memory, 0);
	TEST_EQ(applied, 2);
	decision.chosen = 5;
	answered(false, 3, "543");
	TEST_STR(listed(), "543");
	TEST_EQ(applied, 2);
	decision.chosen = 1;
	guess_count = 1;
	answered(false, 3, "543");
	TEST_STR(listed(), "543");
	/* Nor one by other math, or that does not work. */
	guess_count = 2;
	guesses[1].mathType = MATH + 1;
	answered(false, 3, "543");
	TEST_STR(listed(), "543");
	guesses[1] = entry_of(1, 7);
	guesses[1].status = CUDNN_STATUS_NOT_SUPPORTED;
	answered(false, 3, "543");
	TEST_STR(listed(), "543");
	applies = false;
	decision.chosen = 4;
	answered(false, 3, "543");
	TEST_STR(listed(), "543");
	applies = true;
	met.in_list = false;
	answered(false, 3, "543");
	TEST_STR(listed(), "543");
	TEST_TRUE(!tfs_search_by_itself);
}

/* cuDNN has measured one algorithm for the program. */
static void measured_one(int32_t problem, cudnnMathType_t math, float time)
{
	struct tfs_op op = describe(true, ROOM);

	problem_number = problem;
	list[0] = entry_of(5, 50);
	list[0].mathType = math;
	list[0].time = time;
	returned = 1;
	op.status = CUDNN_STATUS_SUCCESS;
	tfs_search_choice(&op);
}

/* What the program has measured stands, and is what later runs replay. */
static void check_measured(void)
{
	problem_number = 10;
	answered(true, ROOM, "542");
	TEST_TRUE(tfs_search_by_itself);
	TEST_EQ(writes, 1);
	TEST_EQ(written.asked, 5);
	TEST_EQ(written.chosen, 5);
	TEST_EQ(written.workspace, 50);
	TEST_EQ(written.asked_ms, 2.0);
	TEST_EQ(written.chosen_ms, 2.0);
	TEST_TRUE(written.in_list && written.machine == 1);
	TEST_STR(listed(), "542");
	/* Noise does not choose anew. */
	answered(true, ROOM, "452");
	TEST_EQ(writes, 1);
	TEST_STR(listed(), "452");
	TEST_EQ(refused, TFS_SEARCH_WORKSPACE);
	answered(true, ROOM, "652");
	TEST_STR(listed(), "562");
	/* An earlier run's. */
	problem_number = 11;
	replayed = (struct tfs_decision){.machine = 1, .asked = 5, .chosen = 2, .in_list = true};
	replayed.problem.fields[TFS_PROBLEM_family] = 11;
	answered(true, ROOM, "542");
	TEST_STR(listed(), "254");
	TEST_EQ(writes, 1);
	/* What it has not measured is not put into its list. */
	guesses[1] = entry_of(1, 7);
	problem_number = replayed.problem.fields[TFS_PROBLEM_family] = 15;
	replayed.chosen = 1;
	answered(true, ROOM, "542");
	TEST_STR(listed(), "542");
	/* Left as they are: of several ranks, where nothing can be written, by other math, and what
	 * the file says all about. */
	problem_number = 12;
	tfs_options.ranks = 2;
	answered(true, ROOM, "542");
	TEST_EQ(refused, TFS_SEARCH_RANKS);
	tfs_options.ranks = 1;
	problem_number = 13;
	complete = true;
	answered(true, ROOM, "542");
	complete = false;
	TEST_EQ(writes, 1);
	problem_number = 14;
	writable = false;
	answered(true, ROOM, "542");
	TEST_EQ(refused, TFS_SEARCH_WRITTEN);
	writable = true;
	TEST_EQ(writes, 2);
	measured_one(16, MATH + 1, 2);
	measured_one(17, MATH, -1);
	TEST_EQ(writes, 2);
	for (problem_number = 12; problem_number <= 14; problem_number++) {
		answered(true, ROOM, "642");
		TEST_STR(listed(), "642");
	}
	TEST_EQ(writes, 2);
}

/* Is a measured list answered without cuDNN? */
static bool answers(struct tfs_op op)
{
	memset(list, 0, sizeof(list));
	returned = 0;
	op.status = 99;
	const bool done = tfs_search_answer(&op);
	if (done)
		TEST_EQ(op.status, CUDNN_STATUS_SUCCESS);
	return done;
}

/* As the program got it, as long as that was all there is, or no more is asked for. */
static void check_remembered(void)
{
	problem_number = 20;
	TEST_TRUE(!answers(describe(true, 3)));
	answered(true, 3, "543");
	applied = waits = 0;
	TEST_TRUE(answers(describe(true, 3)));
	TEST_STR(listed(), "543");
	TEST_EQ(applied, 1);
	TEST_EQ(waits, 1);
	TEST_TRUE(answers(describe(true, 2)));
	TEST_STR(listed(), "54");
	TEST_TRUE(!answers(describe(true, 4)));
	answered(true, 7, "543");
	TEST_TRUE(answers(describe(true, ROOM)));
	TEST_STR(listed(), "543");
	/* Not where the answer is not the same, or nothing may be asked. */
	TEST_TRUE(!answers(describe(false, 3)));
	TEST_TRUE(!answers(describe(true, 0)));
	machine = 2;
	TEST_TRUE(!answers(describe(true, 3)));
	machine = 1;
	capturing = true;
	TEST_TRUE(!answers(describe(true, 3)));
	capturing = false;
	mode = TFS_MODE_REPORT;
	TEST_TRUE(!answers(describe(true, 3)));
	mode = TFS_MODE_APPLY;
	problem_number = -1;
	TEST_TRUE(!answers(describe(true, 3)));
	problem_number = 20;
	TEST_TRUE(answers(describe(true, 3)));
}

/* Of a call on the program's own memory that has to be there, and each size of the workspace has a
 * list of its own. */
static void check_memory(void)
{
	static const char memory[4];
	struct tfs_op op = describe(true, 3);

	for (int i = 0; i < 4; i++)
		call.memory[i] = &memory[i];
	call.workspace_bytes = 30;
	TEST_TRUE(!answers(op));
	list[0] = entry_of(2, 20);
	returned = 1;
	op.status = CUDNN_STATUS_SUCCESS;
	tfs_search_choice(&op);
	waits = parted = 0;
	TEST_TRUE(answers(op));
	TEST_STR(listed(), "2");
	/* The stream alone is waited for; blocks that are held in its place are given back. */
	TEST_EQ(waits, 100);
	TEST_EQ(parted, 2);
	for (int i = 0; i < 4; i++) {
		gone = &memory[i];
		TEST_TRUE(!answers(op));
	}
	gone = NULL;
	call.workspace_bytes = 31;
	TEST_TRUE(!answers(op));
	call.workspace_bytes = 0;
	call.memory[3] = NULL;
	list[0] = entry_of(0, 0);
	returned = 1;
	tfs_search_choice(&op);
	TEST_TRUE(answers(op));
	TEST_STR(listed(), "0");
	TEST_TRUE(answers(describe(true, 3)));
	TEST_STR(listed(), "543");
}

/* What failed is left alone. */
static void check_failed(void)
{
	struct tfs_op op = describe(true, 3);

	problem_number = 30;
	op.status = CUDNN_STATUS_NOT_SUPPORTED;
	list[0] = entry_of(2, 20);
	returned = 1;
	tfs_search_choice(&op);
	TEST_TRUE(!answers(describe(true, 3)));
	op = describe(true, 3);
	list[0] = entry_of(2, 20);
	list[0].status = CUDNN_STATUS_NOT_SUPPORTED;
	returned = 1;
	tfs_search_choice(&op);
	TEST_TRUE(!answers(describe(true, 3)));
}

int main(void)
{
	check_guessed();
	check_measured();
	check_remembered();
	check_memory();
	check_failed();
	return test_result();
}
