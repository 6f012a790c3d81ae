/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when they copy to the device from pageable memory: when the source is
 * read, what has arrived when the call returns, and that it returns. One case each; every round is
 * a step, so that rewrites are measured, and windows come, as they do by default.
 */
#include <string.h>

#include "shim/tfshim.h"
#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_case.h"
#include "tests/rewrites/rewrite_hang.h"

#define MIB ((size_t)1 << 20)
#define KIB ((size_t)1 << 10)
#define ROUNDS 20

/* What a program compiled for per-thread default streams calls. */
cudaError_t cudaMemcpy_ptds(void *, const void *, size_t, enum cudaMemcpyKind);

static char *device, *host, *back;
static cudaStream_t stream; /* non-blocking */

static void make(size_t bytes)
{
	host = malloc(bytes);
	OK(cudaMalloc((void **)&device, bytes));
	OK(cudaMallocHost((void **)&back, bytes));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	OK(cudaMemset(device, 0, bytes));
	OK(cudaDeviceSynchronize());
}

struct fill {
	size_t bytes;
	int value;
};

static void fill_source(void *data)
{
	const struct fill *fill = data;
	atomic_bool mark;

	mark_dawdle(&mark);
	memset(host, fill->value, fill->bytes);
}

/* The host function is put on `on`, for which `copy` waits before it reads. */
static void filled_on(cudaStream_t on, __typeof__(cudaMemcpy_ptds) *copy, size_t bytes)
{
	static struct fill fill;

	for (int i = 1; i <= 6; i++) {
		TFSHIM_STEP();
		memset(host, 0x55, bytes);
		fill = (struct fill){bytes, i};
		OK(cudaLaunchHostFunc(on, fill_source, &fill));
		OK(copy(device, host, bytes, cudaMemcpyHostToDevice));
		OK(cudaDeviceSynchronize());
		OK(cudaMemcpy(back, device, bytes, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, i, bytes), 0);
	}
}

static void filled(void)
{
	cudaStream_t blocking;

	make(3 * MIB);
	OK(cudaStreamCreate(&blocking));
	for (int large = 0; large < 2; large++) {
		const size_t bytes = large ? 3 * MIB : 300 * KIB;

		filled_on(cudaStreamLegacy, cudaMemcpy, bytes);
		filled_on(blocking, cudaMemcpy, bytes);
		filled_on(cudaStreamPerThread, cudaMemcpy_ptds, bytes);
	}
}

/* Without a wait, which would hurry the device. */
static void look(cudaStream_t reader, size_t bytes)
{
	OK(cudaMemcpyAsync(back, device, bytes, cudaMemcpyDeviceToHost, reader));
	while (cudaStreamQuery(reader) == cudaErrorNotReady)
		sched_yield();
	cudaGetLastError();
}

/* Of what another stream reads right after a blocking copy, only the end may be late: what the
 * driver's own buffer holds. Returns how often it was. */
static unsigned read_after(__typeof__(cudaMemcpy_ptds) *copy, cudaStream_t reader, size_t bytes)
{
	const size_t sure = bytes > MIB ? bytes - MIB : 0;
	unsigned late = 0;

	for (int i = 1; i <= ROUNDS; i++) {
		TFSHIM_STEP();
		memset(host, i, bytes);
		OK(copy(device, host, bytes, cudaMemcpyHostToDevice));
		look(reader, bytes);
		TEST_EQ(wrong_bytes(back, i, sure), 0);
		late += wrong_bytes(back + sure, i, bytes - sure) != 0;
		OK(cudaDeviceSynchronize());
	}
	return late;
}

static void stale(__typeof__(cudaMemcpy_ptds) *copy, bool thread_reads, size_t bytes)
{
	make(bytes);
	printf("late ends: %u of %d\n",
		read_after(copy, thread_reads ? cudaStreamPerThread : stream, bytes), ROUNDS);
}

static void stale_short(void)
{
	stale(cudaMemcpy, false, 300 * KIB);
}

static void stale_middle(void)
{
	stale(cudaMemcpy, false, 4 * MIB);
}

static void stale_long(void)
{
	stale(cudaMemcpy, false, 20 * MIB);
}

static void stale_per_thread(void)
{
	stale(cudaMemcpy_ptds, false, 4 * MIB);
}

static void stale_thread_reads(void)
{
	stale(cudaMemcpy, true, 4 * MIB);
}

/* Copies of `bytes` behind a gate that opens only after all of them were asked for. */
static void copy_behind_gate(cudaStream_t on, size_t bytes, int count)
{
	struct gate gate;

	TFSHIM_STEP();
	gate_close(&gate, on);
	for (int i = 0; i < count; i++) {
		memset(host, i + 1, bytes);
		OK(cudaMemcpyAsync(
			device + (size_t)i * bytes, host, bytes, cudaMemcpyHostToDevice, on));
		memset(host, 0x55, bytes);
	}
	TEST_TRUE(!atomic_load(&gate.passed));
	gate_open(&gate);
	OK(cudaStreamSynchronize(on));
	for (int i = 0; i < count; i++) {
		OK(cudaMemcpy(back, device + (size_t)i * bytes, bytes, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, i + 1, bytes), 0);
	}
}

static void gated(void)
{
	make(20 * MIB);
	for (int i = 0; i < 8; i++) {
		copy_behind_gate(stream, 256 * KIB, 40);
		copy_behind_gate(stream, MIB, 20);
		copy_behind_gate(cudaStreamLegacy, 256 * KIB, 40);
		copy_behind_gate(cudaStreamPerThread, 256 * KIB, 40);
	}
	TFSHIM_STEP_END();
	MUST_END_IN(60);
}

/* Where the driver takes longer ones without waiting as well. */
static void gated_long(void)
{
	make(60 * MIB);
	for (int i = 0; i < 8; i++)
		copy_behind_gate(stream, 3 * MIB, 20);
	TFSHIM_STEP_END();
	MUST_END_IN(60);
}

/* One stream waits behind a gate with all that it was given; another thread's copies, and this
 * one's on other streams, go on. */
static void beside_gate(void)
{
	cudaStream_t held;
	struct gate gate;

	make(20 * MIB);
	OK(cudaStreamCreateWithFlags(&held, cudaStreamNonBlocking));
	gate_close(&gate, held);
	for (int i = 0; i < 20; i++)
		OK(cudaMemcpyAsync(device, host, MIB, cudaMemcpyHostToDevice, held));
	for (int i = 1; i <= ROUNDS; i++) {
		TFSHIM_STEP();
		memset(host, i, 3 * MIB);
		OK(cudaMemcpyAsync(
			device + 8 * MIB, host, 3 * MIB, cudaMemcpyHostToDevice, stream));
		OK(cudaMemcpyAsync(
			back, device + 8 * MIB, 3 * MIB, cudaMemcpyDeviceToHost, stream));
		OK(cudaStreamSynchronize(stream));
		TEST_EQ(wrong_bytes(back, i, 3 * MIB), 0);
		OK(cudaMemcpy_ptds(device + 16 * MIB, host, 3 * MIB, cudaMemcpyHostToDevice));
	}
	TEST_TRUE(!atomic_load(&gate.passed));
	gate_open(&gate);
	OK(cudaStreamSynchronize(held));
}

/* More of them than anyone keeps a table for. Of the 16 copies between two waits at least 8 are
 * staged, as many as a ring has chunks, however long the device's threads wait for a core. */
static void many_streams(void)
{
	enum { STREAMS = 4200, EACH = 72 };
	static cudaStream_t streams[STREAMS];

	make((size_t)STREAMS * EACH * KIB);
	for (int i = 0; i < STREAMS; i++) {
		if (i % 16 == 0) {
			OK(cudaDeviceSynchronize());
			TFSHIM_STEP();
		}
		OK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
		memset(host, i % 251, EACH * KIB);
		OK(cudaMemcpyAsync(device + (size_t)i * EACH * KIB, host, EACH * KIB,
			cudaMemcpyHostToDevice, streams[i]));
		memset(host, 0xff, EACH * KIB);
	}
	OK(cudaDeviceSynchronize());
	OK(cudaMemcpy(back, device, (size_t)STREAMS * EACH * KIB, cudaMemcpyDeviceToHost));
	for (int i = 0; i < STREAMS; i++) {
		TEST_EQ(wrong_bytes(back + (size_t)i * EACH * KIB, i % 251, EACH * KIB), 0);
		OK(cudaStreamDestroy(streams[i]));
	}
	printf("streams: %d\n", STREAMS);
}

static void write_pattern(char *memory, size_t bytes, unsigned salt)
{
	for (size_t i = 0; i < bytes; i++)
		memory[i] = (char)(i * 7 + i / 4099 + salt);
}

static size_t differing(const char *memory, size_t bytes, unsigned salt)
{
	size_t wrong = 0;

	for (size_t i = 0; i < bytes; i++)
		wrong += memory[i] != (char)(i * 7 + i / 4099 + salt);
	return wrong;
}

/* There and back, with a byte before and behind that nobody may touch. */
static void copy_exactly(size_t bytes, size_t offset, bool async, unsigned salt)
{
	char *target = back + offset;

	TFSHIM_STEP();
	write_pattern(host + offset, bytes, salt);
	OK(cudaMemset(device, 0x33, bytes + 64));
	if (async)
		OK(cudaMemcpyAsync(device + 1, host + offset, bytes, cudaMemcpyHostToDevice,
			cudaStreamLegacy));
	else
		OK(cudaMemcpy(device + 1, host + offset, bytes, cudaMemcpyHostToDevice));
	memset(host + offset, 0x44, bytes);
	memset(target - 1, 0x22, bytes + 2);
	OK(cudaMemcpy(target, device + 1, bytes, cudaMemcpyDeviceToHost));
	TEST_EQ(differing(target, bytes, salt), 0);
	TEST_EQ(target[-1] == 0x22 && target[bytes] == 0x22, 1);
	OK(cudaMemcpy(target, device, bytes + 2, cudaMemcpyDeviceToHost));
	TEST_EQ(target[0] == 0x33 && target[bytes + 1] == 0x33, 1);
}

static void edges(void)
{
	static const size_t parts[] = {
		64 * KIB, 256 * KIB, 512 * KIB, MIB, 2 * MIB, 4 * MIB, 16 * MIB, 18 * MIB};
	unsigned salt = 0;

	make(20 * MIB);
	/* Neither end is pinned here. */
	back = malloc(20 * MIB);
	for (int i = 0; i < 8; i++)
		for (int more = -1; more <= 1; more++, salt++)
			copy_exactly(parts[i] + (size_t)(ptrdiff_t)more, 1 + salt % 63,
				salt % 2 == 0, salt);
	printf("sizes: %u\n", salt);
}

static const struct rewrite_case cases[] = {
	{"filled", filled},
	{"stale-short", stale_short},
	{"stale-middle", stale_middle},
	{"stale-long", stale_long},
	{"stale-per-thread", stale_per_thread},
	{"stale-thread-reads", stale_thread_reads},
	{"gated", gated},
	{"gated-long", gated_long},
	{"beside-gate", beside_gate},
	{"many-streams", many_streams},
	{"edges", edges},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	MUST_END_IN(60);
	const int result = rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	return result != 0 ? result : test_result();
}
