/* SPDX-License-Identifier: MIT */
/* The other algorithm that runs beside a program's convolution, on a made-up device: what is run in
 * which order, what is compared with what, and that all memory is given back. */
#include "shim/base/env.h"
#include "shim/rewrites/cudnn_search/search_handle.h"
#include "shim/rewrites/cudnn_search/search_known.h"
#include "shim/rewrites/cudnn_search/search_live.h"
#include "shim/rewrites/cudnn_search/search_verify.h"
#include "shim/rewrites/memory/held_fills.h"
#include "shim/state/tensors.h"
#include "tests/test.h"

#define BYTES 1000u     /* of an output, */
#define FILTER_BYTES 70 /* of one that is a filter, */
#define DATA_BYTES 300u /* and of a gradient of data */
#define WORKSPACE 64u
#define SITE 9u
#define ASKED 1
#define CHOSEN 6
#define MATH 2

struct tfs_options tfs_options = {.search_memory_bytes = 2 * BYTES + WORKSPACE};

static struct tfs_search_device device = {.number = 3};
static char places[8]; /* memory of ours, by the order in which it was had */
static char stream, output, x_place, y_place, w_place;
static unsigned had, given, had_at_most = 8;
static uint64_t bytes_had[8];
static char said[40]; /* c(opy), e(xecute), m(ark), s(ettle) */
static bool made = true, held_back, capturing, takes = true, reached, problem_read = true;
static bool copies = true, marks = true, reads = true, differs;
static int taken;
static cudnnStatus_t status;
static const void *copied_to, *copied_from;
static uint64_t copied;
static struct tfs_convolution_call executed;
static const void *compared_one, *compared_other;
static uint64_t compared_bytes;

static void say(char what)
{
	said[strlen(said)] = what;
}

bool tfs_search_device_made(struct tfs_search_device *one)
{
	return one == &device && made;
}

struct tfs_search_device *tfs_search_cudnn_device(void)
{
	return &device;
}

bool tfs_search_device_take(struct tfs_search_device *one)
{
	taken += one == &device && takes;
	return takes;
}

void tfs_search_device_leave(struct tfs_search_device *one)
{
	taken -= one == &device;
}

void tfs_search_device_settle(struct tfs_search_device *one)
{
	TEST_TRUE(one == &device && taken == 1);
	say('s');
}

bool tfs_search_reached(struct tfs_search_device *one)
{
	TEST_TRUE(one == &device && taken == 1);
	return reached;
}

bool tfs_search_capturing(CUstream one)
{
	TEST_TRUE(!one);
	return capturing;
}

void *tfs_search_allocate(struct tfs_search_device *one, uint64_t bytes, CUstream on)
{
	TEST_TRUE(one == &device && (char *)on == &stream);
	if (had == had_at_most)
		return NULL;
	bytes_had[had] = bytes;
	return &places[had++];
}

void tfs_search_free(void *memory, CUstream on)
{
	TEST_TRUE((char *)on == &stream || on == device.stream);
	given += memory != NULL;
}

bool tfs_search_copy(void *target, const void *source, uint64_t bytes, CUstream on)
{
	TEST_TRUE((char *)on == &stream);
	copied_to = target;
	copied_from = source;
	copied = bytes;
	say('c');
	return copies;
}

bool tfs_search_mark(struct tfs_search_device *one, CUstream on)
{
	TEST_TRUE(one == &device && taken == 1 && (char *)on == &stream);
	say('m');
	return marks;
}

cudnnStatus_t tfs_search_execute(const struct tfs_convolution_call *call)
{
	executed = *call;
	say('e');
	return status;
}

const void **tfs_search_output(struct tfs_convolution_call *call)
{
	return call->family == TFS_FAMILY_conv_forward         ? &call->y
	       : call->family == TFS_FAMILY_conv_backward_data ? &call->x
							       : &call->w;
}

bool tfs_search_compare(struct tfs_search_device *one, const void *first, const void *second,
	uint64_t bytes, int type, struct tfs_difference *out_sum)
{
	TEST_TRUE(one == &device && taken == 1);
	TEST_EQ(type, 5);
	compared_one = first;
	compared_other = second;
	compared_bytes = bytes;
	*out_sum = (struct tfs_difference){.most = 4, .own_most = 8};
	return reads;
}

bool tfs_difference_is_another(const struct tfs_difference *sum, int type, cudnnMathType_t math)
{
	TEST_TRUE(sum->most == 4 && type == 5 && (int)math == MATH);
	return differs;
}

bool tfs_held_back(const void *address, uint64_t bytes)
{
	TEST_TRUE(address && bytes > 0);
	return held_back;
}

cudaStream_t tfs_cudnn_stream(cudnnHandle_t handle)
{
	(void)handle;
	return (cudaStream_t)&stream;
}

bool tfs_tensor_read(cudnnTensorDescriptor_t descriptor, struct tfs_tensor *out)
{
	*out = (struct tfs_tensor){
		.bytes = (char *)descriptor == &y_place ? BYTES : DATA_BYTES, .type = 5};
	return true;
}

bool tfs_filter_read(cudnnFilterDescriptor_t descriptor, struct tfs_tensor *out)
{
	TEST_TRUE((char *)descriptor == &w_place);
	*out = (struct tfs_tensor){.bytes = FILTER_BYTES, .type = 5};
	return true;
}

bool tfs_problem_read(enum tfs_family family, cudnnTensorDescriptor_t x, cudnnFilterDescriptor_t w,
	cudnnConvolutionDescriptor_t convolution, cudnnTensorDescriptor_t y,
	struct tfs_problem *out_problem)
{
	(void)family, (void)x, (void)w, (void)convolution, (void)y;
	*out_problem = (struct tfs_problem){.fields = {[TFS_PROBLEM_math] = MATH}};
	return problem_read;
}

static struct tfs_known known;
static struct tfs_convolution_call call;

/* A call that is about to be made by this algorithm: is another one to run beside it? */
static bool begins(enum tfs_family family, int algorithm)
{
	memset(said, 0, sizeof(said));
	had = given = 0;
	call = (struct tfs_convolution_call){.family = family,
		.x_descriptor = (cudnnTensorDescriptor_t)&x_place,
		.w_descriptor = (cudnnFilterDescriptor_t)&w_place,
		.y_descriptor = (cudnnTensorDescriptor_t)&y_place,
		.x = &x_place,
		.w = &w_place,
		.y = &y_place,
		.algorithm = algorithm,
		.asked_algorithm = ASKED,
		.workspace = &output,
		.workspace_bytes = 12,
		.site = SITE};
	tfs_live_begin(&device, &call, &known, algorithm == ASKED ? CHOSEN : ASKED, WORKSPACE);
	TEST_EQ(taken, 0);
	return call.aside != NULL;
}

static void ends(bool succeeded)
{
	tfs_live_end(&call, succeeded);
	TEST_EQ(taken, 0);
}

static const struct tfs_known *found;
static struct tfs_reason evidence;

static bool holds(void)
{
	uint32_t site = SITE;

	found = NULL;
	evidence = (struct tfs_reason){0};
	const bool is = tfs_live_holds(&found, &site, &evidence);
	TEST_EQ(site, SITE);
	TEST_EQ(taken, 0);
	return is;
}

/* The chosen algorithm is the call's, the one asked for runs behind it, into memory that holds what
 * the output was before. */
static void check_run(void)
{
	TEST_TRUE(begins(TFS_FAMILY_conv_forward, CHOSEN));
	TEST_STR(said, "c");
	TEST_TRUE(copied_to == &places[1] && copied_from == &y_place && copied == BYTES);
	TEST_EQ(bytes_had[0], BYTES);
	TEST_EQ(bytes_had[1], BYTES);
	TEST_EQ(bytes_had[2], WORKSPACE);
	ends(true);
	TEST_STR(said, "ccem");
	TEST_TRUE(copied_to == &places[0] && copied_from == &y_place && copied == BYTES);
	TEST_EQ(executed.algorithm, ASKED);
	TEST_TRUE(executed.y == &places[1] && executed.x == &x_place && executed.w == &w_place);
	TEST_TRUE(executed.workspace == &places[2] && executed.workspace_bytes == WORKSPACE);
	/* Nothing waits for it, and one at a time is enough. */
	TEST_TRUE(holds());
	TEST_EQ(tfs_live_count(), 0);
	const unsigned before = had;
	tfs_live_begin(&device, &call, &known, ASKED, WORKSPACE);
	TEST_EQ(had, before);
	reached = true;
	capturing = true;
	TEST_TRUE(!tfs_live_settle(&device));
	capturing = false;
	TEST_TRUE(holds());
	TEST_EQ(tfs_live_count(), 1);
	TEST_TRUE(found == &known);
	TEST_TRUE(compared_one == &places[1] && compared_other == &places[0]);
	TEST_EQ(compared_bytes, BYTES);
	TEST_EQ(given, 3);
	TEST_STR(said, "ccems");
	/* It is told once. */
	TEST_TRUE(holds());
	TEST_TRUE(!found);
	TEST_TRUE(!tfs_live_settle(&device));
}

/* What differs is told: what was chosen against what the program asked for, whichever of the two
 * was the call's. */
static void check_differs(void)
{
	differs = true;
	for (int i = 0; i < 2; i++) {
		TEST_TRUE(begins(TFS_FAMILY_conv_forward, i == 0 ? CHOSEN : ASKED));
		ends(true);
		TEST_EQ(executed.algorithm, i == 0 ? ASKED : CHOSEN);
		TEST_TRUE(!holds());
		TEST_TRUE(found == &known);
		TEST_EQ(evidence.code, TFS_REASON_algorithm_differs);
		TEST_EQ(evidence.numbers[0], CHOSEN);
		TEST_EQ(evidence.numbers[1], ASKED);
		TEST_EQ(evidence.values[0], 4.0);
		TEST_EQ(evidence.values[1], 8.0);
		TEST_TRUE(compared_one == &places[i == 0]);
		TEST_TRUE(compared_other == &places[i != 0]);
		TEST_TRUE(holds());
	}
	/* What cannot be read is no evidence. */
	reads = false;
	const uint64_t before = tfs_live_count();
	TEST_TRUE(begins(TFS_FAMILY_conv_forward, CHOSEN));
	ends(true);
	TEST_TRUE(holds());
	TEST_EQ(tfs_live_count(), before);
	TEST_EQ(given, 3);
	reads = true;
	differs = false;
}

static void check_outputs(void)
{
	TEST_TRUE(begins(TFS_FAMILY_conv_backward_data, CHOSEN));
	TEST_TRUE(copied_from == &x_place && copied == DATA_BYTES);
	ends(true);
	TEST_TRUE(executed.x == &places[1] && executed.y == &y_place);
	TEST_TRUE(holds());
	TEST_TRUE(begins(TFS_FAMILY_conv_backward_filter, CHOSEN));
	TEST_TRUE(copied_from == &w_place && copied == FILTER_BYTES);
	ends(true);
	TEST_TRUE(executed.w == &places[1] && executed.y == &y_place);
	TEST_TRUE(holds());
}

/* Where it cannot run, nothing of ours is left, and the next one can. */
static void check_failures(void)
{
	bool *const before[] = {&made, &problem_read, &copies};

	for (size_t i = 0; i < 3; i++) {
		*before[i] = false;
		TEST_TRUE(!begins(TFS_FAMILY_conv_forward, CHOSEN));
		TEST_EQ(had, given);
		*before[i] = true;
	}
	held_back = true;
	TEST_TRUE(!begins(TFS_FAMILY_conv_forward, CHOSEN));
	held_back = false;
	tfs_options.search_memory_bytes--;
	TEST_TRUE(!begins(TFS_FAMILY_conv_forward, CHOSEN));
	TEST_EQ(had + given, 0);
	tfs_options.search_memory_bytes++;
	for (had_at_most = 0; had_at_most < 3; had_at_most++) {
		TEST_TRUE(!begins(TFS_FAMILY_conv_forward, CHOSEN));
		TEST_EQ(given, had_at_most);
	}
	had_at_most = 8;
	for (int i = 0; i < 5; i++) {
		TEST_TRUE(begins(TFS_FAMILY_conv_forward, CHOSEN));
		marks = i != 0;
		status = i == 1 ? CUDNN_STATUS_EXECUTION_FAILED : CUDNN_STATUS_SUCCESS;
		takes = i != 2;
		call.algorithm = i == 3 ? ASKED : CHOSEN;
		ends(i != 4);
		marks = takes = true;
		status = CUDNN_STATUS_SUCCESS;
		TEST_EQ(given, 3);
		TEST_TRUE(holds());
		TEST_TRUE(!found);
	}
	/* No check was begun. */
	call.aside = NULL;
	ends(true);
	TEST_EQ(given, 3);
}

/* Memory is short, or the device was reset: what was begun is never compared. */
static void check_dropped(void)
{
	const uint64_t before = tfs_live_count();

	tfs_live_drop(&device);
	TEST_TRUE(begins(TFS_FAMILY_conv_forward, CHOSEN));
	ends(true);
	tfs_live_drop(&device);
	TEST_EQ(given, 3);
	TEST_TRUE(!tfs_live_settle(&device));
	TEST_TRUE(begins(TFS_FAMILY_conv_forward, CHOSEN));
	ends(true);
	tfs_live_forget(3);
	tfs_live_forget(TFS_SEARCH_DEVICES);
	TEST_EQ(given, 0);
	TEST_TRUE(holds());
	TEST_TRUE(!found);
	TEST_TRUE(begins(TFS_FAMILY_conv_forward, CHOSEN));
	tfs_live_forget(3);
	ends(true);
	TEST_TRUE(holds());
	TEST_TRUE(!found);
	TEST_EQ(tfs_live_count(), before);
	TEST_TRUE(begins(TFS_FAMILY_conv_forward, CHOSEN));
	ends(true);
	TEST_TRUE(holds());
	TEST_EQ(tfs_live_count(), before + 1);
}

int main(void)
{
	check_run();
	check_differs();
	check_outputs();
	check_failures();
	check_dropped();
	return test_result();
}
