/* SPDX-License-Identifier: MIT */
#ifndef TFS_REPORTS_IMPORT_KINETO_SHARES_H
#define TFS_REPORTS_IMPORT_KINETO_SHARES_H

/*
 * Whose a device's work is, in a trace of several processes: known by the correlation id of its
 * call, where only one process has it, and then for all work of that device. Of ids that
 * several have, work cannot begin before its call, and a call gives work to one device only.
 */

#include <stddef.h>
#include <stdint.h>

struct tfs_collected;

/* A call of another process. */
struct tfs_kineto_foreign {
	uint32_t correlation;
	int64_t start_ns;
};

/* Leaves the work and the waits of others out; sorts `foreign`. -EILSEQ where it cannot be told
 * whose something is, -ENOMEM, or 0. */
int tfs_kineto_share(
	struct tfs_collected *collected, struct tfs_kineto_foreign *foreign, size_t count);

#endif
