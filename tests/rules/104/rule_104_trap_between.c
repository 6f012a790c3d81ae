/* SPDX-License-Identifier: MIT */
/* TFS104: between small copies the device is given other work, which uses what they bring. Whether
 * the host has the last piece when it copies the first is not seen. */
#define VARIANT TRAP
#include "tests/rules/rule_step.h"

enum { PIECES = 16, PIECE = OUTPUTS * BATCH / PIECES };

int main(void)
{
	const float one = 1;
	float *host[SLOTS], *device;
	cudaEvent_t copied[SLOTS];
	struct rule r;

	rule_init(&r);
	device = rule_alloc(OUTPUTS * BATCH);
	for (int i = 0; i < SLOTS; i++) {
		NEED(cudaMallocHost((void **)&host[i], OUTPUTS * BATCH * sizeof(float)));
		NEED(cudaEventCreateWithFlags(&copied[i], cudaEventDisableTiming));
	}
	for (unsigned step = 0; step < STEPS; step++) {
		const unsigned slot = step % SLOTS;

		rule_upload(&r, step);
		rule_forward(&r, step);
		NEED(cudaEventSynchronize(copied[slot]));
		for (int i = 0; i < PIECES; i++) {
			rule_fill(host[slot] + i * PIECE, PIECE, 1e-6f / (float)(1 + step % 5));
			/* Each takes 33.3 us, and one of all 82.4. */
			/* unsure: TFS104 x16 64KiB stream 13 0..520us */
			NEED(cudaMemcpyAsync(device + i * PIECE, host[slot] + i * PIECE,
				PIECE * sizeof(float), cudaMemcpyHostToDevice, r.stream));
			NEED(cublasSaxpy(r.blas, PIECE, &one, device + i * PIECE, 1,
				r.output + i * PIECE, 1));
		}
		NEED(cudaEventRecord(copied[slot], r.stream));
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
