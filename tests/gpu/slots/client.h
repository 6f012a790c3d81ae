/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_GPU_SLOTS_CLIENT_H
#define TFS_TESTS_GPU_SLOTS_CLIENT_H

/*
 * What the driver (driver.c) and the program (client.c) of the test of slots.c agree
 * on: the functions in its tables, and what is noted of a call.
 */

#include <stdint.h>

/* More than the registers hold of either kind. */
#define SUM_PARAMETERS                                                                             \
	int a, long b, int c, long d, int e, long f, int g, long h, double x, float y, double z

typedef double sum_fn(SUM_PARAMETERS);

/* Every register at the first instruction of the function that is called. */
struct registers {
	uint64_t general[16]; /* rax rcx rdx rbx rsp rbp rsi rdi r8 to r15 */
	uint64_t returns_to;
	unsigned char vector[16][32]; /* ymm0 to ymm15 */
};

/* Fills in what rdi points to. */
void slots_registers(struct registers *out_registers);

/* Calls the function with a value of its own in every register, rdi and rsp excepted. */
void slots_call(void (*function)(struct registers *), struct registers *registers);

#endif
