/* SPDX-License-Identifier: MIT */
#ifndef TFS_TESTS_REPORTS_SAMPLE_CHARTS_H
#define TFS_TESTS_REPORTS_SAMPLE_CHARTS_H

/* The charts of the made-up reports: steps, five of them in detail, and the call tree. */

#include "reports/model/model.h"

/* Fills the charts of a model with `steps` steps, and `kernels` kernels in each that is shown in
 * detail. Their memory is static or the model's arena's. */
void sample_make_charts(struct tfs_model *model, size_t steps, size_t kernels);

#endif
