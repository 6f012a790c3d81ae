/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_WAIT_H
#define TFS_SHIM_REWRITES_WAIT_H

/* The calls by which the host waits for the device, or asks it, as rewrites see them. */

#include <stdbool.h>
#include <stdint.h>

enum tfs_wait_kind {
	TFS_SYNC_DEVICE,
	TFS_SYNC_STREAM,
	TFS_SYNC_EVENT,
	/* No waits: before these, what an earlier wait promised has to be true, since they tell. */
	TFS_SYNC_ASKS,
	TFS_SYNC_ENDS_STREAM, /* from here on the handle may not be used */
};

struct tfs_wait_call {
	enum tfs_wait_kind kind;
	void *handle;    /* of the stream, event, or context (NULL: the current one) */
	bool per_thread; /* what the null stream means */
	bool driver;     /* of the driver's functions, not of the runtime's */
	bool may_act;    /* not in a window, nor while it is measured without */
	uint32_t site;
	/* The rewrite's own, from before the real call to after it. */
	uint64_t before; /* what was submitted by then */
	uint64_t start_ns;
	int tried;
};

#endif
