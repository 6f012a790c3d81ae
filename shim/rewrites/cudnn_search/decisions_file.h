/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_CUDNN_SEARCH_DECISIONS_FILE_H
#define TFS_SHIM_REWRITES_CUDNN_SEARCH_DECISIONS_FILE_H

/* The file of decisions, and what the sources of decisions.h do for each other. */

#include "shim/rewrites/cudnn_search/decisions.h"

#define TFS_DECISIONS_HEAD                                                                         \
	"# tfshim decisions 2: GPU | cuDNN | call or list, asked chosen workspace ms ms | "        \
	"problem\n"
#define TFS_DECISIONS_BYTES (UINT64_C(1) << 20) /* the file stays below */

/* Where the file is; "" before tfs_decisions_fetch(), and when it has no place. */
const char *tfs_decisions_path(void);

/* Is there a place for the file, and was what lay there one of ours, and nobody writing to it? */
bool tfs_decisions_may_write(void);

/* How long the file was when it was read; 0: it was not there. */
uint64_t tfs_decisions_bytes(void);

/* Says once on stderr, and each time in the report, why the file or a part of it is not used. */
void tfs_decisions_refuse(
	enum tfs_fact_code why, const char *object, uint64_t number, uint64_t more);

#define TFS_MACHINE_BYTES 128u /* of a name, with its null byte */

/* The number of the machine that is named "GPU | cuDNN", 0 when there are too many; and the name.
 */
uint32_t tfs_decisions_named(const char *name);
const char *tfs_decisions_name(uint32_t machine);

/* Keeps what a line says, in place of an earlier one about the same problem. False when there are
 * too many. One thread. */
bool tfs_decisions_keep(const struct tfs_decision *decision);

/* There is more in the file than can be kept: nothing is to be added. */
void tfs_decisions_too_many(void);

/* Reads lines that end in a newline, changing `text`, which ends in a null byte; `bytes` without
 * it. */
void tfs_decisions_read(char *text, size_t bytes);

/* The decision's line, with its newline; the number of bytes. */
#define TFS_DECISION_LINE 1024u
size_t tfs_decisions_line(
	const struct tfs_decision *decision, char out_line[static TFS_DECISION_LINE]);

#endif
