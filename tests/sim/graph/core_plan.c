/* SPDX-License-Identifier: MIT */
#include "tests/sim/graph/core_graph.h"

#include <stdlib.h>
#include <string.h>

static struct CUgraphExec_st *execs;
static uint32_t next_exec_id = 1;

/* What is not enabled is as an empty node. */
static struct sim_payload *acts(const struct sim_step *step)
{
	return step->disabled ? NULL : step->payload;
}

void sim_plan_unref(struct sim_plan *plan)
{
	if (!plan || --plan->refs)
		return;
	for (unsigned i = 0; i < plan->count; i++) {
		sim_payload_unref(plan->steps[i].payload);
		free(plan->steps[i].deps);
	}
	sim_users_free(&plan->users);
	free(plan->steps);
	free(plan);
}

bool sim_plan_meets(const struct sim_plan *plan)
{
	for (unsigned i = 0; plan && i < plan->count; i++) {
		const struct sim_payload *payload = acts(&plan->steps[i]);

		if (payload && (payload->work.kind == TFSIM_HOST || payload->work.meets))
			return true;
	}
	return false;
}

uint64_t sim_plan_claim(const struct sim_plan *plan)
{
	uint64_t ns = 0;

	for (unsigned i = 0; plan && i < plan->count; i++)
		if (acts(&plan->steps[i]))
			ns += sim_managed_claim(&plan->steps[i].payload->work);
	return ns;
}

static uint64_t cost_of(const struct sim_step *step)
{
	const struct sim_payload *payload = acts(step);

	return payload ? payload->work.cost_ns : 0;
}

void sim_plan_return(const struct sim_plan *plan)
{
	for (unsigned i = 0; plan && i < plan->count; i++)
		if (plan->steps[i].payload)
			sim_managed_return(&plan->steps[i].payload->work);
}

/* Independent branches overlap in modelled time; the results are computed one after the other. */
void sim_plan_time(struct sim_plan *plan)
{
	const uint64_t gap_ns = tfsim_cost_ns((uint64_t)sim.profile->gap.median_ns);

	plan->cost_ns = 0;
	for (unsigned i = 0; i < plan->count; i++) {
		struct sim_step *step = &plan->steps[i];
		uint64_t end;

		step->offset_ns = 0;
		for (unsigned d = 0; d < step->dep_count; d++) {
			const struct sim_step *dep = &plan->steps[step->deps[d]];

			end = dep->offset_ns + (acts(dep) ? cost_of(dep) + gap_ns : 0);
			step->offset_ns = end > step->offset_ns ? end : step->offset_ns;
		}
		end = step->offset_ns + cost_of(step);
		plan->cost_ns = end > plan->cost_ns ? end : plan->cost_ns;
	}
}

static struct sim_step *add_step(struct sim_plan *plan)
{
	struct sim_step *grown = realloc(plan->steps, (plan->count + 1) * sizeof(*grown));

	if (!grown)
		return NULL;
	plan->steps = grown;
	memset(&grown[plan->count], 0, sizeof(*grown));
	return &grown[plan->count++];
}

static bool step_depends(struct sim_step *step, unsigned on)
{
	unsigned *grown = realloc(step->deps, (step->dep_count + 1) * sizeof(*grown));

	if (!grown)
		return false;
	step->deps = grown;
	step->deps[step->dep_count++] = on;
	return true;
}

/* ends[place] is the step whose end is the node's end. */
static bool flatten(struct sim_plan *plan, struct CUgraph_st *graph, int entry, unsigned *out_end);

static bool add_node(struct sim_plan *plan, struct CUgraphNode_st *node, int entry, unsigned *ends)
{
	struct sim_step *step = add_step(plan);
	unsigned at = plan->count - 1;

	if (!step)
		return false;
	step->node = node;
	step->node_id = node->id;
	step->type = node->type;
	step->event = node->event;
	step->payload = node->payload ? sim_payload_ref(node->payload) : NULL;
	for (unsigned i = 0; i < node->dep_count; i++)
		if (!step_depends(step, ends[node->deps[i]->place]))
			return false;
	if (node->dep_count == 0 && entry >= 0 && !step_depends(step, (unsigned)entry))
		return false;
	ends[node->place] = at;
	return !node->child || flatten(plan, node->child, (int)at, &ends[node->place]);
}

/* A child graph is an empty step before its nodes and one after them. */
static bool flatten(struct sim_plan *plan, struct CUgraph_st *graph, int entry, unsigned *out_end)
{
	struct CUgraphNode_st **nodes;
	struct sim_step *join;
	unsigned *ends;
	bool ok = sim_users_copy(&plan->users, &graph->users) && sim_graph_order(graph, &nodes);

	if (!ok)
		return false;
	ends = calloc(graph->count + 1, sizeof(*ends));
	ok = ends != NULL;
	for (unsigned i = 0; ok && i < graph->count; i++)
		ok = add_node(plan, nodes[i], entry, ends);
	if (ok && out_end) {
		join = add_step(plan);
		ok = join != NULL;
		if (ok)
			join->type = cudaGraphNodeTypeEmpty;
		for (unsigned i = 0; ok && i < graph->count; i++)
			ok = step_depends(join, ends[i]);
		if (ok && graph->count == 0)
			ok = step_depends(join, (unsigned)entry);
		*out_end = plan->count - 1;
	}
	free(ends);
	free(nodes);
	return ok;
}

struct sim_plan *sim_plan_create(struct CUgraph_st *graph)
{
	struct sim_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return NULL;
	plan->refs = 1;
	if (!flatten(plan, graph, -1, NULL)) {
		sim_plan_unref(plan);
		return NULL;
	}
	sim_plan_time(plan);
	return plan;
}

struct sim_plan *sim_plan_copy(const struct sim_plan *plan)
{
	struct sim_plan *copy = calloc(1, sizeof(*copy));

	if (!copy)
		return NULL;
	copy->refs = 1;
	if (!sim_users_copy(&copy->users, &plan->users)) {
		sim_plan_unref(copy);
		return NULL;
	}
	for (unsigned i = 0; i < plan->count; i++) {
		const struct sim_step *from = &plan->steps[i];
		struct sim_step *to = add_step(copy);

		if (!to) {
			sim_plan_unref(copy);
			return NULL;
		}
		*to = *from;
		to->deps = NULL;
		to->dep_count = 0;
		to->payload = from->payload ? sim_payload_ref(from->payload) : NULL;
		for (unsigned d = 0; d < from->dep_count; d++)
			if (!step_depends(to, from->deps[d])) {
				sim_plan_unref(copy);
				return NULL;
			}
	}
	copy->cost_ns = plan->cost_ns;
	return copy;
}

struct CUgraph_st *sim_plan_graph(const struct sim_plan *plan)
{
	struct CUgraphNode_st **nodes = calloc(plan->count + 1, sizeof(*nodes));
	struct CUgraph_st *graph = nodes ? sim_graph_create() : NULL;
	bool ok = graph && sim_users_copy(&graph->users, &plan->users);

	for (unsigned i = 0; ok && i < plan->count; i++) {
		const struct sim_step *step = &plan->steps[i];

		nodes[i] = sim_graph_add(graph,
			step->type == cudaGraphNodeTypeGraph ? cudaGraphNodeTypeEmpty : step->type,
			acts(step), NULL, 0);
		ok = nodes[i] != NULL;
		for (unsigned d = 0; ok && d < step->dep_count; d++)
			ok = sim_node_depend(nodes[i], nodes[step->deps[d]]);
		if (ok)
			nodes[i]->event = step->event;
	}
	free(nodes);
	if (graph && !ok) {
		sim_graph_free(graph);
		return NULL;
	}
	return graph;
}

struct CUgraphExec_st *sim_exec_check(cudaGraphExec_t exec)
{
	struct CUgraphExec_st *e = execs;

	while (e && e != exec)
		e = e->next;
	return e;
}

struct sim_step *sim_exec_step(struct CUgraphExec_st *exec, const struct CUgraphNode_st *node)
{
	struct sim_plan *own = sim_plan_copy(exec->plan);

	if (!own)
		return NULL;
	sim_plan_unref(exec->plan);
	exec->plan = own;
	for (unsigned i = 0; i < own->count; i++)
		if (own->steps[i].node == node)
			return &own->steps[i];
	return NULL;
}

cudaError_t tfsim_graph_instantiate(
	cudaGraphExec_t *out_exec, cudaGraph_t graph, unsigned long long flags)
{
	const uint64_t start_ns = tfsim_now_ns();
	struct CUgraphExec_st *exec;
	cudaError_t error = sim_enter();
	uint64_t nodes = 0;

	if (error != cudaSuccess)
		return error;
	if (!out_exec)
		return cudaErrorInvalidValue;
	pthread_mutex_lock(&sim.lock);
	exec = sim_graph_known(graph) ? calloc(1, sizeof(*exec)) : NULL;
	if (exec)
		exec->plan = sim_plan_create(graph);
	if (exec && exec->plan) {
		exec->id = next_exec_id++;
		exec->flags = flags;
		exec->next = execs;
		execs = exec;
		*out_exec = exec;
		nodes = exec->plan->count;
	} else {
		free(exec);
		error = cudaErrorInvalidValue;
	}
	pthread_mutex_unlock(&sim.lock);
	if (error == cudaSuccess)
		sim_host_busy(start_ns, sim_counted_ns(&sim.profile->instantiate, nodes));
	return error;
}

cudaError_t tfsim_graph_exec_destroy(cudaGraphExec_t exec)
{
	struct CUgraphExec_st **link;
	const uint64_t start_ns = tfsim_now_ns();
	cudaError_t error = sim_enter();
	uint64_t nodes = 0;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	for (link = &execs; *link && *link != exec; link = &(*link)->next)
		continue;
	if (*link && exec) {
		*link = exec->next;
		nodes = exec->plan->count;
		sim_plan_unref(exec->plan);
		free(exec);
	} else {
		error = cudaErrorInvalidValue;
	}
	pthread_mutex_unlock(&sim.lock);
	if (error == cudaSuccess)
		sim_host_busy(start_ns, sim_counted_ns(&sim.profile->discard, nodes));
	return error;
}

/* Event nodes act when the whole graph starts (waits) or ends (records). */
static cudaError_t launch(struct CUgraphExec_st *exec, struct CUstream_st *stream)
{
	struct tfsim_work work = {.kind = TFSIM_GRAPH, .cost_ns = exec->plan->cost_ns};
	struct sim_payload *payload = sim_payload_create(&work);
	struct sim_op *op = payload ? sim_op_create(payload) : NULL;
	cudaError_t error;
	bool ok = op != NULL;

	if (!op) {
		sim_payload_unref(payload);
		return cudaErrorMemoryAllocation;
	}
	for (unsigned i = 0; ok && i < exec->plan->count; i++)
		if (exec->plan->steps[i].type == cudaGraphNodeTypeWaitEvent)
			ok = sim_op_depend(op, exec->plan->steps[i].event->op);
	op->plan = exec->plan;
	exec->plan->refs++;
	op->graph_id = exec->id;
	op->correlation = sim_correlation();
	sim_op_ref(op);
	error = sim_submit(stream, op);
	for (unsigned i = 0; error == cudaSuccess && i < exec->plan->count; i++)
		if (exec->plan->steps[i].type == cudaGraphNodeTypeEventRecord) {
			struct CUevent_st *event = exec->plan->steps[i].event;

			sim_op_unref(event->op);
			event->op = sim_op_ref(op);
			event->capture = NULL;
		}
	sim_op_unref(op);
	return error;
}

cudaError_t tfsim_graph_launch(cudaGraphExec_t handle, cudaStream_t stream_handle)
{
	struct CUstream_st *stream;
	struct CUgraphExec_st *exec;
	cudaError_t error = sim_enter();

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	exec = sim_exec_check(handle);
	error = exec ? sim_stream_resolve(stream_handle, &stream) : cudaErrorInvalidValue;
	if (error == cudaSuccess)
		error = sim_capture_implicit(stream);
	if (error == cudaSuccess && sim_capture_active(stream))
		error = sim_capture_graph(stream, exec);
	else if (error == cudaSuccess)
		error = launch(exec, stream);
	if (error == cudaSuccess)
		sim_depth_wait(stream, TFSIM_GRAPH);
	pthread_mutex_unlock(&sim.lock);
	return error;
}

/* On the stream's thread, without the lock. What meets others may make all that follows late. */
void sim_graph_run(struct sim_op *op)
{
	const struct sim_plan *plan = op->plan;
	uint64_t late_ns = 0;

	for (unsigned i = 0; i < plan->count; i++) {
		const struct sim_step *step = &plan->steps[i];
		const struct tfsim_work *work = step->payload ? &step->payload->work : NULL;
		uint64_t start_ns = op->shown_start_ns + step->offset_ns + late_ns;
		uint64_t end_ns = start_ns + (work ? work->cost_ns : 0), planned_ns = end_ns;

		if (!work || step->disabled || atomic_load(&sim.sticky) != 0)
			continue;
		if (work->kind == TFSIM_HOST) {
			sim_pace_until(start_ns);
			sim_self.in_host_function = true;
		}
		end_ns = sim_run_work(work, step->payload->args, start_ns, end_ns);
		late_ns += end_ns > planned_ns ? end_ns - planned_ns : 0;
		sim_self.in_host_function = false;
		if (work->kind != TFSIM_RECORD && work->kind != TFSIM_WAIT)
			sim_emit_op(op, work, start_ns, end_ns, step->node_id);
	}
	op->shown_end_ns += late_ns;
}
