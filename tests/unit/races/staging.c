/* SPDX-License-Identifier: MIT */
/*
 * Many threads copy through the rings of pinned-staging, with threads that help them, on a made-up
 * device that does one thing after the other in a thread of its own, while it is reset now and
 * then. Source and target are looked at, and used again, as soon as a program may.
 */
#include <cuda_runtime_api.h>
#include <pthread.h>

#include "shim/resolve/lookup.h"
#include "shim/rewrites/pinned_staging/pinned_staging_move.h"
#include "shim/rewrites/pinned_staging/pinned_staging_pieces.h"
#include "shim/rewrites/pinned_staging/pinned_staging_rates.h"
#include "shim/rewrites/rewrite_ledger.h"
#include "shim/state/memory.h"
#include "tests/unit/races/made_up_device.h"
#include "tests/unit/trace/recording.h"

#define THREADS 4u
#define ROUNDS 3u
#define AREAS 6u
#define AREA_BYTES (UINT64_C(3) << 20)
#define LEAST_BYTES (UINT64_C(1) << 20)
#define COPIES (THREADS * ROUNDS * AREAS * 2)
#define RESETS 3u

extern const struct tfs_rewrite tfs_rewrite_pinned_staging;

static char *memory; /* of the device: an area for each thread */
static atomic_uint copies;
static _Thread_local double extra_ns;

double __real_tfs_staging_now(void);
double __wrap_tfs_staging_now(void);
void *__wrap_tfs_lookup_named(enum tfs_library library, const char *name);
bool __wrap_tfs_lookup_object(const void *address, struct tfs_object *out_object);

/* The program's own copies take ten seconds: staging is always faster. */
double __wrap_tfs_staging_now(void)
{
	const double now_ns = __real_tfs_staging_now() + extra_ns;

	extra_ns = 0;
	return now_ns;
}

void *__wrap_tfs_lookup_named(enum tfs_library library, const char *name)
{
	return library == TFS_LIBRARY_cudart ? made_up_function(name) : NULL;
}

bool __wrap_tfs_lookup_object(const void *address, struct tfs_object *out_object)
{
	*out_object = (struct tfs_object){.start = 1};
	return address != NULL;
}

static int pageable(void *target, const void *source, size_t bytes, int kind)
{
	extra_ns = 1e10;
	return made_up_copy(target, source, bytes, kind);
}

static int pageable_on(void *target, const void *source, size_t bytes, int kind, void *stream)
{
	(void)stream;
	return pageable(target, source, bytes, kind);
}

/* As a hook does. */
static void copy(void *target, const void *source, size_t bytes, int kind, bool async)
{
	struct tfs_op op = {
		.kind = TFS_OP_COPY,
		.copy = {target, source, bytes, kind, async,
			async ? (const void *)pageable_on : (const void *)pageable},
	};

	extra_ns = 0;
	if (tfs_rewrite_pinned_staging.before(&op) != TFS_DONE)
		op.status = (uint32_t)pageable(target, source, bytes, kind);
	TEST_EQ(op.status, 0);
	atomic_fetch_add(&copies, 1);
}

/* More on their way at a time than there are chunks for. */
static void send(char *device, char *own, unsigned *seed, size_t *out_bytes, int value)
{
	for (uint32_t i = 0; i < AREAS; i++) {
		out_bytes[i] = LEAST_BYTES + (size_t)rand_r(seed) % (AREA_BYTES - LEAST_BYTES);
		memset(own, value + (int)i, out_bytes[i]);
		copy(device + i * AREA_BYTES, own, out_bytes[i], cudaMemcpyHostToDevice, i > 0);
		/* It is the program's again. */
		memset(own, 0x55, out_bytes[i]);
	}
}

static void *copy_all(void *argument)
{
	const uintptr_t number = (uintptr_t)argument;
	char *own = malloc(AREA_BYTES), *back = malloc(AREA_BYTES);
	char *device = memory + number * AREAS * AREA_BYTES;
	unsigned seed = (unsigned)number;
	size_t bytes[AREAS];

	TEST_NEED(own && back && tfs_recorder_named_thread("program"));
	for (uint32_t round = 0; round < ROUNDS; round++) {
		const int value = (int)(round * AREAS + number + 1);

		send(device, own, &seed, bytes, value);
		for (uint32_t i = 0; i < AREAS; i++) {
			copy(back, device + i * AREA_BYTES, bytes[i], cudaMemcpyDeviceToHost,
				false);
			memset(own, value + (int)i, bytes[i]);
			TEST_EQ(memcmp(own, back, bytes[i]), 0);
		}
	}
	free(own);
	free(back);
	return NULL;
}

static void *reset(void *nothing)
{
	for (uint32_t i = 1; i <= RESETS; i++) {
		while (atomic_load(&copies) < i * COPIES / (RESETS + 1))
			usleep(1000);
		tfs_rewrite_pinned_staging.event(&(struct tfs_op){.kind = TFS_OP_RESET});
	}
	return nothing;
}

static void start(void)
{
	uint32_t i = 0;

	tfs_options.staging_threads = 3;
	tfs_options.staging_cores = 0;
	tfs_options.staging_limit_bytes = UINT64_C(96) << 20;
	tfs_options.quiet = true;
	recording_start();
	while (tfs_rewrite_all[i] != &tfs_rewrite_pinned_staging)
		i++;
	tfs_ledger_start(i);
	tfs_rewrite_mode_of[i] = TFS_MODE_APPLY;
	memory = made_up_start(THREADS * AREAS * AREA_BYTES);
	const struct tfs_range range = {.address = (uint64_t)(uintptr_t)memory,
		.bytes = THREADS * AREAS * AREA_BYTES,
		.kind = TFS_MEMORY_DEVICE};
	tfs_memory_add(&range);
}

int main(void)
{
	pthread_t threads[THREADS], resetter;

	start();
	TEST_TRUE(tfs_lookup_opens_driver("libcuda.so.1"));
	tfs_lookup_called(TFS_LIBRARY_cuda);
	if (!tfs_staging_pieces_can())
		return test_skip("the kernel does not copy for us");
	for (uintptr_t i = 0; i < THREADS; i++)
		TEST_NEED(pthread_create(&threads[i], NULL, copy_all, (void *)i) == 0);
	TEST_NEED(pthread_create(&resetter, NULL, reset, NULL) == 0);
	for (uint32_t i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	pthread_join(resetter, NULL);
	const unsigned long done = made_up_end();

	uint32_t self = 0;
	while (tfs_rewrite_all[self] != &tfs_rewrite_pinned_staging)
		self++;
	const uint64_t staged = tfs_rewrite_applied(self);
	TEST_TRUE(staged > COPIES / 8);
	TEST_EQ(tfs_staging_pieces_threads(), 3);
	printf("%u copies of %u threads, %llu of them staged; the device did %lu things\n", copies,
		THREADS, (unsigned long long)staged, done);
	recording_end(recording_read());
	return test_result();
}
