/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_FENCES_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_SEARCH_FENCES_H

/* What may stand for what: pure functions of algorithms and measurements. */

#include <stdbool.h>

#include "shim/rewrites/cudnn_search/search.h"

/* Not reproducible, whatever cuDNN's flags say: its documentation names them. */
bool tfs_search_varies(enum tfs_family family, int algorithm);

/* May `other` stand for what the program asked, going by their numbers alone? It is in the family's
 * range, deterministic if the asked one is, and a transform only if the asked one is. */
bool tfs_search_allowed(enum tfs_family family, int asked, int other);

/* The same with what was measured; both by number in `candidates`. */
bool tfs_search_fits(
	enum tfs_family family, const struct tfs_candidate *candidates, int asked, int other);

/* The fastest that fits and needs no more workspace than `most`; the asked one unless another is
 * clearly faster. */
int tfs_search_best(
	enum tfs_family family, const struct tfs_candidate *candidates, int asked, uint64_t most);

#endif
