/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_MLP_CPU_H
#define TFS_TESTS_TRAINERS_MLP_CPU_H

/*
 * CPU versions of the kernels of mlp.cu, so that the simulated GPU computes what they compute; and
 * other names for the kernels, to show that nothing depends on what they are called.
 */

#ifdef MLP_RENAMED
#define bias_add first
#define relu second
#define clip third
#define scale fourth
#define hidden_back fifth
#define softmax_loss sixth
#define fill seventh
#define sgd eighth
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* Hands them to the simulated GPU; on a real one, does nothing. Call it before any launch. */
void mlp_cpu_register(void);

#ifdef __cplusplus
}
#endif

#endif
