/* SPDX-License-Identifier: MIT */
/*
 * What the device did, and which call made it: activity_dump FILE.tfs
 *
 *	kernel NAME by FUNCTION      memset by FUNCTION      memcpy by FUNCTION
 *	sync TYPE by FUNCTION        overhead KIND           memory OPERATION by FUNCTION
 *
 * each followed by how often, from how many call sites, and how many belong to a graph's launch.
 */
#include "shim/trace/trace.h"
#include "tests/test.h"

#define LINES 256

static struct line {
	char text[160];
	unsigned count, sites, nodes;
	uint32_t seen[16];
} lines[LINES];
static size_t line_count;
static const struct tfs_call **calls; /* by unit */
static size_t units;

static void list_calls(const struct tfs_trace *trace)
{
	const struct tfs_trace_thread *threads;
	size_t count = tfs_trace_threads(trace, &threads);

	units = tfs_trace_summary(trace)->bytes / TFS_UNIT + 1;
	calls = calloc(units, sizeof(const struct tfs_call *));
	TEST_NEED(calls);
	for (size_t i = 0; i < count; i++) {
		const struct tfs_call *call;
		struct tfs_cursor cursor;

		tfs_cursor_start(&cursor, trace, i);
		while ((call = tfs_cursor_next(&cursor)))
			calls[tfs_trace_unit(trace, call)] = call;
	}
}

static const struct tfs_call *cause(const struct tfs_trace *trace, uint32_t correlation)
{
	static size_t hint;
	size_t count = tfs_trace_count(trace, TFS_RECORD_link);

	for (size_t i = 0; i < count; i++) {
		const struct tfs_link_record *link =
			tfs_trace_at(trace, TFS_RECORD_link, (hint + i) % count);

		if (link->correlation != correlation)
			continue;
		hint = (hint + i) % count;
		return link->call_unit < units ? calls[link->call_unit] : NULL;
	}
	return NULL;
}

static void add(const struct tfs_trace *trace, const char *what, const char *name,
	uint32_t correlation, bool node)
{
	const struct tfs_call *call = cause(trace, correlation);
	char text[sizeof(lines[0].text)];
	struct line *line = lines;
	unsigned i = 0;

	snprintf(text, sizeof(text), "%s%s%s by %s", what, *name ? " " : "", name,
		call ? tfs_trace_function(trace, call->function) : "nobody");
	while (line < lines + line_count && strcmp(line->text, text) != 0)
		line++;
	if (line == lines + LINES)
		return;
	line_count += line == lines + line_count;
	strcpy(line->text, text);
	line->count++;
	line->nodes += node;
	while (call && i < line->sites && line->seen[i] != call->site)
		i++;
	if (call && i == line->sites && line->sites < 16)
		line->seen[line->sites++] = call->site;
}

static void add_number(
	const struct tfs_trace *trace, const char *what, unsigned number, uint32_t correlation)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", number);
	add(trace, what, name, correlation, false);
}

int main(int count, char **words)
{
	static const char *const kinds[] = {"?", "kernel", "memcpy", "memset", "graph"};
	struct tfs_trace *trace;

	if (count < 2)
		return test_skip("no recording stated");
	if (!TEST_EQ(tfs_trace_open(words[1], NULL, &trace), 0))
		return test_result();
	list_calls(trace);
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_device_op); i++) {
		const struct tfs_device_op_record *op =
			tfs_trace_at(trace, TFS_RECORD_device_op, i);
		const unsigned kind = op->operation < 5 ? op->operation : 0;

		add(trace, kinds[kind],
			kind == TFS_DEVICE_KERNEL ? tfs_trace_kernel(trace, op->kernel) : "",
			op->correlation, op->flags & 2);
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_device_sync); i++) {
		const struct tfs_device_sync_record *sync =
			tfs_trace_at(trace, TFS_RECORD_device_sync, i);

		add_number(trace, "sync", sync->type, sync->correlation);
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_device_memory); i++) {
		const struct tfs_device_memory_record *memory =
			tfs_trace_at(trace, TFS_RECORD_device_memory, i);

		add_number(trace, "memory", memory->operation, memory->correlation);
	}
	for (size_t i = 0; i < tfs_trace_count(trace, TFS_RECORD_overhead); i++) {
		const struct tfs_overhead_record *overhead =
			tfs_trace_at(trace, TFS_RECORD_overhead, i);

		add_number(trace, "overhead", overhead->kind, overhead->correlation);
	}
	for (size_t i = 0; i < line_count; i++)
		printf("%s: %u, sites %u, nodes %u\n", lines[i].text, lines[i].count,
			lines[i].sites, lines[i].nodes);
	tfs_trace_close(trace);
	free(calls);
	return test_result();
}
