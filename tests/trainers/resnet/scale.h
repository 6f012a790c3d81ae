/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_SCALE_H
#define TFS_TESTS_TRAINERS_RESNET_SCALE_H

/* Images of a step in two sizes on the device. */

#include "resnet.h"

struct scale {
	int side; /* of the large ones */
	cudnnTensorDescriptor_t small_t, large_t;
	cudnnPoolingDescriptor_t mean; /* of a large image's squares */
};

/* For so many images, large ones of `factor` times the side. */
void scale_init(struct scale *scale, unsigned images, int factor);
void scale_finish(struct scale *scale);

/* Each large pixel is an even share of the small one that it lies in. */
void scale_up(
	const struct scale *scale, const struct resnet *net, const float *small, float *large);
/* And each small one the mean of the large ones in it, `times`. */
void scale_down(const struct scale *scale, const struct resnet *net, const float *large,
	float times, float *small);

#endif
