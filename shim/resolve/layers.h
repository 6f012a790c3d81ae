/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_RESOLVE_LAYERS_H
#define TFS_SHIM_RESOLVE_LAYERS_H

/*
 * Functions that the CUDA runtime and the driver both have, for callers that take the layer which
 * the program uses: a struct of pointers, filled by rows that name calls of direct.h. The pointers
 * say what the two have in common to a caller: handles and addresses are void *, results, enums and
 * flags are int, of one number on both, and what one of them takes in addition comes last.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/resolve/direct.h"

struct tfs_layer_row {
	/* The runtime's and the driver's; TFS_DIRECT_NONE = this layer's field stays as it is. */
	uint8_t calls[2];
	size_t at;
};
#define TFS_LAYER_CALLS(functions, field, runtime, driver)                                         \
	{                                                                                          \
		{runtime, driver}, offsetof(struct functions, field)                               \
	}
/* Both of a row of enum tfs_twins. */
#define TFS_LAYER_TWINS(functions, field, row) TFS_LAYER_CALLS(functions, field, row, (row) + 1)

/* False when one is missing. Cold. */
bool tfs_layer_fill(void *functions, const struct tfs_layer_row *rows, size_t count, bool driver);

/* The same, once for each layer and only when its library stays; NULL when one is missing. */
struct tfs_layer_table {
	const struct tfs_layer_row *rows;
	size_t count;
	void *functions[2];
	_Atomic int known[2]; /* 1 = all are there, 2 = not */
};
const void *tfs_layer_functions(struct tfs_layer_table *layers, bool driver);

#endif
