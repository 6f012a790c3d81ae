/* SPDX-License-Identifier: MIT */
/* Fills that are followed, on made-up devices: which are apart, what is carried out, on whose
 * device, and from which bytes zeros are held back. */
#include "shim/rewrites/memory/held_fills.h"

#include <cuda_runtime_api.h>

#include "shim/record/recorder.h"
#include "shim/resolve/direct.h"
#include "shim/rewrites/memory/memory_functions.h"
#include "tests/test.h"

#define AT UINT64_C(0x10000)
#define BYTES 4096u
#define REASON 7u

const struct tfs_memory_functions *__wrap_tfs_memory_functions(bool driver);

static int device, no_device;
static struct {
	uint64_t address, bytes;
	void *stream;
	int device;
} filled[TFS_HELD_MOST]; /* in the order of filling */
static unsigned fills, told;

static cudaError_t get_device(int *out)
{
	*out = device;
	return no_device ? cudaErrorInitializationError : cudaSuccess;
}

static cudaError_t set_device(int which)
{
	TEST_TRUE(which >= 0); /* any other leaves the program an error of ours */
	device = which;
	return cudaSuccess;
}

static int fill(void *address, int value, size_t bytes, void *stream)
{
	TEST_EQ(value, 0);
	TEST_NEED(fills < TFS_HELD_MOST);
	filled[fills].address = (uintptr_t)address;
	filled[fills].bytes = bytes;
	filled[fills].stream = stream;
	filled[fills++].device = device;
	return 0;
}

const struct tfs_memory_functions *__wrap_tfs_memory_functions(bool driver)
{
	static const struct tfs_memory_functions functions = {.fill = fill};

	return driver ? NULL : &functions;
}

static bool add(enum tfs_held_state state, uint64_t address, uint64_t bytes)
{
	const struct tfs_held held = {.state = state,
		.device = 1,
		.address = address,
		.bytes = bytes,
		.stream = (void *)3,
		.thread = tfs_held_self()};

	return tfs_held_add(&held);
}

static bool wanted(void)
{
	return (tfs_wanted & TFS_WANT_FILLS) != 0;
}

static void tell(const struct tfs_held *held, uint32_t reason)
{
	TEST_TRUE(held->state != TFS_HELD_NONE && held->state != TFS_HELD_LATE);
	TEST_EQ(reason, REASON);
	told++;
}

/* How many were told of; `carried` of them were carried out. */
static unsigned settle(unsigned carried)
{
	told = fills = 0;
	tfs_held_settle(tell, REASON);
	TEST_EQ(fills, carried);
	return told;
}

/* What lies beside another is followed too, what overlaps it is not. */
static void check_apart(void)
{
	TEST_TRUE(!wanted());
	TEST_TRUE(add(TFS_HELD_DONE, AT, BYTES));
	TEST_TRUE(wanted());
	TEST_TRUE(!add(TFS_HELD_DONE, AT, BYTES));
	TEST_TRUE(!add(TFS_HELD_DONE, AT + BYTES - 1, 64));
	TEST_TRUE(!add(TFS_HELD_DONE, AT - 63, 64));
	TEST_TRUE(!add(TFS_HELD_DONE, AT - 64, BYTES + 128));
	TEST_TRUE(!add(TFS_HELD_DONE, AT + 64, 64));
	TEST_TRUE(add(TFS_HELD_DONE, AT + BYTES, 64));
	TEST_TRUE(add(TFS_HELD_DONE, AT - 64, 64));
	/* With the first of three, and with the second. */
	TEST_TRUE(!add(TFS_HELD_DONE, AT + 64, 64));
	TEST_TRUE(!add(TFS_HELD_DONE, AT + BYTES + 32, 64));
	TEST_EQ(settle(0), 3);
	TEST_TRUE(!wanted());
	for (unsigned i = 0; i < TFS_HELD_MOST; i++)
		TEST_TRUE(add(TFS_HELD_DONE, AT + i * 64, 64));
	TEST_TRUE(!add(TFS_HELD_DONE, AT - 64, 64));
	TEST_EQ(settle(0), TFS_HELD_MOST);
	TEST_EQ(settle(0), 0);
}

/* What was held back is filled on its own stream and device, and the thread is where it was. */
static void check_carried(void)
{
	for (int here = 0; here < 2; here++) {
		device = here;
		TEST_TRUE(add(TFS_HELD_DONE, AT, BYTES));
		TEST_TRUE(add(TFS_HELD_BACK, AT + BYTES, 64));
		TEST_TRUE(add(TFS_HELD_BACK, AT - 64, 64));
		TEST_EQ(settle(2), 3);
		TEST_EQ(device, here);
		TEST_EQ(filled[0].address, AT + BYTES);
		TEST_EQ(filled[1].address, AT - 64);
		for (int i = 0; i < 2; i++) {
			TEST_EQ(filled[i].bytes, 64);
			TEST_EQ(filled[i].device, 1);
			TEST_TRUE(filled[i].stream == (void *)3);
		}
		TEST_TRUE(!wanted());
	}
}

/* Where the thread's device cannot be had by then, the fill's stays. */
static void check_without_device(void)
{
	device = 4;
	TEST_TRUE(add(TFS_HELD_BACK, AT, BYTES));
	no_device = 1;
	TEST_EQ(settle(1), 1);
	no_device = 0;
	TEST_EQ(filled[0].device, 1);
	TEST_EQ(device, 1);
}

/* One that a call is to make needless is carried out as well, once, and waits to be cleared. */
static void check_taken(void)
{
	TEST_TRUE(add(TFS_HELD_TAKEN, AT, BYTES));
	TEST_EQ(settle(1), 1);
	TEST_EQ(settle(0), 0);
	TEST_TRUE(!wanted());
	struct tfs_held *all = tfs_held_open();
	unsigned late = 0;
	for (unsigned i = 0; i < TFS_HELD_MOST; i++)
		if (all[i].state == TFS_HELD_LATE) {
			late++;
			all[i].state = TFS_HELD_NONE;
		}
	tfs_held_close();
	TEST_EQ(late, 1);
}

static bool back(uint64_t address, uint64_t bytes)
{
	return tfs_held_back((void *)(uintptr_t)address, bytes);
}

static void check_back(void)
{
	TEST_TRUE(!back(AT, BYTES));
	TEST_TRUE(add(TFS_HELD_DONE, AT - 64, 64));
	TEST_TRUE(add(TFS_HELD_BACK, AT, BYTES));
	TEST_TRUE(back(AT, BYTES) && back(AT - 64, 65) && back(AT + BYTES - 1, 64));
	TEST_TRUE(!back(AT - 64, 64) && !back(AT + BYTES, 64));
	TEST_EQ(settle(1), 2);
	TEST_TRUE(!back(AT, BYTES));
	TEST_TRUE(add(TFS_HELD_TAKEN, AT, BYTES));
	TEST_TRUE(back(AT, 1));
	TEST_EQ(settle(1), 1);
}

static void check_device(void)
{
	device = 4;
	TEST_EQ(tfs_held_device(), 4);
	no_device = 1;
	TEST_EQ(tfs_held_device(), UINT32_MAX);
	no_device = 0;
}

int main(void)
{
	tfs_direct_known[TFS_DIRECT_cudaGetDevice] = (void *)get_device;
	tfs_direct_known[TFS_DIRECT_cudaSetDevice] = (void *)set_device;
	check_apart();
	check_carried();
	check_without_device();
	check_taken();
	check_back();
	check_device();
	return test_result();
}
