/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_ENV_H
#define TFS_SHIM_BASE_ENV_H

/*
 * What the user asked for: TFSHIM_OPTIONS (key=value, separated by colons), TFSHIM_OUTPUT,
 * TFSHIM_REWRITE, TFSHIM_LOG, TFSHIM_PROCESS, TFSHIM_DISABLE. Read once, before the first recorded
 * call; constant from then on, so any thread may read it. The options are in env_options.h.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/base/env_options.h"

enum tfs_record_mode { TFS_RECORD_NONE, TFS_RECORD_WINDOWS, TFS_RECORD_ALL };

struct tfs_options {
#define X(key, field, kind, standard, help) uint64_t field;
	TFS_OPTIONS(X)
#undef X
	const char *output;    /* TFSHIM_OUTPUT, or the default pattern */
	const char *rewrite;   /* TFSHIM_REWRITE, or "safe" */
	const char *decisions; /* TFSHIM_DECISIONS: file of cudnn-search's decisions, or NULL */
	const char *toolkit;   /* CUDA_HOME or CUDA_PATH: CUDA's folder, or NULL */
	uint64_t run;          /* TFSHIM_RUN: of which `tfshim run`; 0 = none */
	bool disabled;
	bool rank_stated; /* by TFSHIM_RANK */
	/* As the launcher says, or NCCL's largest communicator: only these two may change. */
	uint32_t rank;
	_Atomic uint32_t ranks; /* processes; NCCL may say so late */
};

extern struct tfs_options tfs_options;

/* The value of a text option; "" = not set. */
static inline const char *tfs_env_text(uint64_t field)
{
	return field != 0 ? (const char *)(uintptr_t)field : "";
}

/* Reads the environment; bad keys and values are named on stderr once and left at their default.
 * Called once, by one thread. */
void tfs_env_read(void);

/* Is this a process to stay out of: by TFSHIM_DISABLE, or because its program's name is not what
 * TFSHIM_PROCESS asks for? May be asked at any time. */
bool tfs_env_disabled(void);

/* At least so many processes work together. */
void tfs_env_ranks(uint32_t ranks);

/* Is the driver layer on? May be asked before tfs_env_read(), and before any constructor ran. */
bool tfs_env_driver(void);

/* May libraries be opened with RTLD_DEEPBIND? As early as the above. */
bool tfs_env_deepbind(void);

/* The program's file without its folder. Static memory; always the same. */
const char *tfs_env_program(void);

/* Writes TFSHIM_OUTPUT's pattern, filled in for this process, as an absolute path without a
 * suffix, and creates its folder. 0, or -errno when the pattern is wrong or the folder cannot be
 * made. */
int tfs_env_output(char *out_path, size_t bytes);

/* Adds to such a path what tells runs of one name apart: the time, and from the second one of that
 * time on the number. */
void tfs_env_output_apart(char *path, size_t bytes, unsigned number);

#endif
