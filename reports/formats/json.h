/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_FORMATS_JSON_H
#define TFS_REPORTS_FORMATS_JSON_H

/*
 * The report as JSON, "tfshim-report/2" (JSON.md): the json format is this document alone, the
 * page carries a compact one.
 */

#include <stdbool.h>

#include "reports/formats/json_writer.h"
#include "reports/model/model.h"

/* Writes the whole document; `with_calls` adds the list of all calls of the run. */
void tfs_json_report(const struct tfs_model *model, struct tfs_json *json, bool with_calls);

/* Its members about the step as written, now and possible. */
void tfs_json_headline(struct tfs_json *json, const struct tfs_model *model);

/* Its members about time: steps, idle time, layers. */
void tfs_json_times(struct tfs_json *json, const struct tfs_model *model);

#endif
