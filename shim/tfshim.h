/* SPDX-License-Identifier: MIT */
#ifndef TFSHIM_H
#define TFSHIM_H

/*
 * For programs that want to tell tfshim where their training steps begin. Without this it finds
 * them by NVTX ranges or by the program's loops, which works for most programs; a step that is
 * spread over callbacks or threads may need it.
 *
 *	#include <tfshim.h>
 *
 *	for (int i = 0; i < steps; i++) {
 *		TFSHIM_STEP();
 *		train(batch[i]);
 *	}
 *	TFSHIM_STEP_END();
 *	evaluate();
 *
 * Nothing is linked: the symbols are weak, and both macros do nothing unless the program runs
 * under tfshim. A step ends where the next one begins. The first thread that marks a step is the
 * one whose marks count.
 */

#ifdef __cplusplus
extern "C" {
#endif

/* A training step begins here. */
__attribute__((weak)) void tfshim_step(void);

/* The last step is over; what follows, up to the next step, is not training. */
__attribute__((weak)) void tfshim_step_end(void);

/*
 * One tool at a time can have CUPTI. 0 gives it back: when this returns, another profiler can take
 * it, for some steps perhaps. 1 takes it again, if it is free. Returns whether tfshim has it now.
 * (A profiler that just takes it is given way to as well, but then tfshim stays away.)
 */
__attribute__((weak)) int tfshim_cupti(int on);

#ifdef __cplusplus
}
#endif

#define TFSHIM_CUPTI(on) (tfshim_cupti ? tfshim_cupti(on) : 0)
#define TFSHIM_STEP() (tfshim_step ? tfshim_step() : (void)0)
#define TFSHIM_STEP_END() (tfshim_step_end ? tfshim_step_end() : (void)0)

#endif
