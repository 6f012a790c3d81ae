/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_TRACE_FORMAT_REASON_H
#define TFS_SHIM_TRACE_FORMAT_REASON_H

/*
 * Part of format.h: why a rewrite is as it is. The traced process writes the number of a reason and
 * the figures that belong to it; the sentence is for people, and only the report uses it. In it
 * {0}..{3} are the record's `numbers`, {bytes} the first of them with a unit, {v0} and {v1} its
 * `values`, {object} the name it gives, {check} the sentence of the check that has the first
 * number, {2?TEXT} is TEXT where that number is not 0 (# in it
 * stands for the number), {v0?TEXT} likewise of a value, and {model} says what the rewrite's own
 * model has decided.
 */

#include <stdint.h>

#define TFS_REASONS(X)                                                                             \
	X(1, graph_api,                                                                            \
		"convolutions of cuDNN's graph API are left alone: its numerical notes describe "  \
		"engines, not the knobs that change how a configuration splits its sums")          \
	X(2, undecided,                                                                            \
		"{4?from an earlier run: }A/B over {0} pairs of blocks of {1} steps{2?, on the "   \
		"slowest of # ranks}{3?, measured again after the steps changed}: undecided"       \
		"{v0? (needs about # more steps)}, off; the next run continues the measurement")   \
	X(3, faster,                                                                               \
		"{4?from an earlier run: }A/B over {0} pairs of blocks of {1} steps{2?, on the "   \
		"slowest of # ranks}{3?, measured again after the steps changed}: faster")         \
	X(4, slower,                                                                               \
		"{4?from an earlier run: }A/B over {0} pairs of blocks of {1} steps{2?, on the "   \
		"slowest of # ranks}{3?, measured again after the steps changed}: slower, "        \
		"switched off")                                                                    \
	X(5, no_difference,                                                                        \
		"{4?from an earlier run: }A/B over {0} pairs of blocks of {1} steps{2?, on the "   \
		"slowest of # ranks}{3?, measured again after the steps changed}: no measurable "  \
		"difference, switched off")                                                        \
	X(6, ranks_measured,                                                                       \
		"measured over {0} ranks; off until 'tfshim report FOLDER' has judged the "        \
		"measurement")                                                                     \
	X(7, too_few_steps, "not measured, too few training steps were found{model}")              \
	X(8, measure_off, "not measured, switched off by measure=0")                               \
	X(9, run_too_short, "the run was too short to measure the rewrite: undecided, off")        \
	X(10, algorithm_differs,                                                                   \
		"algorithm {0} in place of {1} differs by {v0} where the largest value is {v1}")   \
	X(11, free_reported_error, "the free of {bytes} was the first to report an error")         \
	X(12, written_after_free, "a block of {bytes} was written after its free")                 \
	X(13, properties_changed, "the properties of device {0} have changed")                     \
	X(14, attribute_changed, "attribute {0} of device {1} has changed")                        \
	X(15, zeroed_differs,                                                                      \
		"the result on {bytes} of zeroed memory differed from that without zeroing")       \
	X(16, copy_in_differs,                                                                     \
		"a copy of {0} bytes to the device differed from byte {1} on; {2} bytes compared") \
	X(17, copy_out_differs,                                                                    \
		"a copy of {0} bytes to the host differed from byte {1} on; {2} bytes compared")   \
	X(18, threshold_strange,                                                                   \
		"the pool's release threshold is {0}, which the program did not set")              \
	X(19, at_work, "the device was busy after all streams had been synchronised")              \
	X(20, wait_reported_error,                                                                 \
		"synchronising all streams was the first call to report an error")                 \
	X(21, ended_abnormally,                                                                    \
		"off, because an earlier run ended abnormally while a rewrite acted; delete "      \
		"{object} to allow rewrites again")                                                \
	X(22, caused, "{check}: {object}")                                                         \
	X(23, only_measures, "only measures: no call is changed")

enum tfs_reason_code {
	TFS_REASON_none = 0,
#define X(number, constant, sentence) TFS_REASON_##constant = number,
	TFS_REASONS(X)
#undef X
};

/* A reason with its figures; zeroed = none. */
struct tfs_reason {
	uint16_t code; /* enum tfs_reason_code */
	uint16_t reserved0;
	uint32_t object; /* string id of a name, 0 = none */
	uint64_t numbers[5];
	double values[2];
};

#endif
