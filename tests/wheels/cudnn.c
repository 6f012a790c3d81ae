/* SPDX-License-Identifier: MIT */
/* What cuDNN 8 and 9 both have, each linked to its own library; see cudart.c. */
#include <stddef.h>
#include <stdio.h>

static void *handle, *tensor, *filter, *convolution, *activation, *pooling;

/* X(name, parameters, arguments) */
#define CALLS(X)                                                                                   \
	X(cudnnCreate, (void **), (&handle))                                                       \
	X(cudnnCreateTensorDescriptor, (void **), (&tensor))                                       \
	X(cudnnSetTensor4dDescriptor, (void *, int, int, int, int, int, int),                      \
		(tensor, 0, 0, 2, 3, 8, 8))                                                        \
	X(cudnnCreateFilterDescriptor, (void **), (&filter))                                       \
	X(cudnnSetFilter4dDescriptor, (void *, int, int, int, int, int, int),                      \
		(filter, 0, 0, 4, 3, 3, 3))                                                        \
	X(cudnnCreateConvolutionDescriptor, (void **), (&convolution))                             \
	X(cudnnSetConvolution2dDescriptor, (void *, int, int, int, int, int, int, int, int),       \
		(convolution, 1, 1, 1, 1, 1, 1, 1, 0))                                             \
	X(cudnnCreateActivationDescriptor, (void **), (&activation))                               \
	X(cudnnCreatePoolingDescriptor, (void **), (&pooling))                                     \
	X(cudnnDestroyConvolutionDescriptor, (void *), (convolution))                              \
	X(cudnnDestroyFilterDescriptor, (void *), (filter))                                        \
	X(cudnnDestroyTensorDescriptor, (void *), (tensor))

#define X(name, parameters, arguments) extern int name parameters;
CALLS(X)
#undef X

int main(void)
{
#define X(name, parameters, arguments) printf("%s %d\n", #name, name arguments);
	CALLS(X)
#undef X
	return 0;
}
