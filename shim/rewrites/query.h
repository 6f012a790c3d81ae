/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_QUERY_H
#define TFS_SHIM_REWRITES_QUERY_H

/* What rewrites are shown of the questions that a program asks the runtime about a device: each
 * before the runtime is asked, and again with its answer. */

#include <stdint.h>

enum tfs_query { TFS_QUERY_PROPERTIES, TFS_QUERY_ATTRIBUTE };

struct tfs_query_call {
	enum tfs_query what;
	int attribute;
	int device;
	void *answer;      /* cudaDeviceProp or int, the program's */
	uint64_t start_ns; /* set by the rewrite */
	uint32_t site;
};

#endif
