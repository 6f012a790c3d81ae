/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_ENV_OPTIONS_H
#define TFS_SHIM_BASE_ENV_OPTIONS_H

/*
 * The keys of TFSHIM_OPTIONS. To add one, add its row: X(key, field, kind, default, help), where
 * kind is flag, number, bytes, record, steps (first << 32 | last), or text (NULL by default; the
 * field is a pointer, for tfs_env_text).
 */
#define TFS_OPTIONS(X)                                                                             \
	X("record", record, record, TFS_RECORD_WINDOWS,                                            \
		"none: totals per call site only; windows: details of some steps; all: "           \
		"details of all steps")                                                            \
	X("report", report, flag, 1, "write the reports when the program ends")                    \
	X("cupti", cupti, flag, 1, "use CUPTI in windows, if no other tool uses it")               \
	X("cupti_off", cupti_off, steps, 0,                                                        \
		"FIRST-LAST: leave CUPTI to other tools in these steps")                           \
	X("nvtx", nvtx, flag, 1, "record the program's NVTX ranges")                               \
	X("step_range", step_range, text, 0, "NVTX ranges of this name are the training steps")    \
	X("host", host, flag, 1, "in windows, sample what the step's thread does on the host")     \
	X("proc", proc, text, 0, "folder in which that is looked up; /proc by default")            \
	X("unwind", unwind, flag, 1, "record call stacks; 0: only the calling line")               \
	X("driver", driver, flag, 1, "see driver calls, and calls of functions looked up by name") \
	X("deepbind", deepbind, flag, 1,                                                           \
		"0: open libraries without RTLD_DEEPBIND, so that their calls are seen")           \
	X("window", window_steps, number, 50, "steps in the first window")                         \
	X("window_later", later_steps, number, 20, "steps in every later window; 0: no later one") \
	X("window_at", window_at, number, 500,                                                     \
		"step of the second window; each later one opens at twice as many; 0: by time "    \
		"alone")                                                                           \
	X("window_every", window_seconds, number, 600, "most seconds from one window to the next") \
	X("limit", limit_bytes, bytes, UINT64_C(256) << 20,                                        \
		"largest recording, in bytes (k, m, g)")                                           \
	X("memory", memory, text, 0,                                                               \
		"set by tfshim run: memory that keeps the recording when the program is killed")   \
	X("quiet", quiet, flag, 0, "write the reports, and print nothing at the end")              \
	X("staging_min", staging_min_bytes, bytes, UINT64_C(1) << 20,                              \
		"pinned-staging: smallest copy that is staged")                                    \
	X("staging_cores", staging_cores, number, 4, "pinned-staging: idle CPU cores needed")      \
	X("staging_threads", staging_threads, number, 4,                                           \
		"pinned-staging: most helper threads for copying")                                 \
	X("staging_limit", staging_limit_bytes, bytes, UINT64_C(64) << 20,                         \
		"pinned-staging: most pinned memory")                                              \
	X("measure", measure, number, 4000,                                                        \
		"most steps for the A/B test of an exact rewrite, up to 4000; 0: no test")         \
	X("search_ms", search_ms, number, 2000,                                                    \
		"cudnn-search, lt-search: most time of each in ms,"                                \
		" a hundredth of it for synchronising")                                            \
	X("search_problems", search_problems, number, 64,                                          \
		"cudnn-search, lt-search: most shapes of each")                                    \
	X("search_workspace", search_workspace_bytes, bytes, UINT64_C(256) << 20,                  \
		"cudnn-search, lt-search: largest workspace of an algorithm")                      \
	X("search_memory", search_memory_bytes, bytes, UINT64_C(1) << 30,                          \
		"cudnn-search, lt-search: most device memory in use during a search")              \
	X("pool_limit", pool_limit_bytes, bytes, UINT64_C(4) << 30,                                \
		"alloc-pool: most memory in cached blocks per device")                             \
	X("pool_reserve", pool_reserve_bytes, bytes, UINT64_C(1) << 30,                            \
		"pools: device memory left free, at least a tenth of all")                         \
	X("pool_strict", pool_strict, flag, 0,                                                     \
		"alloc-pool: cudaMalloc synchronises as it may without tfshim")                    \
	X("pool_poison", pool_poison, flag, 0,                                                     \
		"alloc-pool: fill reused blocks with NaNs instead of zeros")                       \
	X("help", help, flag, 0,                                                                   \
		"print the options and their current values, at the first CUDA call")

/* Those of libtfshim_mutant.so (mutant.h), all of them numbers: X(key, help). */
#define TFS_MUTANT_OPTIONS(X)                                                                      \
	X(alternate, "switches exact rewrites every so many steps")                                \
	X(naive, "what is done wrong, by bits")

#endif
