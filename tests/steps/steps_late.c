/* SPDX-License-Identifier: MIT */
/*
 * A training whose bad habits are of a part of the run: steps_late STEPS FIRST END. In the steps
 * from FIRST to before END it waits, and has memory come and go.
 */
#include "tests/rules/rule_long.h"

int main(int argc, char **argv)
{
	struct rule_long r;

	if (argc < 4)
		return 2;
	rule_long_init(&r);
	for (int step = 0; step < atoi(argv[1]); step++) {
		void *scratch = NULL;

		rule_long_step(&r);
		if (step < atoi(argv[2]) || step >= atoi(argv[3]))
			continue;
		NEED(cudaStreamSynchronize(r.stream));
		NEED(cudaMalloc(&scratch, LONG_FLOATS));
		NEED(cudaFree(scratch));
	}
	rule_long_finish(&r);
	return 0;
}
