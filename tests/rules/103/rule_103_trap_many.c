/* SPDX-License-Identifier: MIT */
/* TFS103: a batch is copied by 25 calls, of which none takes a part that is told alone: the first
 * stands for all of them. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { PIECE = 160 << 10 };

/* Each is a call site of its own. */
#define COPY(n)                                                                                    \
	NEED(cudaMemcpyAsync(input + (n)*PIECE, host + (n)*PIECE, PIECE * sizeof(float),           \
		cudaMemcpyHostToDevice, r.stream));
#define COPIES(n) COPY(n) COPY((n) + 1) COPY((n) + 2) COPY((n) + 3) COPY((n) + 4)
#define COPY_ALL COPIES(0) COPIES(5) COPIES(10) COPIES(15) COPIES(20)

int main(void)
{
	struct rule_busy busy;
	float *input, *host;
	cudaEvent_t done[SLOTS];
	struct rule r;

	rule_init(&r);
	busy = rule_busy_init();
	input = rule_alloc((size_t)25 * PIECE);
	NEED(cudaMallocHost((void **)&host, (size_t)25 * PIECE * sizeof(float)));
	memset(host, 0, (size_t)25 * PIECE * sizeof(float));
	for (int i = 0; i < SLOTS; i++)
		NEED(cudaEventCreateWithFlags(&done[i], cudaEventDisableTiming));
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaEventSynchronize(done[step % SLOTS]));
		for (int i = 0; i < 25; i++)
			host[i * PIECE] = (float)step;
		/* The device computes for 8.4 ms, which is less than the copies take. */
		/* expect: TFS103 x25 16000KiB stream 13 7.1..9.1ms */
		COPY_ALL
		r.input[step % SLOTS] = input;
		rule_forward(&r, step);
		rule_keep_busy(&r, &busy);
		rule_backward(&r, step, 0);
		rule_update(&r);
		NEED(cudaEventRecord(done[step % SLOTS], r.stream));
	}
	rule_finish(&r);
	return 0;
}
