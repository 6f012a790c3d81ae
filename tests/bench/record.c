/* SPDX-License-Identifier: MIT */
/*
 * What recording a call costs, part by part: medians of interleaved rounds, in nanoseconds. Each
 * row has the parts of those above it, but for the last two, whose items are looked up.
 */
#define TFS_HOT_HOOKS
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "shim/base/clock.h"
#include "shim/base/env.h"
#include "shim/hooks/notes.h"
#include "shim/record/hook.h"

#define ROUNDS 101
#define CALLS 1000
#define ARGUMENTS 6

enum kind { DIRECT, CLOCK, TOTALS, SHORT, ITEMS, COPY, LAUNCH, KINDS };
static const char *const names[KINDS] = {
	"the call alone",
	"+ two readings of the clock",
	"+ call site and totals: outside windows",
	"+ a record of 32 bytes",
	"+ two items: 64 bytes",
	"a copy between known ranges: 64 bytes",
	"a launch with six known pointers: 160 bytes",
};
static double results[KINDS][ROUNDS];
static struct tfs_function function = {.name = "cudaMalloc", .id = 1};
static struct tfs_kernel kernel = {.name = 1, .parameters = ARGUMENTS};
static char *pointers[ARGUMENTS];
static void *arguments[ARGUMENTS];

static __attribute__((noinline)) int real(const void *address, size_t bytes)
{
	__asm__ volatile("" : : "r"(address), "r"(bytes) : "memory");
	return 0;
}

static __attribute__((noinline)) int clocked(const void *address, size_t bytes)
{
	const uint64_t start = tfs_clock_ticks();
	const int status = real(address, bytes);
	const uint64_t ticks = tfs_clock_ticks() - start;

	__asm__ volatile("" : : "r"(ticks));
	return status;
}

static void note(struct tfs_frame *frame, enum kind kind, const void *address, size_t bytes)
{
	struct tfs_details details;

	if (kind == COPY) {
		tfs_note_copy(frame, address, pointers[1], bytes, 1, 1);
	} else if (kind == LAUNCH) {
		tfs_note_flat(frame, &kernel, 1, arguments, 0, 1);
	} else {
		tfs_details_init(&details, 1);
		if (kind == ITEMS) {
			tfs_put_operand(&details, address, bytes, TFS_ROLE_WRITE);
			tfs_put_attribute(&details, TFS_ATTRIBUTE_value, bytes);
		}
		tfs_hook_details(frame, &details);
	}
}

static __attribute__((noinline)) int hooked(const void *address, size_t bytes, enum kind kind)
{
	struct tfs_frame frame = tfs_hook_enter(&function, (uint64_t)__builtin_return_address(0),
		(uint64_t)__builtin_dwarf_cfa(), false);
	const int status = real(address, bytes);

	if (TFS_END(&frame, status, bytes))
		note(&frame, kind, address, bytes);
	return TFS_LEAVE(&frame), status;
}

static __attribute__((noinline)) double measure(enum kind kind)
{
	const uint64_t start = tfs_clock_ns(CLOCK_MONOTONIC);
	int sum = 0;

	__atomic_store_n(&tfs_wanted, kind > TOTALS ? TFS_WANT_RECORD : 0, __ATOMIC_RELAXED);
	for (unsigned i = 0; i < CALLS; i++) {
		char *address = pointers[0] + i % 64;

		sum += kind == DIRECT  ? real(address, i)
		       : kind == CLOCK ? clocked(address, i)
				       : hooked(address, i, kind);
	}
	return (double)(tfs_clock_ns(CLOCK_MONOTONIC) - start + (uint64_t)sum) / CALLS;
}

static int ascending(const void *one, const void *other)
{
	const double a = *(const double *)one, b = *(const double *)other;

	return (a > b) - (a < b);
}

static bool start(const char *folder)
{
	static char pattern[64];

	snprintf(pattern, sizeof(pattern), "%s/x", folder);
	setenv("TFSHIM_OUTPUT", pattern, 1);
	tfs_env_read();
	tfs_options.unwind = 0; /* nobody loads the unwinder */
	tfs_clock_init();
	if (tfs_recorder_begin() != 0)
		return false;
	tfs_recorder_create();
	tfs_self.active = tfs_recorder_named_thread("bench");
	for (uint32_t i = 0; i < ARGUMENTS; i++) {
		pointers[i] = (char *)(uintptr_t)(0x7000000 + i * 0x10000);
		arguments[i] = &pointers[i];
		kernel.sizes[i] = sizeof(pointers[i]);
		tfs_memory_add(&(struct tfs_range){.address = (uint64_t)(uintptr_t)pointers[i],
			.bytes = 4096,
			.kind = TFS_MEMORY_DEVICE});
	}
	return tfs_self.active != NULL;
}

int main(void)
{
	char folder[] = "/tmp/tfshim-bench-XXXXXX";

	if (!mkdtemp(folder) || !start(folder))
		return 77;
	for (int round = 0; round < ROUNDS; round++) {
		tfs_recorder_write();
		for (int kind = 0; kind < KINDS; kind++) {
			measure(kind); /* its call site becomes known, its memory warm */
			results[kind][round] = measure(kind);
		}
	}
	for (int kind = 0; kind < KINDS; kind++) {
		qsort(results[kind], ROUNDS, sizeof(double), ascending);
		printf("%6.1f ns (tenth: %6.1f)  %s\n", results[kind][ROUNDS / 2],
			results[kind][ROUNDS / 10], names[kind]);
	}
	unlink(tfs_recording.path);
	return rmdir(folder) != 0;
}
