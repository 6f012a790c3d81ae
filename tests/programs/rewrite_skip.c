/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when bytes are sent again that may be on the device already, one case
 * each. They hold with and without tfshim, and fail when a copy is left out by what was sent there
 * before: the script has it do so.
 */
#include <cublas_v2.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tests/programs/rewrite_case.h"
#include "tests/programs/sim_gate.h"

#define BYTES (((size_t)2 << 20) + 12)
#define FLOATS (BYTES / sizeof(float))
#define SAME 20 /* copies after which a rewrite has seen enough */
#define ROUNDS 40
#define STRIDE ((size_t)65536)

static char *source, *device, *back;

static uint32_t any(void)
{
	static uint64_t state = 88172645463325252u;

	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)(state >> 32);
}

static void send(void)
{
	OK(cudaMemcpy(device, source, BYTES, cudaMemcpyHostToDevice));
}

static void check(void)
{
	OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
	TEST_EQ(memcmp(back, source, BYTES), 0);
}

static void same(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		send();
		if (i % 4 == 0)
			check();
	}
}

/* Counterexample 10: the device doubles what was sent, then the same bytes are sent again. */
static void doubled(void)
{
	const float two = 2;
	cublasHandle_t handle;

	TEST_EQ(cublasCreate(&handle), CUBLAS_STATUS_SUCCESS);
	for (int i = 0; i < ROUNDS; i++) {
		send();
		check();
		if (i < SAME)
			continue;
		TEST_EQ(cublasSscal(handle, (int)FLOATS, &two, (float *)device, 1),
			CUBLAS_STATUS_SUCCESS);
		OK(cudaMemcpy(back, device, BYTES, cudaMemcpyDeviceToHost));
		TEST_TRUE(memcmp(back, source, BYTES) != 0);
	}
}

/* One byte of the source is another; two words of it change places. */
static void source_changes(void)
{
	uint64_t one, other;

	for (int i = 0; i < 4 * ROUNDS; i++) {
		if (i > SAME && i % 3 == 0)
			source[any() % BYTES] ^= (char)(1u << any() % 8);
		if (i > SAME && i % 7 == 0) {
			char *at = source + any() % (BYTES / 8 - 1) * 8;
			char *to = source + any() % (BYTES / 8 - 1) * 8;

			memcpy(&one, at, 8);
			memcpy(&other, to, 8);
			memcpy(at, &other, 8);
			memcpy(to, &one, 8);
		}
		send();
		check();
	}
}

/* One byte of the destination is another, anywhere, also in the last ones. */
static void target_changes(void)
{
	for (int i = 0; i < 4 * ROUNDS; i++) {
		const size_t at = i % 6 == 0 ? BYTES - 1 - any() % 12 : any() % BYTES;

		if (i > SAME && i % 3 == 0)
			OK(cudaMemset(device + at, (unsigned char)~source[at], 1));
		send();
		check();
	}
}

/* What a host function writes before the copy, the copy sends. */
static void write_late(void *value)
{
	atomic_bool passed;

	mark_dawdle(&passed);
	memset(source, (int)(intptr_t)value, BYTES);
}

static void host_function(void)
{
	for (int i = 0; i < SAME + 8; i++) {
		if (i >= SAME)
			OK(cudaLaunchHostFunc(NULL, write_late, (void *)(intptr_t)i));
		send();
		check();
	}
}

/* Another stream, which the legacy one waits for, writes the destination just before. */
static void blocking_stream(void)
{
	static atomic_bool mark;
	cudaStream_t other;

	OK(cudaStreamCreate(&other));
	for (int i = 0; i < ROUNDS; i++) {
		if (i >= SAME) {
			mark_put(&mark, other);
			OK(cudaMemsetAsync(device + any() % (BYTES / 2), i, 4096, other));
		}
		send();
		check();
	}
}

/* Each thread has its own, and some of them change. */
static void *work(void *number)
{
	char *own, *host = malloc(BYTES), *got = malloc(BYTES);
	const size_t turn = (size_t)(intptr_t)number;

	memset(host, (int)turn, BYTES);
	OK(cudaMalloc((void **)&own, BYTES));
	for (size_t i = 0; i < 3 * ROUNDS; i++) {
		if (i > 2 * ROUNDS && i % (turn + 2) == 0)
			host[i * 4099 % BYTES] ^= 4;
		if (i > 2 * ROUNDS && i % (turn + 3) == 0)
			OK(cudaMemset(own + i * 12289 % BYTES, 1, 1));
		OK(cudaMemcpy(own, host, BYTES, cudaMemcpyHostToDevice));
		OK(cudaMemcpy(got, own, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(memcmp(got, host, BYTES), 0);
	}
	free(host);
	free(got);
	return NULL;
}

static void threads(void)
{
	rewrite_case_threads(work);
}

/* Another thread counts in the source meanwhile: what arrives was there during the call. */
static atomic_int stop;

static void *count_up(void *nothing)
{
	static uint64_t count;

	while (!atomic_load(&stop)) {
		const struct timespec pause = {.tv_nsec = any() % 4000000};
		const size_t k = any() % (BYTES / STRIDE);

		count++;
		__atomic_store_n(
			(uint64_t *)(void *)(source + k * STRIDE), count, __ATOMIC_RELEASE);
		nanosleep(&pause, NULL);
	}
	return nothing;
}

static uint64_t count_at(size_t k)
{
	return __atomic_load_n((uint64_t *)(void *)(source + k * STRIDE), __ATOMIC_ACQUIRE);
}

static void send_racing(char *target)
{
	uint64_t before[BYTES / STRIDE], got;

	for (size_t k = 0; k < BYTES / STRIDE; k++)
		before[k] = count_at(k);
	OK(cudaMemcpy(target, source, BYTES, cudaMemcpyHostToDevice));
	OK(cudaMemcpy(back, target, BYTES, cudaMemcpyDeviceToHost));
	for (size_t k = 0; k < BYTES / STRIDE; k++) {
		memcpy(&got, back + k * STRIDE, 8);
		TEST_IN(got, before[k], count_at(k));
	}
}

/* Now and then, to ever another place, so that it meets a rewrite that has seen enough. */
static void racing(void)
{
	const size_t apart = (BYTES + 4096) & ~(size_t)4095;
	pthread_t counter;
	char *area;

	OK(cudaMalloc((void **)&area, 24 * apart));
	for (size_t at = 0; at < BYTES - 8; at += STRIDE)
		memset(source + at, 0, 8);
	for (size_t place = 0; place < 24; place++) {
		atomic_store(&stop, 0);
		for (int i = 0; i < SAME; i++) {
			if (i == SAME / 2)
				TEST_EQ(pthread_create(&counter, NULL, count_up, NULL), 0);
			send_racing(area + place * apart);
		}
		atomic_store(&stop, 1);
		pthread_join(counter, NULL);
	}
}

static void reset(void)
{
	same();
	OK(cudaDeviceReset());
	OK(cudaMalloc((void **)&device, BYTES));
	same();
}

static void forks(void)
{
	int status = 1;

	same();
	const pid_t child = fork();
	if (child == 0)
		_exit(0);
	TEST_EQ(waitpid(child, &status, 0), child);
	TEST_EQ(status, 0);
	same();
}

/* Lengths with and without a rest of a word, and of a block. */
static void sizes(void)
{
	static const size_t lengths[] = {1048576, 1048577, 1048583, 1052672, 1052679, 2097149};

	for (size_t k = 0; k < sizeof(lengths) / sizeof(lengths[0]); k++) {
		for (int i = 0; i < ROUNDS; i++) {
			if (i > SAME && i % 5 == 0)
				source[lengths[k] - 1] ^= 1;
			OK(cudaMemcpy(device, source, lengths[k], cudaMemcpyHostToDevice));
			OK(cudaMemcpy(back, device, lengths[k], cudaMemcpyDeviceToHost));
			TEST_EQ(memcmp(back, source, lengths[k]), 0);
		}
	}
}

/* Always something else. */
static void batches(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		memset(source, i, BYTES);
		send();
		check();
	}
}

static void once(void)
{
	for (int i = 0; i < 8; i++) {
		OK(cudaMalloc((void **)&device, BYTES));
		send();
		check();
	}
}

static const struct rewrite_case cases[] = {
	{"same", same},
	{"doubled", doubled},
	{"source-changes", source_changes},
	{"target-changes", target_changes},
	{"host-function", host_function},
	{"blocking-stream", blocking_stream},
	{"threads", threads},
	{"racing", racing},
	{"reset", reset},
	{"forks", forks},
	{"sizes", sizes},
	{"batches", batches},
	{"once", once},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(90);
	source = malloc(BYTES);
	back = malloc(BYTES);
	for (size_t i = 0; i < FLOATS; i++)
		((float *)(void *)source)[i] = (float)(i % 8191 + 1);
	OK(cudaMalloc((void **)&device, BYTES));
	const int result = rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	return result != 0 ? result : test_result();
}
