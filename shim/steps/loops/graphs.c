/* SPDX-License-Identifier: MIT */
#include "shim/steps/loops/graphs.h"

#include <stddef.h>
#include <string.h>

#include "shim/steps/loops/loops_log.h"

#define HANDLES 1024u
#define CAPTURES 8u
#define WORKS (1u << 16)
#define OPERANDS (1u << 18)
#define DEAD UINT32_MAX

/* Work, one behind the other; those of several graphs are mixed where they are built at once. */
struct work {
	uint32_t site;
	uint32_t count;
	uint32_t first; /* operand */
	uint32_t next;  /* of the same graph, 1 + index; 0 = the last so far */
};

/* A graph has the first so many works of a list, which may go on for another one. */
struct list {
	uint64_t handle; /* of a graph, or of an executable one; 0 = none */
	uint32_t first;  /* 1 + index */
	uint32_t last;
	uint32_t count;
};

struct capture {
	uint64_t thread; /* 0 = none */
	uint32_t stream;
	struct list list;
};

struct tfs_graphs {
	uint32_t handle_count; /* all; the latest are kept */
	uint32_t capturing;
	uint32_t work_count;
	uint32_t operand_count;
	struct list lists[HANDLES];
	struct capture captures[CAPTURES];
	struct work works[WORKS];
	uint32_t moved[WORKS]; /* while it is tidied up */
	uint64_t operands[OPERANDS];
};

uint64_t tfs_graphs_bytes(void)
{
	return sizeof(struct tfs_graphs);
}

struct tfs_graphs *tfs_graphs_init(void *memory)
{
	return memory;
}

uint32_t tfs_graphs_capturing(const struct tfs_graphs *graphs)
{
	return graphs->capturing;
}

/* A handle may come again: its list is then another one. */
static struct list *find(struct tfs_graphs *graphs, uint64_t handle)
{
	const uint32_t kept = graphs->handle_count < HANDLES ? graphs->handle_count : HANDLES;

	for (uint32_t i = 1; handle != 0 && i <= kept; i++) {
		struct list *list = &graphs->lists[(graphs->handle_count - i) % HANDLES];

		if (list->handle == handle)
			return list;
	}
	return NULL;
}

static struct list *find_or_add(struct tfs_graphs *graphs, uint64_t handle)
{
	struct list *list = find(graphs, handle);

	if (!list && handle != 0) {
		list = &graphs->lists[graphs->handle_count++ % HANDLES];
		*list = (struct list){.handle = handle};
	}
	return list;
}

static void keep(struct tfs_graphs *graphs, const struct list *list)
{
	uint32_t at = list->first;

	for (uint32_t i = 0; i < list->count; i++) {
		graphs->moved[at - 1] = 0;
		at = graphs->works[at - 1].next;
	}
}

static void move_list(const struct tfs_graphs *graphs, struct list *list)
{
	if (list->count == 0)
		return;
	list->first = graphs->moved[list->first - 1] + 1;
	list->last = graphs->moved[list->last - 1] + 1;
}

/* Moves together what is still led to. A list's end is the last that is kept of it. */
static void tidy_up(struct tfs_graphs *graphs)
{
	uint32_t works = 0, operands = 0;

	for (uint32_t i = 0; i < graphs->work_count; i++)
		graphs->moved[i] = DEAD;
	for (uint32_t i = 0; i < HANDLES; i++)
		keep(graphs, &graphs->lists[i]);
	for (uint32_t i = 0; i < CAPTURES; i++)
		keep(graphs, &graphs->captures[i].list);
	for (uint32_t i = 0; i < graphs->work_count; i++)
		if (graphs->moved[i] != DEAD)
			graphs->moved[i] = works++;
	for (uint32_t i = 0; i < graphs->work_count; i++) {
		struct work work = graphs->works[i];

		if (graphs->moved[i] == DEAD)
			continue;
		memmove(&graphs->operands[operands], &graphs->operands[work.first],
			work.count * sizeof(graphs->operands[0]));
		work.first = operands;
		operands += work.count;
		if (work.next != 0)
			work.next = graphs->moved[work.next - 1] != DEAD
					    ? graphs->moved[work.next - 1] + 1
					    : 0;
		graphs->works[graphs->moved[i]] = work;
	}
	for (uint32_t i = 0; i < HANDLES; i++)
		move_list(graphs, &graphs->lists[i]);
	for (uint32_t i = 0; i < CAPTURES; i++)
		move_list(graphs, &graphs->captures[i].list);
	graphs->work_count = works;
	graphs->operand_count = operands;
}

static bool has_room(const struct tfs_graphs *graphs, uint32_t count)
{
	return graphs->work_count < WORKS && graphs->operand_count + count <= OPERANDS;
}

/* A part of what a graph does is worse than nothing: then nothing is known of any. */
static void begin_anew(struct tfs_graphs *graphs)
{
	graphs->handle_count = graphs->work_count = graphs->operand_count = 0;
	memset(graphs->lists, 0, sizeof(graphs->lists));
	for (uint32_t i = 0; i < CAPTURES; i++)
		graphs->captures[i].list = (struct list){0};
}

/* Only where tidying up gains enough that it is rare. */
static void make_room(struct tfs_graphs *graphs, uint32_t count)
{
	if (has_room(graphs, count))
		return;
	tidy_up(graphs);
	if (graphs->work_count > WORKS / 4 * 3 || graphs->operand_count > OPERANDS / 4 * 3)
		begin_anew(graphs);
}

/* The next work, behind `list`; its operands are still to come. */
static struct work *append(struct tfs_graphs *graphs, struct list *list, uint32_t site)
{
	const uint32_t at = ++graphs->work_count;

	graphs->works[at - 1] = (struct work){.site = site, .first = graphs->operand_count};
	if (list->count == 0)
		list->first = at;
	else
		graphs->works[list->last - 1].next = at;
	list->last = at;
	list->count++;
	return &graphs->works[at - 1];
}

static void add(struct tfs_graphs *graphs, struct list *list, uint32_t site,
	const struct tfs_loops_operand *operands, uint32_t count)
{
	struct work *work = append(graphs, list, site);

	for (uint32_t i = 0; i < count; i++)
		if (operands[i].address != 0) {
			graphs->operands[graphs->operand_count++] = tfs_log_operand(&operands[i]);
			work->count++;
		}
}

/* What was made of a list while it was shorter ends where the list did then, so a list that has a
 * longer rest behind it must not go on there: it goes on in a copy. */
static bool is_shared(const struct tfs_graphs *graphs, const struct list *list)
{
	return list->count > 0 && graphs->works[list->last - 1].next != 0;
}

/* False where there was no room for all of it, and all is forgotten. */
static bool copy_list(struct tfs_graphs *graphs, const struct list *from, struct list *to)
{
	if (graphs->work_count + from->count > WORKS)
		tidy_up(graphs);
	struct list source = *from;

	for (uint32_t at = source.first; source.count > 0; source.count--) {
		const struct work work = graphs->works[at - 1];

		if (!has_room(graphs, work.count)) {
			begin_anew(graphs);
			return false;
		}
		append(graphs, to, work.site)->count = work.count;
		memcpy(&graphs->operands[graphs->operand_count], &graphs->operands[work.first],
			work.count * sizeof(graphs->operands[0]));
		graphs->operand_count += work.count;
		at = work.next;
	}
	return true;
}

static bool go_on(struct tfs_graphs *graphs, struct list *list)
{
	struct list own = {.handle = list->handle};

	if (!is_shared(graphs, list))
		return true;
	if (!copy_list(graphs, list, &own))
		return false;
	*list = own;
	return true;
}

/* A free place, or that of a capture of this stream that was not seen to end; NULL = none. */
static struct capture *capture_place(struct tfs_graphs *graphs, uint32_t stream)
{
	struct capture *place = NULL;

	for (uint32_t i = 0; i < CAPTURES; i++) {
		struct capture *capture = &graphs->captures[i];

		if (capture->thread != 0 && capture->stream == stream)
			return capture;
		if (capture->thread == 0 && !place)
			place = capture;
	}
	return place;
}

void tfs_graphs_capture(struct tfs_graphs *graphs, uint64_t thread, uint32_t stream, uint64_t into)
{
	const struct list *list = find(graphs, into);
	struct capture *capture = capture_place(graphs, stream);

	if (!capture)
		return;
	graphs->capturing += capture->thread == 0;
	*capture = (struct capture){.thread = thread, .stream = stream};
	if (list)
		capture->list = *list;
}

/* The one of its stream, which another thread may have begun; else the thread's own. */
static struct capture *find_capture(struct tfs_graphs *graphs, uint64_t thread, uint32_t stream)
{
	struct capture *own = NULL;

	for (uint32_t i = 0; i < CAPTURES && graphs->capturing != 0; i++) {
		struct capture *capture = &graphs->captures[i];

		if (capture->thread != 0 && capture->stream == stream)
			return capture;
		if (capture->thread == thread)
			own = capture;
	}
	return own;
}

void tfs_graphs_captured(
	struct tfs_graphs *graphs, uint64_t thread, uint32_t stream, uint64_t graph)
{
	struct capture *capture = find_capture(graphs, thread, stream);

	if (!capture)
		return;
	struct list *list = find_or_add(graphs, graph);
	if (list) {
		*list = capture->list;
		list->handle = graph;
	}
	*capture = (struct capture){0};
	graphs->capturing--;
}

bool tfs_graphs_call(struct tfs_graphs *graphs, uint64_t thread, uint32_t stream, uint32_t site,
	const struct tfs_loops_operand *operands, uint32_t count)
{
	struct capture *capture = find_capture(graphs, thread, stream);

	if (!capture)
		return false;
	make_room(graphs, count);
	if (go_on(graphs, &capture->list) && has_room(graphs, count))
		add(graphs, &capture->list, site, operands, count);
	return true;
}

void tfs_graphs_node(struct tfs_graphs *graphs, uint64_t graph, uint32_t site,
	const struct tfs_loops_operand *operands, uint32_t count)
{
	make_room(graphs, count);
	struct list *list = find_or_add(graphs, graph);
	if (!list)
		return;
	if (go_on(graphs, list) && has_room(graphs, count))
		add(graphs, list, site, operands, count);
}

void tfs_graphs_child(struct tfs_graphs *graphs, uint64_t graph, uint64_t child)
{
	struct list *list = find_or_add(graphs, graph);
	const struct list *from = find(graphs, child);

	if (!list || !from || list == from)
		return;
	if (go_on(graphs, list))
		copy_list(graphs, from, list);
}

void tfs_graphs_made(struct tfs_graphs *graphs, uint64_t made, uint64_t graph)
{
	const struct list *from = find(graphs, graph);
	struct list list = from ? *from : (struct list){0};
	struct list *to = from ? find_or_add(graphs, made) : find(graphs, made);

	/* Of what nobody saw, nothing is known; the handle may have been another's. */
	list.handle = made;
	if (to)
		*to = list;
}

bool tfs_graphs_next(const struct tfs_graphs *graphs, uint64_t graph, uint64_t *cursor,
	struct tfs_graphs_work *out_work)
{
	const struct list *list = find((struct tfs_graphs *)(uintptr_t)graphs, graph);
	const uint32_t done = (uint32_t)(*cursor >> 32);

	if (!list || done >= list->count)
		return false;
	const uint32_t at = done == 0 ? list->first : (uint32_t)*cursor;
	const struct work *work = &graphs->works[at - 1];
	*cursor = (uint64_t)(done + 1) << 32 | work->next;
	*out_work =
		(struct tfs_graphs_work){work->site, work->count, &graphs->operands[work->first]};
	return true;
}
