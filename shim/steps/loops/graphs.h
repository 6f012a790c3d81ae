/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_STEPS_LOOPS_GRAPHS_H
#define TFS_SHIM_STEPS_LOOPS_GRAPHS_H

/*
 * What graphs do, as far as it was seen: the calls that were captured into them and the nodes that
 * were added to them, by whichever thread. Pure, like the search; its owner lets in one thread at a
 * time. It forgets what no handle leads to any more, and all of it when there is too much.
 */

#include <stdbool.h>
#include <stdint.h>

struct tfs_graphs;
struct tfs_loops_operand;

/* Work of a graph. Its operands are as the search logs them. */
struct tfs_graphs_work {
	uint32_t site;  /* of the call, or of whatever makes it another one */
	uint32_t count; /* operands */
	const uint64_t *operands;
};

/* Bytes of memory that tfs_graphs_init() needs, of which only what is used is touched. */
uint64_t tfs_graphs_bytes(void);

/* Begins in zeroed memory that the caller owns. */
struct tfs_graphs *tfs_graphs_init(void *memory);

/* `thread` captures what comes on `stream`, behind what `into` has, if that is not 0, until
 * tfs_graphs_captured() says which graph it became; 0 = none. */
void tfs_graphs_capture(struct tfs_graphs *graphs, uint64_t thread, uint32_t stream, uint64_t into);
void tfs_graphs_captured(
	struct tfs_graphs *graphs, uint64_t thread, uint32_t stream, uint64_t graph);

/* Captures that are under way. */
uint32_t tfs_graphs_capturing(const struct tfs_graphs *graphs);

/* A call, which is captured where its thread captures anything, or anybody its stream: then true.
 */
bool tfs_graphs_call(struct tfs_graphs *graphs, uint64_t thread, uint32_t stream, uint32_t site,
	const struct tfs_loops_operand *operands, uint32_t count);

/* A node is added to a graph. */
void tfs_graphs_node(struct tfs_graphs *graphs, uint64_t graph, uint32_t site,
	const struct tfs_loops_operand *operands, uint32_t count);

/* All that a graph has is added to another one. */
void tfs_graphs_child(struct tfs_graphs *graphs, uint64_t graph, uint64_t child);

/* An executable graph, or a copy, has from now on what `graph` has now; a new one nothing, where
 * that is 0. */
void tfs_graphs_made(struct tfs_graphs *graphs, uint64_t made, uint64_t graph);

/* Goes through what a graph does: the work after `cursor`, which begins as 0 and is moved on; false
 * where that was the last. */
bool tfs_graphs_next(const struct tfs_graphs *graphs, uint64_t graph, uint64_t *cursor,
	struct tfs_graphs_work *out_work);

#endif
