/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_BUILD_PLACES_H
#define TFS_REPORTS_BUILD_PLACES_H

/*
 * Call sites of a recording as source lines. Each site is looked up once.
 */

#include "reports/model/model.h"
#include "shim/trace/trace.h"

struct tfs_places;

/* `arena` owns the names, the caller the rest; NULL without memory. */
struct tfs_places *tfs_places_create(const struct tfs_trace *trace, struct tfs_arena *arena);

/* The place of a site; no frames when the site is 0 or unknown. */
struct tfs_model_place tfs_places_find(struct tfs_places *places, uint32_t site);

/* The function whose code lies at an address, whatever was inlined into it: its module alone where
 * it has no name. */
struct tfs_model_frame tfs_places_code(struct tfs_places *places, uint64_t address);

/* The path of the script that a Python program runs, as Python has it; NULL where none is seen. */
const char *tfs_places_script(struct tfs_places *places);

/* How many mapped files are not the ones that ran any more, so that their names are missing. */
unsigned tfs_places_changed(const struct tfs_places *places);

void tfs_places_destroy(struct tfs_places *places);

#endif
