/* SPDX-License-Identifier: MIT */
#include "rules/device/searches.h"

#include <stdlib.h>
#include <string.h>

#include "rules/evidence/steady.h"

#define DETERMINISTIC 1u
#define WITHIN_FENCES 8u

struct algorithm {
	const char *name;
	bool transform; /* FFT and Winograd: other roundings, and more memory */
};

/* By cuDNN's numbers. */
static const struct algorithm forward[] = {{"IMPLICIT_GEMM", false},
	{"IMPLICIT_PRECOMP_GEMM", false}, {"GEMM", false}, {"DIRECT", false}, {"FFT", true},
	{"FFT_TILING", true}, {"WINOGRAD", true}, {"WINOGRAD_NONFUSED", true}};
static const struct algorithm data[] = {{"BWD_DATA_ALGO_0", false}, {"BWD_DATA_ALGO_1", false},
	{"BWD_DATA_ALGO_FFT", true}, {"BWD_DATA_ALGO_FFT_TILING", true},
	{"BWD_DATA_ALGO_WINOGRAD", true}, {"BWD_DATA_ALGO_WINOGRAD_NONFUSED", true}};
static const struct algorithm filter[] = {{"BWD_FILTER_ALGO_0", false},
	{"BWD_FILTER_ALGO_1", false}, {"BWD_FILTER_ALGO_FFT", true}, {"BWD_FILTER_ALGO_3", false},
	{"BWD_FILTER_ALGO_WINOGRAD", true}, {"BWD_FILTER_ALGO_WINOGRAD_NONFUSED", true},
	{"BWD_FILTER_ALGO_FFT_TILING", true}};

static struct algorithm find(uint32_t family, uint32_t number)
{
	static const struct algorithm another = {"another algorithm", false};

#define AT(list) (number < sizeof(list) / sizeof(*(list)) ? (list)[number] : another)
	if (family == TFS_FAMILY_conv_backward_data)
		return AT(data);
	return family == TFS_FAMILY_conv_backward_filter ? AT(filter) : AT(forward);
#undef AT
}

bool tfs_search_family(uint32_t family)
{
	return family == TFS_FAMILY_conv_forward || family == TFS_FAMILY_conv_fused ||
	       family == TFS_FAMILY_conv_backward_data || family == TFS_FAMILY_conv_backward_filter;
}

const char *tfs_algorithm_name(uint32_t family, uint32_t algorithm)
{
	return find(family, algorithm).name;
}

const char *tfs_search_function(uint32_t family)
{
	if (family == TFS_FAMILY_conv_backward_data)
		return "cudnnFindConvolutionBackwardDataAlgorithmEx";
	if (family == TFS_FAMILY_conv_backward_filter)
		return "cudnnFindConvolutionBackwardFilterAlgorithmEx";
	return "cudnnFindConvolutionForwardAlgorithmEx";
}

/* The record of an algorithm, with this math type if there is one. */
static const struct tfs_search_record *record_of(
	const struct tfs_trace *trace, uint64_t problem, uint64_t algorithm, uint64_t math)
{
	const struct tfs_search_record *found = NULL;
	size_t count = tfs_trace_count(trace, TFS_RECORD_search);

	for (size_t i = 0; i < count; i++) {
		const struct tfs_search_record *one = tfs_trace_at(trace, TFS_RECORD_search, i);

		if (one->problem != problem || one->algorithm != algorithm || !(one->time_ms > 0))
			continue;
		if (math == UINT32_MAX || one->math == math)
			return one;
		found = one;
	}
	return found;
}

/* Whether it may take the asked one's place: the fences were drawn for the call that came first,
 * which may have asked for something else. */
static bool takes_place(uint32_t family, const struct tfs_search_record *other,
	const struct tfs_search_record *asked)
{
	return other->flags & WITHIN_FENCES && other->math == asked->math && other->time_ms > 0 &&
	       (other->flags & DETERMINISTIC || !(asked->flags & DETERMINISTIC)) &&
	       (!find(family, other->algorithm).transform ||
		       find(family, asked->algorithm).transform);
}

bool tfs_search_find(const struct tfs_timeline *timeline, const struct tfs_host_call *call,
	struct tfs_recorded_search *out_search)
{
	const struct tfs_trace *trace = timeline->trace;
	uint64_t problem = tfs_steady_attribute(call, TFS_ATTRIBUTE_problem, 0);
	uint64_t ran = tfs_steady_attribute(call, TFS_ATTRIBUTE_algorithm, UINT32_MAX);
	uint64_t math = tfs_steady_attribute(call, TFS_ATTRIBUTE_math, UINT32_MAX);
	uint32_t number = (uint32_t)tfs_steady_attribute(call, TFS_ATTRIBUTE_asked_algorithm, ran);
	const struct tfs_search_record *asked = record_of(trace, problem, number, math);
	const struct tfs_search_record *best = asked, *run = record_of(trace, problem, ran, math);

	if (!problem || !asked)
		return false;
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_search); i++) {
		const struct tfs_search_record *one = tfs_trace_at(trace, TFS_RECORD_search, i);

		if (one->problem == problem && one->time_ms < best->time_ms &&
			takes_place(call->family, one, asked))
			best = one;
	}
	*out_search = (struct tfs_recorded_search){.asked = number,
		.best = best->algorithm,
		.asked_ms = asked->time_ms,
		.best_ms = best->time_ms,
		.ran_ms = run ? run->time_ms : -1,
		.best_workspace = best->workspace,
		.substituted = number != ran};
	return true;
}

/* Those that worked, recorded or only counted. */
static uint64_t count_own(const struct tfs_trace *trace)
{
	const struct tfs_total *totals;
	uint64_t made = 0;
	size_t count = tfs_trace_totals(trace, &totals, NULL);

	for (size_t i = 0; i < count; i++) {
		const struct tfs_aggregate *sum = &totals[i].sum;

		if (tfs_trace_family(trace, sum->function) == TFS_FAMILY_conv_find &&
			sum->count > sum->failures)
			made += sum->count - sum->failures;
	}
	return made;
}

bool tfs_own_searches_init(struct tfs_own_searches *own, const struct tfs_timeline *timeline)
{
	uint64_t made = count_own(timeline->trace), known = 0;

	memset(own, 0, sizeof(*own));
	own->limit = tfs_trace_limit(timeline->trace, TFS_RECORD_problem);
	own->problems = calloc(own->limit + 1u, sizeof(*own->problems));
	if (!own->problems)
		return false;
	for (uint32_t i = 0; i < timeline->call_count && made; i++) {
		const struct tfs_host_call *call = &timeline->calls[i];
		uint64_t problem;

		if (call->family != TFS_FAMILY_conv_find || call->record->status)
			continue;
		problem = tfs_steady_attribute(call, TFS_ATTRIBUTE_problem, 0);
		if (!problem || problem >= own->limit)
			continue;
		own->problems[problem] = true;
		known++;
	}
	own->unknown = made > known ? made - known : 0;
	return true;
}

void tfs_own_searches_finish(struct tfs_own_searches *own)
{
	free(own->problems);
	memset(own, 0, sizeof(*own));
}

bool tfs_own_searches_have(const struct tfs_own_searches *own, const struct tfs_host_call *call)
{
	uint64_t problem = tfs_steady_attribute(call, TFS_ATTRIBUTE_problem, 0);

	return problem < own->limit && own->problems[problem];
}
