/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_REFUSAL_H
#define TFS_CUPTI_REFUSAL_H

/* Why CUPTI is not to be had, as the recording says it. */

#include <stdint.h>

#include "shim/trace/format/fact.h"

struct tfs_cupti_refusal {
	enum tfs_fact_code fact; /* TFS_FACT_none: no reason was given */
	uint64_t number;
	char object[208]; /* a file's or a tool's name; "" = none */
};

#endif
