/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_TRAINERS_RESNET_RESNET_H
#define TFS_TESTS_TRAINERS_RESNET_RESNET_H

/*
 * What the residual trainers share: shapes, library handles, descriptors, weights and the buffers
 * that live as long as the program. A 3x3 convolution; three stages of three blocks, each batch
 * norm, ReLU, 3x3 convolution, twice, half of which is added to what came in; batch norm, ReLU, the
 * mean of each plane, a dense layer. Planes of 16, 8 and 4, of 8, 8 and 16 maps; where planes
 * shrink, what comes in goes through a 1x1 convolution: 22 layers with weights. How a step is
 * computed is each trainer's own business. Every failure ends the program with a message.
 */

#include <cublas_v2.h>
#include <cuda_runtime_api.h>
#include <cudnn.h>

#include "images.h"
#include "settings.h"

enum {
	RESNET_STAGES = 3,
	RESNET_BLOCKS = 9,
	RESNET_MAPS = 16,      /* of the last stage */
	RESNET_LAST_SIDE = 4,  /* of its planes */
	RESNET_IMAGES = 12,    /* in a pass, forward and backward; an update is for several */
	RESNET_TRAINING = 480, /* images */
	RESNET_VALIDATION = 96,
	RESNET_PARAMETERS = 4 * 21 + 1,
	RESNET_NONE = RESNET_PARAMETERS,
};

/* What is added of a block's second convolution. */
#define RESNET_BRANCH 0.5f
#define RESNET_RATE 0.2f
#define RESNET_EPSILON 1e-5
#define RESNET_AVERAGE 0.1 /* of a batch's statistics, in the running ones */

struct conv_layer {
	int inputs, maps, side; /* of what goes in */
	int kernel, stride;
	cudnnTensorDescriptor_t x_t, y_t, bias_t;
	cudnnFilterDescriptor_t w_t;
	cudnnConvolutionDescriptor_t conv;
	unsigned weight, bias; /* parameters; the bias may be RESNET_NONE */
	cudnnConvolutionFwdAlgo_t forward;
	cudnnConvolutionBwdDataAlgo_t data;
	cudnnConvolutionBwdFilterAlgo_t filter;
};

struct norm_layer {
	cudnnTensorDescriptor_t x_t, maps_t;
	unsigned scale, shift;  /* parameters */
	float *mean, *variance; /* running */
	float *saved_mean, *saved_inverse;
};

struct block {
	struct norm_layer norm1, norm2;
	struct conv_layer conv1, conv2, shortcut;
	bool shrinks; /* has a shortcut with weights */
	size_t in_floats, out_floats;
	float *x;                 /* what comes in */
	float *act1, *mid, *act2; /* behind ReLU, convolution, ReLU */
	float *branch;            /* behind the second convolution; only who wants it has it */
	float *d_act1, *d_mid, *d_act2, *d_x; /* gradients */
};

struct resnet {
	cudaStream_t stream;
	cudnnHandle_t dnn;
	cublasHandle_t blas;
	cudnnActivationDescriptor_t relu, identity;
	float *no_bias; /* zeros, for a call that wants a bias, or NULL: there is one everywhere */
	cudnnPoolingDescriptor_t mean;
	struct conv_layer stem;
	struct block blocks[RESNET_BLOCKS];
	struct norm_layer norm; /* the last */
	cudnnTensorDescriptor_t pooled_t, class_t;
	/* Rows of a pooled image (a one behind the maps: the bias), and of the dense layer's
	 * result; how many of them the products work on. */
	int row, classes, columns;
	float *x, *act; /* behind the last block, and its last ReLU */
	float *pooled, *logits, *log_prob, *d_logits, *d_pooled, *d_act, *d_x;
	size_t last_floats;
	void *workspace;
	size_t workspace_bytes;
	unsigned dense; /* parameter */
	unsigned parameters;
	size_t count[RESNET_PARAMETERS];
	float start[RESNET_PARAMETERS]; /* below 0: so wide is the range that it is drawn from */
	float *weight[RESNET_PARAMETERS], *grad[RESNET_PARAMETERS];
	float *all_weights, *all_grads; /* the same as one block each, or NULL */
	size_t block_floats;
};

/* How a trainer wants its net. */
struct resnet_form {
	bool biased;               /* convolutions have a bias */
	bool flat;                 /* all weights lie in one block, and all gradients in another */
	int row, classes, columns; /* of the dense layer: as they are, or more; the rest is 0 */
};

/* Sets everything up on a stream (0: the default one). No algorithm is chosen. */
void resnet_init(
	struct resnet *net, const struct resnet_form *form, uint64_t seed, cudaStream_t stream);
/* Gives everything back; the work on the device must be over. */
void resnet_finish(struct resnet *net);

/* Device memory for count floats, for the life of the program; exits when there is none. */
float *resnet_alloc(size_t count);

/* Every convolution of the net, in order; NULL behind the last. */
struct conv_layer *resnet_conv(struct resnet *net, unsigned n);
/* And every norm. */
struct norm_layer *resnet_norm(struct resnet *net, unsigned n);

/* Allocates the workspace that the convolutions' algorithms need. */
void resnet_work(struct resnet *net);

/* Writes the weights to a file, bit by bit. Waits for the device. */
void resnet_dump(const struct resnet *net, const char *path);

/* A validation pass over device memory with RESNET_IMAGES images: what the net says of them, by the
 * running statistics, a row of net->classes for each. Overwrites what the last step left. */
void resnet_infer(struct resnet *net, const float *images, float *logits);

/* How many of these rows have their largest value where the label says. */
unsigned resnet_count_right(
	const struct images *set, unsigned first, unsigned count, const float *logits, int row);

#endif
