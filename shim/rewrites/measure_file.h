/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_REWRITES_MEASURE_FILE_H
#define TFS_SHIM_REWRITES_MEASURE_FILE_H

/* The program's file of verdicts (verdicts_file.h), beside the recording. Numbers are those of
 * rewrite.c's list. */

#include "shim/rewrites/measure/verdict.h"

/* Reads the file, once, before what follows; the thread that touches files. */
void tfs_measure_file_fetch(void);

/* Tells `take` each verdict for so many ranks on a rewrite of `switchable`. One thread at a time.
 */
void tfs_measure_file_read(uint32_t ranks, uint32_t switchable,
	void (*take)(uint32_t i, const struct tfs_proof *verdict));

/* Where it cannot be written, nothing is. One thread at a time. */
void tfs_measure_file_write(const struct tfs_proof *verdicts, uint32_t count);

#endif
