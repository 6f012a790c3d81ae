/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_REPORTS_SAMPLE_H
#define TFS_TESTS_REPORTS_SAMPLE_H

/*
 * Made-up models for tests of the formats: no recording, no clock, the same bytes every time.
 */

#include "reports/model/model.h"

/* Fills a zeroed model with one of: naive, clean, single, hostile, huge, many, most; false = no
 * such sample. The caller finishes the model. */
bool sample_make(const char *name, struct tfs_model *out_model);

/* What no page may contain outside an escape. */
extern const char *const sample_hostile_name;

#endif
