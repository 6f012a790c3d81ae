/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_CHECK_H
#define TFS_SHIM_TRACE_FORMAT_CHECK_H

/*
 * Part of format.h: the checks that a rewrite makes before it acts. The traced process counts
 * refusals by number; the name is for machines and the sentence, which says what was the case when
 * the check refused, for people: only the report uses these two. To add a check, add a row with the
 * next free number.
 */

#define TFS_CHECKS(X)                                                                                 \
	X(1, shadow_differs, "shadow-differs",                                                        \
		"in shadow mode the result differed from that of the program's own call")             \
	X(2, not_capturing, "not-capturing", "a stream was being captured into a graph")              \
	X(3, size, "size", "the size is outside the range that the rewrite handles")                  \
	X(4, size_recurs, "size-recurs",                                                              \
		"no block of this size had been freed and allocated again yet")                       \
	X(5, runtime_stays, "runtime-stays", "the CUDA runtime was not found, or may be unloaded")    \
	X(6, plain_device_memory, "plain-device-memory",                                              \
		"the memory is not a plain device allocation of the program")                         \
	X(7, not_shared, "not-shared", "the memory may be shared with another process or library")    \
	X(8, no_peers, "no-peers", "another device may access the memory")                            \
	X(9, no_sanitizer, "no-sanitizer",                                                            \
		"a memory checker is loaded, which has to see every allocation")                      \
	X(10, current_device, "current-device", "the memory is not on the current device")            \
	X(11, current_context, "current-context",                                                     \
		"the memory does not belong to the current context")                                  \
	X(12, no_error_waiting, "no-error-waiting",                                                   \
		"an earlier call left an error that the program has not read")                        \
	X(13, pool_limit, "pool-limit",                                                               \
		"as many bytes are cached as the option pool_limit allows")                           \
	X(14, memory_left, "memory-left", "too little device memory would have been left free")       \
	X(15, device_waited_for, "device-waited-for",                                                 \
		"synchronising before the free returned an error")                                    \
	X(16, block_kept, "block-kept", "the freed block could not be zeroed and cached")             \
	X(17, no_pageable_access, "no-pageable-access",                                               \
		"the device can access pageable host memory")                                         \
	X(18, one_device, "one-device", "the program uses more than one device")                      \
	X(19, shadow_evidence, "shadow-evidence", "too few shadow comparisons had passed")            \
	X(20, usable_library, "usable-library",                                                       \
		"functions that the rewrite needs were not found in the CUDA library")                \
	X(21, source_pageable, "source-pageable", "the source is not pageable host memory")           \
	X(22, target_device_memory, "target-device-memory",                                           \
		"the target is not plain device memory of this context")                              \
	X(23, source_mapped, "source-mapped", "part of the source is not mapped")                     \
	X(24, all_calls_seen, "all-calls-seen", "CUDA calls may be made that no hook sees")           \
	X(25, ordered_stream, "ordered-stream",                                                       \
		"the stream does not synchronise with the legacy stream")                             \
	X(26, room_to_follow, "room-to-follow", "too many memsets are being followed at once")        \
	X(27, no_kernel_between, "no-kernel-between",                                                 \
		"a kernel ran between the memset and the call that uses its bytes")                   \
	X(28, no_copy_between, "no-copy-between",                                                     \
		"a copy ran between the memset and the call that uses its bytes")                     \
	X(29, no_wait_between, "no-wait-between",                                                     \
		"the program synchronised between the memset and the call that uses its bytes")       \
	X(30, no_other_call_between, "no-other-call-between",                                         \
		"another call was made between the memset and the call that uses its bytes")          \
	X(31, same_thread, "same-thread", "another thread uses the zeroed bytes")                     \
	X(32, same_stream, "same-stream", "another stream uses the zeroed bytes")                     \
	X(33, not_read, "not-read", "the zeros are read")                                             \
	X(34, whole_range, "whole-range", "the call does not write exactly the zeroed bytes")         \
	X(35, beta_zero_or_one, "beta-zero-or-one", "beta is neither 0 nor 1")                        \
	X(36, same_bits_each_time, "same-bits-each-time",                                             \
		"the result may differ bitwise from one execution to the next")                       \
	X(37, scratch_memory, "scratch-memory", "there was no memory for the shadow comparison")      \
	X(38, preloaded, "preloaded", "jemalloc is not preloaded")                                    \
	X(39, known_layout, "known-layout",                                                           \
		"the CUDA runtime's version differs from the one that tfshim was built with")         \
	X(40, known_number, "known-number",                                                           \
		"the device or the attribute number is above what the rewrite caches")                \
	X(41, constant, "constant", "the answer may change while the program runs")                   \
	X(42, host_and_device, "host-and-device", "the copy is not between host and device")          \
	X(43, blocking_read, "blocking-read", "the copy to the host is asynchronous")                 \
	X(44, context, "context",                                                                     \
		"there is no current context, or one that the rewrite cannot use")                    \
	X(45, target_pageable, "target-pageable", "the target is not pageable host memory")           \
	X(46, source_device_memory, "source-device-memory",                                           \
		"the source is not plain device memory of this context")                              \
	X(47, no_host_page_tables, "no-host-page-tables",                                             \
		"the device reads pageable host memory at full speed")                                \
	X(48, target_mapped, "target-mapped", "part of the target is not mapped, or not writable")    \
	X(49, idle_cores, "idle-cores", "the process may use too few CPU cores")                      \
	X(50, faster, "faster", "copies of this direction and size were no faster when staged")       \
	X(51, ring_free, "ring-free", "other threads were using all rings of pinned memory")          \
	X(52, pinned_memory, "pinned-memory", "no pinned memory could be allocated")                  \
	X(53, memory_to_spare, "memory-to-spare",                                                     \
		"the machine or the container has too little memory to spare for pinning")            \
	X(54, own_stream, "own-stream",                                                               \
		"the events that the rewrite needs could not be created for this stream")             \
	X(55, threshold_unset, "threshold-unset",                                                     \
		"the program has set the pool's release threshold itself")                            \
	X(56, gives_back, "gives-back", "the pool had kept its memory")                               \
	X(57, threshold_kept, "threshold-kept", "the pool's release threshold could not be set")      \
	X(58, nothing_submitted_since, "nothing-submitted-since",                                     \
		"work was submitted after the last synchronisation")                                  \
	X(59, no_other_users, "no-other-users",                                                       \
		"another context, library or process may observe the device's work")                  \
	X(60, streams_in_reach, "streams-in-reach",                                                   \
		"unfinished work is on streams that cannot be synchronised one by one")               \
	X(61, work_to_wait_for, "work-to-wait-for",                                                   \
		"the host can observe none of the unfinished work")                                   \
	X(62, work_to_leave_out, "work-to-leave-out", "the host may observe all unfinished work")     \
	X(63, carried_out, "carried-out", "synchronising the streams one by one failed")              \
	X(64, program_does_not_search, "program-does-not-search",                                     \
		"the program searches for algorithms itself")                                         \
	X(65, determinism_not_asked, "determinism-not-asked",                                         \
		"an environment variable asks for deterministic algorithms")                          \
	X(66, one_rank_or_decided, "one-rank-or-decided",                                             \
		"the job has several ranks, and the decision file has no entry for this convolution") \
	X(67, plain_problem, "plain-problem",                                                         \
		"the convolution's sizes or types could not be read, or are not handled")             \
	X(68, not_backend_api, "not-backend-api", "the convolution uses cuDNN's graph API")           \
	X(69, decided_before_first_use, "decided-before-first-use",                                   \
		"the convolution first ran without a search, and keeps the program's algorithm")      \
	X(70, asked_as_decided, "asked-as-decided",                                                   \
		"the program asks for another algorithm than when the search ran")                    \
	X(71, problem_budget, "problem-budget",                                                       \
		"as many convolutions were searched as the option search_problems allows")            \
	X(72, time_budget, "time-budget", "searches took as long as the option search_ms allows")     \
	X(73, one_search_at_a_time, "one-search-at-a-time", "another thread was searching")           \
	X(74, streams_idle, "streams-idle", "the device was busy with other work")                    \
	X(75, device_memory, "device-memory", "there was too little free device memory to search")    \
	X(76, search_works, "search-works",                                                           \
		"cuDNN or the driver returned an error during the search")                            \
	X(77, same_result, "same-result",                                                             \
		"the faster algorithm's result differed too much from the program's")                 \
	X(78, gain, "gain", "no algorithm was clearly faster than the program's")                     \
	X(79, workspace_memory, "workspace-memory",                                                   \
		"there was no device memory for the faster algorithm's workspace")                    \
	X(80, no_host_visible_memory, "no-host-visible-memory",                                       \
		"the program has pinned, managed or registered memory, which shows unfinished work")  \
	X(81, no_host_signals, "no-host-signals",                                                     \
		"the program used events, queries, host functions, graphs or collectives")            \
	X(82, no_free_streams, "no-free-streams",                                                     \
		"a stream was destroyed, or one was created that does not synchronise with "          \
		"the legacy stream")                                                                  \
	X(83, no_host_access, "no-host-access",                                                       \
		"the device can access pageable host memory, so the host may observe its order")      \
	X(84, no_event_between, "no-event-between",                                                   \
		"an event was used between the memset and the call that uses its bytes")              \
	X(85, no_minus_zero, "no-minus-zero",                                                         \
		"the result may hold a negative zero, which adding to zeros makes positive")          \
	X(86, known_pool, "known-pool",                                                               \
		"the pool is neither the default pool nor created by a call that was seen")           \
	X(87, decision_is_written, "decision-is-written",                                             \
		"the decision could not be written to the decision file")                             \
	X(88, not_a_replay, "not-a-replay",                                                           \
		"the decision file of an earlier run has no entry for this convolution")              \
	X(89, asked_with_its_workspace, "asked-with-its-workspace",                                   \
		"the program's workspace is too small for the algorithm that it asks for")            \
	X(90, copy_calls, "copy-calls",                                                               \
		"the kernel has no system call that copies without faults")                           \
	X(91, no_fault, "no-fault", "a page of the program's memory could not be read or written")    \
	X(92, whole_pages, "whole-pages",                                                             \
		"the block's size is not a multiple of the device's page size")                       \
	X(93, plain_product, "plain-product",                                                         \
		"the GEMM's types, layouts or scaling are not handled")                               \
	X(94, product_budget, "product-budget",                                                       \
		"as many GEMMs were measured as the option search_problems allows")                   \
	X(95, measuring_works, "measuring-works",                                                     \
		"cuBLASLt or the driver returned an error while the GEMM was measured")               \
	X(96, not_in_window, "not-in-window", "the GEMM was first met in a recorded step")

enum tfs_check {
	TFS_CHECK_none = 0,
#define X(number, constant, name, sentence) TFS_CHECK_##constant = number,
	TFS_CHECKS(X)
#undef X
};

#endif
