/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_PAIRS_LAYOUT_H
#define TFS_TESTS_PAIRS_LAYOUT_H

/* How a step of the trainer is laid out: NAME=VALUE on the command line, one for each number. */

#include <stdint.h>

/* X(name, value where none is given) */
#define LAYOUT(X)                                                                                  \
	X(seed, 1) /* of what varies from layer to layer and from step to step */                  \
	X(steps, 400)                                                                              \
	X(layers, 12)                                                                              \
	X(shortest_ns, 8000) /* a layer's forward kernel takes between these, */                   \
	X(longest_ns, 90000) /* and so does each of its two backward kernels */                    \
	X(between_ns, 2000)  /* the host's own work between two launches, */                       \
	X(load_ns, 300000)   /* and before each step */                                            \
	X(batch, 1 << 20)    /* bytes that a step copies to the device */                          \
	X(bytes, 1 << 20)    /* that the habit is about */                                         \
	X(at, 500)           /* thousandths of the step's launches that come before the habit */   \
	X(streams, 1)        /* 2: copies have a stream of their own */                            \
	X(threads, 1)        /* 2: another thread launches what goes backward */                   \
	X(every, 0)          /* so many steps between two looks at the loss; 0: none */            \
	X(fixed, 0)          /* 1: the habit is repaired */

struct layout {
	const char *habit;
#define X(name, value) uint64_t name;
	LAYOUT(X)
#undef X
};

/* Ends the program when an argument means nothing. */
struct layout layout_read(int count, char **arguments);

/* The next number of a sequence that the seed decides, between the two. */
uint64_t layout_draw(uint64_t *sequence, uint64_t low, uint64_t high);

#endif
