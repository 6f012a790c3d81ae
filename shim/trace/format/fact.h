/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_FACT_H
#define TFS_SHIM_TRACE_FORMAT_FACT_H

/*
 * Part of format.h: what was found out about the run. The traced process writes the number of a
 * fact with what belongs to it; key and sentence are for the report, {object}, {bytes}, {0} and {1}
 * as in format/reason.h, {time} the first number as nanoseconds, {error} what that errno means, in
 * parentheses. A later fact replaces an earlier one of the same key, but those of kind `story` are
 * told one after the other, and of kind `each` there is one for every object, whose name ends the
 * key.
 */

/* X(number, constant, key, kind, sentence) */
#define TFS_FACTS(X)                                                                               \
	X(1, steps_found, "steps", latest, "found")                                                \
	X(2, steps_none, "steps", latest, "none found")                                            \
	X(3, steps_told, "steps", latest, "marked by the program")                                 \
	X(4, steps_warmup, "steps.warmup", latest, "{0} iterations were used to find the step")    \
	X(5, step_range, "step range", latest, "{object}")                                         \
	X(6, helper_missing, "helper", latest, "not available: no thread could be started")        \
	X(7, hooks_none, "hooks", latest, "none: loaded by CUDA_INJECTION64_PATH")                 \
	X(8, nvtx_off, "nvtx", latest, "not recorded: switched off")                               \
	X(9, nvtx_none, "nvtx", latest, "no call")                                                 \
	X(10, nvtx_taken, "nvtx", latest, "recorded")                                              \
	X(11, nvtx_passed_on, "nvtx", latest, "recorded, and passed on to {object}")               \
	X(12, nvtx_not_passed_on, "nvtx", latest, "recorded; {object} did not start")              \
	X(13, several_versions, "several versions", latest, "{object}")                            \
	X(14, deepbind, "unseen.deepbind.", each,                                                  \
		"{object} was opened with RTLD_DEEPBIND: the hooks do not see the calls that it "  \
		"makes (deepbind=0 removes the flag)")                                             \
	X(15, memory_coherent, "memory.coherent", latest, "the device reads pageable host memory") \
	X(16, staging_node, "staging.node", latest, "memory node of the pinned chunks: {0}")       \
	X(17, staging_pinned, "staging.pinned", latest, "{bytes} pinned for staging")              \
	X(18, staging_threads, "staging.threads", latest,                                          \
		"fewer threads than the {0} wanted could be started")                              \
	X(19, ranks_plan, "ranks.plan", latest, "{object}")                                        \
	X(20, rewrites_off, "rewrites", latest,                                                    \
		"off, because an earlier run ended abnormally while a rewrite acted; delete "      \
		"{object} to allow rewrites again")                                                \
	X(21, refusals_lost, "rewrites refused", latest,                                           \
		"{0} calls at more call sites than the table holds")                               \
	X(22, searched, "cudnn-search", latest, "{0} convolutions searched")                       \
	X(23, search_live, "cudnn-search live", latest,                                            \
		"{0} outputs compared with the program's own")                                     \
	X(24, search_time, "cudnn-search time", latest, "{time}")                                  \
	X(25, search_refused, "cudnn-search refused", latest,                                      \
		"cuDNN refused a selected algorithm (status {0}); the program's ran")              \
	X(26, decisions_left, "cudnn-search decisions", latest,                                    \
		"{0} convolutions not searched; delete {object} to search them")                   \
	X(27, decisions_foreign, "cudnn-search decisions", latest,                                 \
		"not a decision file of this version: neither used nor written")                   \
	X(28, decisions_no_file, "cudnn-search decisions", latest,                                 \
		"not a regular file below 1 MiB: neither used nor written")                        \
	X(29, decisions_unreadable, "cudnn-search decisions", latest,                              \
		"cannot be read{error}: neither used nor written")                                 \
	X(30, decisions_busy, "cudnn-search decisions", latest,                                    \
		"another run is searching: no search, the program's algorithms run")               \
	X(31, decisions_unwritable, "cudnn-search decisions", latest,                              \
		"cannot be written: no search, the program's algorithms run")                      \
	X(32, decisions_elsewhere, "cudnn-search decisions", latest,                               \
		"made for '{object}', not for this GPU and cuDNN version: not used")               \
	X(33, line_cut, "cudnn-search decisions", latest,                                          \
		"line {0} is truncated: not used{1?, and # more}")                                 \
	X(34, line_no_text, "cudnn-search decisions", latest,                                      \
		"line {0} is not text: not used{1?, and # more}")                                  \
	X(35, line_no_machine, "cudnn-search decisions", latest,                                   \
		"line {0} names no GPU and cuDNN: not used{1?, and # more}")                       \
	X(36, line_no_decision, "cudnn-search decisions", latest,                                  \
		"line {0} is not a decision: not used{1?, and # more}")                            \
	X(37, line_no_problem, "cudnn-search decisions", latest,                                   \
		"line {0} does not name a convolution: not used{1?, and # more}")                  \
	X(38, line_too_long, "cudnn-search decisions", latest,                                     \
		"line {0} has text after its convolution: not used{1?, and # more}")               \
	X(39, line_forbidden, "cudnn-search decisions", latest,                                    \
		"line {0} selects an algorithm that may not replace the program's: not "           \
		"used{1?, and # more}")                                                            \
	X(40, line_surplus, "cudnn-search decisions", latest,                                      \
		"line {0} is beyond the largest number of entries: not used{1?, and # more}")      \
	X(41, cupti_in_windows, "cupti", latest, "active in windows")                              \
	X(42, cupti_not_built, "cupti", latest, "not built in")                                    \
	X(43, cupti_no_driver, "cupti", latest,                                                    \
		"not available: no driver (libcuda.so.1 was not found)")                           \
	X(44, cupti_none, "cupti", latest, "not available: no libcupti was found")                 \
	X(45, cupti_incomplete, "cupti", latest, "not available: {object} lacks functions")        \
	X(46, cupti_taken, "cupti", latest, "not available: in use by {object}")                   \
	X(47, cupti_old_driver, "cupti", latest, "not available: the driver is too old for CUPTI") \
	X(48, cupti_no_device, "cupti", latest, "not available: no usable driver (status {0})")    \
	X(49, cupti_failed, "cupti", latest, "not available: status {0}")                          \
	X(50, cupti_refuses, "cupti", latest, "not available: CUPTI refuses activity records")     \
	X(51, cupti_lost, "cupti", story, "stopped at step {0}: CUPTI refused to record")          \
	X(52, cupti_lent, "cupti", story,                                                          \
		"active in windows until step {0}, then released by the option cupti_off")         \
	X(53, cupti_given_back, "cupti", story,                                                    \
		"active in windows until step {0}, then released by the program")                  \
	X(54, cupti_gave_way, "cupti", story,                                                      \
		"active in windows until step {0}, then left to {object}")                         \
	X(55, cupti_never_lent, "cupti", story, "not used: released by the option cupti_off")      \
	X(56, cupti_never_given_back, "cupti", story, "not used: released by the program")         \
	X(57, cupti_never_gave_way, "cupti", story, "not used: left to {object}")                  \
	X(58, cupti_again, "cupti", story, "used again from step {0}")                             \
	X(59, cupti_taken_by_another, "cupti", latest, "not available: in use by another tool")    \
	X(60, decisions_changed, "cudnn-search decisions", latest,                                 \
		"another run has searched meanwhile: no search, the program's algorithms run")     \
	X(61, breaker_none, "rewrites.breaker", latest,                                            \
		"a crash will not switch rewrites off: no marker file can be written beside the "  \
		"recording{error}")                                                                \
	X(62, folder_late, "rewrites", latest,                                                     \
		"off, because the recording's file system did not respond at the start")           \
	X(63, processes, "processes", latest, "{0} in this job")                                   \
	X(64, folder_silent, "rewrites", latest,                                                   \
		"off, because the recording's file system did not respond before the first "       \
		"rewrite acted")                                                                   \
	X(65, imported, "recorded by", latest, "{object}")                                         \
	X(66, python, "python", latest, "{0}.{1}; call sites are lines of Python code")            \
	X(67, python_unknown, "python", latest,                                                    \
		"not a version whose call stacks can be read; call sites are those of C code")     \
	X(68, debug_switch, "debug switch.", each, "on")                                           \
	X(69, debug_none, "debug switches", latest, "none of those that are looked for")           \
	X(70, host_sampled, "host", latest, "the step's thread is sampled in windows")             \
	X(71, host_off, "host", latest, "not sampled: switched off")                               \
	X(72, host_none, "host", latest, "not sampled: the step's thread cannot be read in /proc") \
	X(73, host_no_descriptors, "host", latest,                                                 \
		"not sampled: the kernel gives no thread descriptors of its own")                  \
	X(74, host_code, "host code", latest,                                                      \
		"where the step's thread runs is sampled in windows")                              \
	X(75, host_code_none, "host code", latest, "not sampled: perf_event_open failed{error}")   \
	X(76, mps, "mps.", each, "contexts on device {0} are shared through MPS")                  \
	X(77, host_no_thread, "host", latest, "not sampled: no thread could be started")           \
	X(78, host_code_filtered, "host code", latest,                                             \
		"not sampled: the process's system calls are filtered (seccomp)")                  \
	X(79, products_measured, "lt-search", latest, "{0} GEMMs measured")                        \
	X(80, products_time, "lt-search time", latest, "{time}")

enum tfs_fact_code {
	TFS_FACT_none = 0,
#define X(number, constant, key, kind, sentence) TFS_FACT_##constant = number,
	TFS_FACTS(X)
#undef X
};

enum tfs_fact_kind { TFS_FACT_KIND_latest, TFS_FACT_KIND_story, TFS_FACT_KIND_each };

#endif
