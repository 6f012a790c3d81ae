/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_ENV_H
#define TFS_SHIM_ENV_H

/*
 * What the user asked for: TFSHIM_OPTIONS (key=value, separated by colons), TFSHIM_OUTPUT,
 * TFSHIM_REWRITE, TFSHIM_LOG, TFSHIM_PROCESS, TFSHIM_DISABLE. Read once, before the first recorded
 * call; constant from then on, so any thread may read it. To add an option, add its row to
 * TFS_OPTIONS.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum tfs_record_mode { TFS_RECORD_NONE, TFS_RECORD_WINDOWS, TFS_RECORD_ALL };

/* X(key, field, kind, default, help): kind is flag, number, bytes, record, steps
 * (first << 32 | last) or text (NULL
 * by default; the field is a pointer, for tfs_env_text). */
#define TFS_OPTIONS(X)                                                                             \
	X("record", record, record, TFS_RECORD_WINDOWS,                                            \
		"none: totals per call site only; windows: details of some steps; all: "           \
		"everything")                                                                      \
	X("report", report, flag, 1, "write the reports when the program ends")                    \
	X("cupti", cupti, flag, 1, "use CUPTI in windows, where it is free")                       \
	X("cupti_off", cupti_off, steps, 0,                                                        \
		"FIRST-LAST: leave CUPTI to other tools in these steps")                           \
	X("nvtx", nvtx, flag, 1, "take the ranges that the program names by NVTX")                 \
	X("step_range", step_range, text, 0, "NVTX ranges of this name are the training steps")    \
	X("unwind", unwind, flag, 1, "keep call stacks; 0: only the calling line")                 \
	X("driver", driver, flag, 1, "see calls of the driver, and of a static CUDA runtime")      \
	X("deepbind", deepbind, flag, 1,                                                           \
		"0: libraries are opened without RTLD_DEEPBIND, so that their calls are seen")     \
	X("window", window_steps, number, 50, "steps in the first window")                         \
	X("window_later", later_steps, number, 20, "steps in every later window")                  \
	X("window_every", window_seconds, number, 600, "seconds from one window to the next")      \
	X("limit", limit_bytes, bytes, UINT64_C(256) << 20,                                        \
		"largest recording, in bytes (k, m, g)")                                           \
	X("quiet", quiet, flag, 0, "say nothing at the end, only write the reports")               \
	X("staging_min", staging_min_bytes, bytes, 65537,                                          \
		"pinned-staging: smallest copy it takes")                                          \
	X("staging_cores", staging_cores, number, 4, "pinned-staging: idle cores it asks for")     \
	X("staging_threads", staging_threads, number, 4,                                           \
		"pinned-staging: threads that help to copy, at most")                              \
	X("staging_limit", staging_limit_bytes, bytes, UINT64_C(64) << 20,                         \
		"pinned-staging: pinned memory it may hold")                                       \
	X("measure", measure, number, 200,                                                         \
		"steps that measuring exact rewrites may take; 0: they are not measured")          \
	X("search_ms", search_ms, number, 2000, "cudnn-search: time it may take in all")           \
	X("search_problems", search_problems, number, 64, "cudnn-search: problems it may search")  \
	X("search_workspace", search_workspace_bytes, bytes, UINT64_C(256) << 20,                  \
		"cudnn-search: largest workspace it may allocate")                                 \
	X("search_memory", search_memory_bytes, bytes, UINT64_C(1) << 30,                          \
		"cudnn-search: device memory that a search may take for as long as it lasts")      \
	X("pool_limit", pool_limit_bytes, bytes, UINT64_C(4) << 30,                                \
		"alloc-pool: memory it may hold of each device")                                   \
	X("pool_reserve", pool_reserve_bytes, bytes, UINT64_C(1) << 30,                            \
		"pools: memory they leave free at least, if that is more than a tenth")            \
	X("pool_strict", pool_strict, flag, 0,                                                     \
		"alloc-pool: cudaMalloc waits for the device as it may without")                   \
	X("pool_poison", pool_poison, flag, 0,                                                     \
		"alloc-pool: fills what it hands out again with NaNs instead of zeros")            \
	X("skip_min", skip_min_bytes, bytes, UINT64_C(1) << 20,                                    \
		"copy-skip: smallest copy that it compares")                                       \
	X("alternate", alternate, number, 0,                                                       \
		"tests only: switches exact rewrites every so many steps")                         \
	X("naive", naive, number, 0, "tests only: breaks named rewrites on purpose")               \
	X("help", help, flag, 0, "print the options and their defaults")

struct tfs_options {
#define X(key, field, kind, standard, help) uint64_t field;
	TFS_OPTIONS(X)
#undef X
	const char *output;    /* TFSHIM_OUTPUT, or the default pattern */
	const char *rewrite;   /* TFSHIM_REWRITE, or "safe" */
	const char *decisions; /* TFSHIM_DECISIONS: file of cudnn-search's decisions, or NULL */
	const char *toolkit;   /* CUDA_HOME or CUDA_PATH: CUDA's folder, or NULL */
	bool disabled;
	bool rank_stated; /* by TFSHIM_RANK */
	/* As the launcher says, or NCCL's largest communicator: only these two may change. */
	uint32_t rank;
	uint32_t ranks; /* processes */
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

#endif
