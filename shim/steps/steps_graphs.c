/* SPDX-License-Identifier: MIT */
#include "shim/steps/steps_graphs.h"

#include <errno.h>
#include <sys/mman.h>

#include "shim/base/spin.h"
#include "shim/steps/loops/graphs.h"
#include "shim/steps/loops/loops.h"

_Atomic uint32_t tfs_step_graphs_capturing;
static struct tfs_spin lock;
static struct tfs_graphs *graphs; /* of all threads; NULL: none yet, or no memory */
static bool released;

static uint64_t attribute(const struct tfs_details *details, enum tfs_attribute which)
{
	for (uint32_t i = 0; i < details->count; i++)
		if ((TFS_ITEM_ROLE(&details->items[i]) & TFS_ROLE_OPERAND) == 0 &&
			TFS_ITEM_LOW(&details->items[i]) == which)
			return details->items[i].value;
	return 0;
}

static bool is_there(void)
{
	const int saved = errno;

	if (!graphs && !released) {
		void *memory = mmap(NULL, tfs_graphs_bytes(), PROT_READ | PROT_WRITE,
			MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

		graphs = memory != MAP_FAILED ? tfs_graphs_init(memory) : NULL;
	}
	errno = saved;
	return graphs != NULL;
}

/* One call may add many nodes, each of another kernel. */
static uint32_t node_site(const struct tfs_frame *frame, const struct tfs_details *details)
{
	const uint64_t kernel = attribute(details, TFS_ATTRIBUTE_kernel) |
				(attribute(details, TFS_ATTRIBUTE_launch) & 0xffff);

	return frame->entry->site ^ (uint32_t)kernel * UINT32_C(0x85EBCA6B);
}

static void take_making(const struct tfs_frame *frame, const struct tfs_details *details,
	const struct tfs_loops_operand *operands, uint32_t count)
{
	const uint64_t graph = attribute(details, TFS_ATTRIBUTE_graph);
	const uint64_t made = attribute(details, TFS_ATTRIBUTE_executable);
	const uint64_t child = attribute(details, TFS_ATTRIBUTE_child);

	if (made != 0)
		tfs_graphs_made(graphs, made, graph);
	else if (child != 0)
		tfs_graphs_child(graphs, graph, child);
	else if (count > 0)
		tfs_graphs_node(graphs, graph, node_site(frame, details), operands, count);
}

static bool take(const struct tfs_frame *frame, const struct tfs_details *details,
	const struct tfs_loops_operand *operands, uint32_t count)
{
	const uint64_t thread = (uint64_t)(uintptr_t)frame->thread;
	const uint64_t graph = attribute(details, TFS_ATTRIBUTE_graph);

	switch (frame->entry->function->family) {
	case TFS_FAMILY_capture:
		if (frame->status == 0)
			tfs_graphs_capture(graphs, thread, details->stream, graph);
		return false;
	case TFS_FAMILY_capture_end:
		tfs_graphs_captured(graphs, thread, details->stream, graph);
		return false;
	case TFS_FAMILY_graph_other:
	case TFS_FAMILY_graph_instantiate:
	case TFS_FAMILY_graph_update:
		if (frame->status == 0)
			take_making(frame, details, operands, count);
		return true;
	default:
		return count > 0 && tfs_graphs_call(graphs, thread, details->stream,
					    frame->entry->site, operands, count);
	}
}

bool tfs_step_graphs_take(const struct tfs_frame *frame, const struct tfs_details *details,
	const struct tfs_loops_operand *operands, uint32_t count)
{
	bool taken = false;

	tfs_spin_lock(&lock);
	if (is_there()) {
		taken = take(frame, details, operands, count);
		atomic_store_explicit(&tfs_step_graphs_capturing, tfs_graphs_capturing(graphs),
			memory_order_relaxed);
	}
	tfs_spin_unlock(&lock);
	return taken;
}

uint32_t tfs_step_graphs_launched(
	struct tfs_loops *loops, const struct tfs_frame *frame, const struct tfs_details *details)
{
	const uint64_t *frames;
	const uint32_t depth = tfs_callsite_frames(frame->entry->site, &frames);
	uint32_t logged = 0;

	tfs_spin_lock(&lock);
	if (graphs)
		logged = tfs_loops_launched(loops, frame->entry->site, frames, depth, graphs,
			attribute(details, TFS_ATTRIBUTE_graph));
	tfs_spin_unlock(&lock);
	return logged;
}

void tfs_step_graphs_release(void)
{
	const int saved = errno;
	void *memory;

	tfs_spin_lock(&lock);
	memory = graphs;
	graphs = NULL;
	released = true;
	atomic_store(&tfs_step_graphs_capturing, 0);
	tfs_spin_unlock(&lock);
	if (memory)
		munmap(memory, tfs_graphs_bytes());
	errno = saved;
}
