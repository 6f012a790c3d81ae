/* SPDX-License-Identifier: MIT */
/* memoise on a made-up runtime: which answers are remembered, for which device, what is held
 * against them in shadow, and what a remembered one is said to gain. */
#include <cuda_runtime_api.h>
#include <math.h>
#include <time.h>

#include "shim/resolve/direct.h"
#include "shim/rewrites/rewrite.h"
#include "tests/test.h"

#define DEVICES 16
#define SITE 5u

extern const struct tfs_rewrite tfs_rewrite_memoise;

int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

void *tfs_direct_known[TFS_DIRECT_COUNT];

static uint64_t now_ns = 1000, look_ns; /* that each look at the clock takes */

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	(void)clock;
	now_ns += look_ns;
	out->tv_sec = (time_t)(now_ns / 1000000000);
	out->tv_nsec = (long)(now_ns % 1000000000);
	return 0;
}

bool tfs_lookup_steady(enum tfs_library library)
{
	return library == TFS_LIBRARY_cudart;
}

bool tfs_direct_there(const uint8_t *calls, size_t count, _Atomic int *known)
{
	(void)calls, (void)known;
	return count == 4;
}

/* The runtime: its answers count up with `age`. */
static int age, error;
static unsigned asked, failing; /* the question that fails, counted from 1; 0 = none */
static uint64_t takes_ns = 1000;

static cudaError_t version(int *out)
{
	*out = CUDART_VERSION;
	return cudaSuccess;
}

static cudaError_t peek(void)
{
	return (cudaError_t)error;
}

static cudaError_t properties(struct cudaDeviceProp *out, int device)
{
	asked++;
	now_ns += takes_ns;
	memset(out, 0, sizeof(*out));
	out->pciBusID = device + 1;
	out->warpSize = 32 + age;
	return asked == failing ? cudaErrorUnknown : cudaSuccess;
}

static cudaError_t attribute(int *out, enum cudaDeviceAttr which, int device)
{
	asked++;
	now_ns += takes_ns;
	*out = 10000 * age + 100 * device + (int)which;
	return asked == failing ? cudaErrorUnknown : cudaSuccess;
}

void *tfs_direct_look_up(enum tfs_direct call)
{
	switch (call) {
	case TFS_DIRECT_cudaRuntimeGetVersion:
		return (void *)version;
	case TFS_DIRECT_cudaPeekAtLastError:
		return (void *)peek;
	case TFS_DIRECT_cudaGetDeviceProperties:
		return (void *)properties;
	case TFS_DIRECT_cudaDeviceGetAttribute:
		return (void *)attribute;
	default:
		return NULL;
	}
}

/* What the rewrite says of itself. */
static enum tfs_rewrite_mode mode = TFS_MODE_APPLY;
static uint32_t refused;
static struct tfs_reason difference;
static unsigned differences, shadowed;
static double predicted;

void tfs_rewrite_refuse(const struct tfs_rewrite *rewrite, uint32_t check, uint32_t site)
{
	TEST_TRUE(rewrite == &tfs_rewrite_memoise && site == SITE);
	refused = check;
}

bool tfs_rewrite_apply(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	(void)rewrite;
	TEST_EQ(bytes, 0);
	return mode == TFS_MODE_APPLY;
}

bool tfs_rewrite_shadow(const struct tfs_rewrite *rewrite, uint64_t bytes)
{
	(void)rewrite, (void)bytes;
	shadowed++;
	return true;
}

void tfs_rewrite_differs(
	const struct tfs_rewrite *rewrite, uint32_t site, const struct tfs_reason *evidence)
{
	TEST_TRUE(rewrite == &tfs_rewrite_memoise && site == SITE);
	difference = *evidence;
	differences++;
}

enum tfs_rewrite_mode tfs_rewrite_mode(const struct tfs_rewrite *rewrite)
{
	(void)rewrite;
	return mode;
}

void tfs_rewrite_predict_call(const struct tfs_rewrite *rewrite, double ns)
{
	(void)rewrite;
	predicted = ns;
}

/* A call of the program's, as the hook makes it: did the rewrite answer? */
static bool ask(enum tfs_query what, int which, int device, void *out)
{
	struct tfs_op op = {.kind = TFS_OP_QUERY,
		.site = SITE,
		.query = {.what = what, .attribute = which, .device = device, .answer = out}};

	refused = TFS_CHECK_none;
	predicted = NAN;
	const enum tfs_answer answer = tfs_rewrite_memoise.before(&op);
	if (answer == TFS_DONE) {
		TEST_EQ(op.status, cudaSuccess);
		return true;
	}
	op.status = (uint32_t)(what == TFS_QUERY_PROPERTIES
				       ? properties(out, device)
				       : attribute(out, (enum cudaDeviceAttr)which, device));
	if (answer == TFS_MINDS)
		TEST_TRUE(!tfs_rewrite_memoise.after(&op));
	return false;
}

static int value; /* the program's */

static bool ask_attribute(int which, int device)
{
	value = -1;
	return ask(TFS_QUERY_ATTRIBUTE, which, device, &value);
}

static struct cudaDeviceProp all;

static bool ask_properties(int device)
{
	memset(&all, 0xff, sizeof(all));
	return ask(TFS_QUERY_PROPERTIES, 0, device, &all);
}

/* From the second time on, each device's and attribute's own. */
static void check_answers(void)
{
	for (int device = 0; device < DEVICES; device++) {
		TEST_TRUE(!ask_attribute(cudaDevAttrWarpSize, device));
		TEST_TRUE(!ask_attribute(255, device));
		TEST_TRUE(!ask_properties(device));
	}
	asked = 0;
	age++;
	for (int device = 0; device < DEVICES; device++) {
		TEST_TRUE(ask_attribute(cudaDevAttrWarpSize, device));
		TEST_EQ(value, 100 * device + cudaDevAttrWarpSize);
		TEST_TRUE(ask_attribute(255, device));
		TEST_EQ(value, 100 * device + 255);
		TEST_TRUE(ask_properties(device));
		TEST_EQ(all.pciBusID, device + 1);
		TEST_EQ(all.warpSize, 32);
	}
	TEST_EQ(asked, 0);
	TEST_EQ(refused, TFS_CHECK_none);
	age--;
}

static void reset(uint32_t device)
{
	const struct tfs_op op = {.kind = TFS_OP_RESET, .device = device};

	tfs_rewrite_memoise.event(&op);
}

/* Of the device that was reset, and of no other, everything is asked anew. */
static void check_reset(void)
{
	reset(3);
	reset(DEVICES);
	age++;
	TEST_TRUE(!ask_attribute(cudaDevAttrWarpSize, 3));
	TEST_TRUE(!ask_attribute(255, 3));
	TEST_TRUE(!ask_properties(3));
	TEST_TRUE(ask_attribute(cudaDevAttrWarpSize, 3));
	TEST_EQ(value, 10300 + cudaDevAttrWarpSize);
	TEST_TRUE(ask_properties(3));
	TEST_EQ(all.warpSize, 33);
	TEST_TRUE(ask_attribute(255, 2) && ask_attribute(255, 4) && ask_properties(2));
	reset(DEVICES - 1);
	TEST_TRUE(!ask_properties(DEVICES - 1));
	age--;
	reset(3);
}

static void check_refused(void)
{
	static const int change[] = {cudaDevAttrClockRate, cudaDevAttrMemoryClockRate,
		cudaDevAttrComputeMode, cudaDevAttrKernelExecTimeout};

	for (int i = 0; i < 8; i++) {
		TEST_TRUE(!ask_attribute(change[i % 4], 0));
		TEST_EQ(refused, TFS_CHECK_constant);
	}
	for (int i = 0; i < 2; i++) {
		TEST_TRUE(!ask_attribute(256, 0));
		TEST_EQ(refused, TFS_CHECK_known_number);
		TEST_TRUE(!ask_attribute(-1, 0));
		TEST_EQ(refused, TFS_CHECK_known_number);
		TEST_TRUE(!ask_attribute(1, DEVICES));
		TEST_EQ(refused, TFS_CHECK_known_number);
		TEST_TRUE(!ask_attribute(1, -1));
		TEST_EQ(refused, TFS_CHECK_known_number);
	}
	/* While an error waits the runtime is asked; and what it answers then is not remembered. */
	error = cudaErrorInvalidDevice;
	TEST_TRUE(!ask_attribute(cudaDevAttrWarpSize, 0));
	TEST_EQ(refused, TFS_CHECK_no_error_waiting);
	TEST_TRUE(!ask_attribute(22, 0));
	error = 0;
	TEST_TRUE(!ask_attribute(22, 0) && ask_attribute(22, 0));
	/* An error is none, whether the program is told of it or the question that comes again. */
	for (failing = 1; failing <= 2; failing++) {
		asked = 0;
		TEST_TRUE(!ask_attribute(21, 0));
		TEST_EQ(asked, failing);
	}
	failing = 0;
	TEST_TRUE(!ask_attribute(21, 0) && ask_attribute(21, 0));
}

/* The runtime's answer stays the program's, and one that is another now is evidence. */
static void check_shadow(void)
{
	mode = TFS_MODE_SHADOW;
	shadowed = 0;
	TEST_TRUE(!ask_attribute(cudaDevAttrWarpSize, 1) && !ask_properties(1));
	TEST_EQ(shadowed, 2);
	TEST_EQ(differences, 0);
	age++;
	TEST_TRUE(!ask_attribute(cudaDevAttrWarpSize, 1));
	TEST_EQ(value, 10100 + cudaDevAttrWarpSize);
	TEST_EQ(differences, 1);
	TEST_EQ(difference.code, TFS_REASON_attribute_changed);
	TEST_EQ(difference.numbers[0], cudaDevAttrWarpSize);
	TEST_EQ(difference.numbers[1], 1);
	TEST_TRUE(!ask_properties(1));
	TEST_EQ(differences, 2);
	TEST_EQ(difference.code, TFS_REASON_properties_changed);
	TEST_EQ(difference.numbers[0], 1);
	/* In report nothing is compared. */
	mode = TFS_MODE_REPORT;
	TEST_TRUE(!ask_properties(1));
	TEST_EQ(differences, 2);
	age--;
	mode = TFS_MODE_APPLY;
}

/* The least that the runtime took for such a question, less what the answer took. */
static void check_prediction(void)
{
	TEST_TRUE(!ask_attribute(30, 0));
	TEST_TRUE(isnan(predicted));
	look_ns = 50;
	TEST_TRUE(ask_attribute(30, 0));
	TEST_EQ(predicted, 1000 - 50);
	takes_ns = 3000;
	TEST_TRUE(!ask_attribute(31, 0) && ask_attribute(31, 0));
	TEST_EQ(predicted, 1000 - 50);
	takes_ns = 400;
	TEST_TRUE(!ask_attribute(32, 0) && ask_attribute(32, 0));
	TEST_EQ(predicted, 450 - 50);
	/* The other kind has a time of its own. */
	TEST_TRUE(ask_properties(0));
	TEST_EQ(predicted, 1000 - 50);
}

int main(void)
{
	check_answers();
	check_reset();
	check_refused();
	check_shadow();
	check_prediction();
	return test_result();
}
