/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_FACT_H
#define TFS_SHIM_TRACE_FORMAT_FACT_H

/*
 * Part of format.h: what was found out about the run. The traced process writes the number of a
 * fact with what belongs to it; key and sentence are for the report, {object}, {bytes}, {0} and {1}
 * as in format_reason.h, {time} the first number as nanoseconds, {error} what that errno means, in
 * parentheses. A later fact replaces an earlier one of the same key, but those of kind `story` are
 * told one after the other, and of kind `each` there is one for every object, whose name ends the
 * key.
 */

/* X(number, constant, key, kind, sentence) */
#define TFS_FACTS(X)                                                                               \
	X(1, steps_found, "steps", latest, "found")                                                \
	X(2, steps_none, "steps", latest, "none found")                                            \
	X(3, steps_told, "steps", latest, "told by the program")                                   \
	X(4, steps_warmup, "steps.warmup", latest,                                                 \
		"{0} iterations that went into finding the step")                                  \
	X(5, step_range, "step range", latest, "{object}")                                         \
	X(6, helper_missing, "helper", latest, "no thread could be started")                       \
	X(7, hooks_none, "hooks", latest, "none: loaded by CUDA_INJECTION64_PATH")                 \
	X(8, nvtx_off, "nvtx", latest, "not taken: switched off")                                  \
	X(9, nvtx_none, "nvtx", latest, "no NVTX call so far")                                     \
	X(10, nvtx_taken, "nvtx", latest, "taken")                                                 \
	X(11, nvtx_passed_on, "nvtx", latest, "taken, and passed on to {object}")                  \
	X(12, nvtx_not_passed_on, "nvtx", latest, "taken; {object} did not start")                 \
	X(13, several_versions, "several versions", latest, "{object}")                            \
	X(14, deepbind, "unseen.deepbind.", each,                                                  \
		"{object} was opened with RTLD_DEEPBIND: what it calls itself passes the hooks "   \
		"by (deepbind=0 takes the flag away)")                                             \
	X(15, memory_coherent, "memory.coherent", latest, "the device reads host memory itself")   \
	X(16, staging_node, "staging.node", latest, "memory node of the pinned chunks: {0}")       \
	X(17, staging_pinned, "staging.pinned", latest, "{bytes} pinned for staging")              \
	X(18, staging_threads, "staging.threads", latest,                                          \
		"no more threads could be started, {0} were wanted")                               \
	X(19, ranks_plan, "ranks.plan", latest, "{object}")                                        \
	X(20, rewrites_off, "rewrites", latest,                                                    \
		"off, as an earlier run ended abnormally while a rewrite acted; delete {object} "  \
		"to allow them again")                                                             \
	X(21, refusals_lost, "rewrites refused", latest, "{0} calls at too many places to tell")   \
	X(22, searched, "cudnn-search", latest, "{0} problems searched")                           \
	X(23, search_live, "cudnn-search live", latest,                                            \
		"{0} outputs held against the program's own")                                      \
	X(24, search_time, "cudnn-search time", latest, "{time}")                                  \
	X(25, search_refused, "cudnn-search refused", latest,                                      \
		"cuDNN did not run a chosen algorithm (status {0}); the program's ran")            \
	X(26, decisions_left, "cudnn-search decisions", latest,                                    \
		"{0} not searched; delete {object} to search them")                                \
	X(27, decisions_foreign, "cudnn-search decisions", latest,                                 \
		"it is no file of decisions of this version: neither used nor written")            \
	X(28, decisions_no_file, "cudnn-search decisions", latest,                                 \
		"it is no plain file below 1 MiB: neither used nor written")                       \
	X(29, decisions_unreadable, "cudnn-search decisions", latest,                              \
		"it cannot be read{error}: neither used nor written")                              \
	X(30, decisions_busy, "cudnn-search decisions", latest,                                    \
		"another run decides: nothing is searched, the program runs as it asked")          \
	X(31, decisions_unwritable, "cudnn-search decisions", latest,                              \
		"it cannot be written: nothing is searched, the program runs as it asked")         \
	X(32, decisions_elsewhere, "cudnn-search decisions", latest,                               \
		"it is for '{object}', not for this GPU and cuDNN: not used")                      \
	X(33, line_cut, "cudnn-search decisions", latest,                                          \
		"line {0} is cut off: not used{1?, and # more}")                                   \
	X(34, line_no_text, "cudnn-search decisions", latest,                                      \
		"line {0} is not text: not used{1?, and # more}")                                  \
	X(35, line_no_machine, "cudnn-search decisions", latest,                                   \
		"line {0} names no GPU and cuDNN: not used{1?, and # more}")                       \
	X(36, line_no_decision, "cudnn-search decisions", latest,                                  \
		"line {0} is not a decision: not used{1?, and # more}")                            \
	X(37, line_no_problem, "cudnn-search decisions", latest,                                   \
		"line {0} does not name a problem: not used{1?, and # more}")                      \
	X(38, line_too_long, "cudnn-search decisions", latest,                                     \
		"line {0} goes on behind its problem: not used{1?, and # more}")                   \
	X(39, line_forbidden, "cudnn-search decisions", latest,                                    \
		"line {0} chooses what may not stand for what was asked: not used{1?, and # "      \
		"more}")                                                                           \
	X(40, line_surplus, "cudnn-search decisions", latest,                                      \
		"line {0} is one too many: not used{1?, and # more}")                              \
	X(41, cupti_in_windows, "cupti", latest, "in windows")                                     \
	X(42, cupti_not_built, "cupti", latest, "not built in")                                    \
	X(43, cupti_no_driver, "cupti", latest,                                                    \
		"not available: no driver (libcuda.so.1 was not found)")                           \
	X(44, cupti_none, "cupti", latest, "not available: no libcupti was found")                 \
	X(45, cupti_incomplete, "cupti", latest, "not available: {object} lacks functions")        \
	X(46, cupti_taken, "cupti", latest, "not available: in use by {object}")                   \
	X(47, cupti_old_driver, "cupti", latest, "not available: the driver is too old for it")    \
	X(48, cupti_no_device, "cupti", latest, "not available: no usable driver (status {0})")    \
	X(49, cupti_failed, "cupti", latest, "not available: status {0}")                          \
	X(50, cupti_refuses, "cupti", latest, "not available: it refuses activity records")        \
	X(51, cupti_lost, "cupti", story, "lost at step {0}: it refused to record")                \
	X(52, cupti_lent, "cupti", story,                                                          \
		"in windows until step {0}, then given back by the option cupti_off")              \
	X(53, cupti_given_back, "cupti", story,                                                    \
		"in windows until step {0}, then given back by the program")                       \
	X(54, cupti_gave_way, "cupti", story,                                                      \
		"in windows until step {0}, then given way to {object}")                           \
	X(55, cupti_never_lent, "cupti", story, "not taken: given back by the option cupti_off")   \
	X(56, cupti_never_given_back, "cupti", story, "not taken: given back by the program")      \
	X(57, cupti_never_gave_way, "cupti", story, "not taken: given way to {object}")            \
	X(58, cupti_again, "cupti", story, "taken again at step {0}")                              \
	X(59, cupti_taken_by_another, "cupti", latest, "not available: in use by another tool")    \
	X(60, decisions_changed, "cudnn-search decisions", latest,                                 \
		"another run has decided meanwhile: nothing is searched, the program runs as it "  \
		"asked")                                                                           \
	X(61, breaker_none, "rewrites.breaker", latest,                                            \
		"a crash will not switch rewrites off: no mark can be made beside the "            \
		"recording{error}")                                                                \
	X(62, folder_late, "rewrites", latest,                                                     \
		"off, as the folder for the recording did not answer when the program started")    \
	X(63, processes, "processes", latest, "{0} in this job")                                   \
	X(64, folder_silent, "rewrites", latest,                                                   \
		"off, as the folder for the recording did not answer when the first was to act")   \
	X(65, imported, "recorded by", latest, "{object}")

enum tfs_fact_code {
	TFS_FACT_none = 0,
#define X(number, constant, key, kind, sentence) TFS_FACT_##constant = number,
	TFS_FACTS(X)
#undef X
};

enum tfs_fact_kind { TFS_FACT_KIND_latest, TFS_FACT_KIND_story, TFS_FACT_KIND_each };

#endif
