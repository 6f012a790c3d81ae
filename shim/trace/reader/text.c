/* SPDX-License-Identifier: MIT */
#include "shim/trace/reader/reader.h"

#include <string.h>

#define X(number, name) +1
enum { FAMILY_COUNT = 0 TFS_FAMILIES(X) };
#undef X

size_t tfs_trace_count(const struct tfs_trace *trace, enum tfs_record_kind kind)
{
	return (unsigned)kind < TFS_KINDS ? trace->kinds[kind].count : 0;
}

const void *tfs_trace_at(const struct tfs_trace *trace, enum tfs_record_kind kind, size_t nth)
{
	if (nth >= tfs_trace_count(trace, kind))
		return NULL;
	return trace->bytes + trace->kinds[kind].units[nth] * (size_t)TFS_UNIT;
}

const char *tfs_trace_string(const struct tfs_trace *trace, uint32_t id)
{
	const struct tfs_text_record *record = tfs_trace_find(trace, TFS_RECORD_string, id);

	return record ? (const char *)(record + 1) : "";
}

const char *tfs_trace_function(const struct tfs_trace *trace, uint32_t id)
{
	const struct tfs_function_record *record = tfs_trace_find(trace, TFS_RECORD_function, id);

	return record ? (const char *)(record + 1) : "";
}

const char *tfs_trace_kernel(const struct tfs_trace *trace, uint32_t id)
{
	const struct tfs_text_record *record = tfs_trace_find(trace, TFS_RECORD_kernel, id);

	return record ? (const char *)(record + 1) : "";
}

enum tfs_family tfs_trace_family(const struct tfs_trace *trace, uint32_t function)
{
	const struct tfs_function_record *record =
		tfs_trace_find(trace, TFS_RECORD_function, function);

	return record && record->family < FAMILY_COUNT ? (enum tfs_family)record->family
						       : TFS_FAMILY_other;
}

unsigned tfs_trace_frames(
	const struct tfs_trace *trace, uint32_t site, const uint64_t **out_addresses)
{
	const struct tfs_site_record *record = tfs_trace_find(trace, TFS_RECORD_site, site);

	if (!record)
		return 0;
	*out_addresses = (const uint64_t *)(record + 1);
	return record->frames;
}

bool tfs_trace_problem(
	const struct tfs_trace *trace, uint32_t id, int32_t out_fields[TFS_PROBLEM_FIELD_COUNT])
{
	const struct tfs_problem_record *record = tfs_trace_find(trace, TFS_RECORD_problem, id);
	unsigned count;

	if (!record)
		return false;
	count = record->fields < TFS_PROBLEM_FIELD_COUNT ? record->fields : TFS_PROBLEM_FIELD_COUNT;
	memset(out_fields, 0, TFS_PROBLEM_FIELD_COUNT * sizeof(*out_fields));
	memcpy(out_fields, record + 1, count * sizeof(*out_fields));
	return true;
}

const char *tfs_trace_check(uint16_t check)
{
	static const char *const names[] = {
#define X(number, constant, name, sentence) [number] = name,
		TFS_CHECKS(X)
#undef X
	};

	return check < sizeof(names) / sizeof(*names) && names[check] ? names[check] : "unknown";
}

const struct tfs_module_record *tfs_trace_module(const struct tfs_trace *trace, uint64_t address)
{
	for (size_t i = tfs_trace_count(trace, TFS_RECORD_module); i-- > 0;) {
		const struct tfs_module_record *module = tfs_trace_at(trace, TFS_RECORD_module, i);

		if (address >= module->start && address < module->end)
			return module;
	}
	return NULL;
}

const struct tfs_fact_record *tfs_trace_fact(const struct tfs_trace *trace, enum tfs_fact_code fact)
{
	for (size_t i = tfs_trace_count(trace, TFS_RECORD_fact); i-- > 0;) {
		const struct tfs_fact_record *record = tfs_trace_at(trace, TFS_RECORD_fact, i);

		if (record->fact == fact)
			return record;
	}
	return NULL;
}
