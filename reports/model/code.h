/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_MODEL_CODE_H
#define TFS_REPORTS_MODEL_CODE_H

/* In which functions a thread of the host ran. */

#include "reports/model/places.h"

/* "decode of data.c (62 %), memcpy of libc.so.6 (20 %)": those in which most samples at a finding's
 * host thread found it running. NULL where there are too few samples, or none is worth naming. */
const char *tfs_code_text(
	struct tfs_places *places, struct tfs_region *region, const struct tfs_finding *finding);

#endif
