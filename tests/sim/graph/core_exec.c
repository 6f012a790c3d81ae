/* SPDX-License-Identifier: MIT */
#include "tests/sim/graph/core_graph.h"

/* Changes of nodes and of executable graphs; launches under way keep their plan. */

static void replace(struct sim_payload **slot, struct sim_payload *payload)
{
	sim_payload_unref(*slot);
	*slot = sim_payload_ref(payload);
}

cudaError_t tfsim_node_set(
	cudaGraphNode_t node, enum cudaGraphNodeType type, const struct tfsim_work *work)
{
	struct sim_payload *payload = sim_payload_create(work);
	cudaError_t error = sim_enter();

	if (error == cudaSuccess && !payload)
		error = cudaErrorMemoryAllocation;
	pthread_mutex_lock(&sim.lock);
	if (error == cudaSuccess && sim_node_known(node) && node->type == type)
		replace(&node->payload, payload);
	else if (error == cudaSuccess)
		error = cudaErrorInvalidValue;
	pthread_mutex_unlock(&sim.lock);
	sim_payload_unref(payload);
	return error;
}

cudaError_t tfsim_exec_set(cudaGraphExec_t handle, cudaGraphNode_t node,
	enum cudaGraphNodeType type, const struct tfsim_work *work)
{
	struct sim_payload *payload = sim_payload_create(work);
	cudaError_t error = sim_enter();
	struct CUgraphExec_st *exec;
	struct sim_step *step;

	if (error == cudaSuccess && !payload)
		error = cudaErrorMemoryAllocation;
	pthread_mutex_lock(&sim.lock);
	exec = sim_exec_check(handle);
	step = exec && error == cudaSuccess ? sim_exec_step(exec, node) : NULL;
	if (step && step->type == type) {
		replace(&step->payload, payload);
		sim_plan_time(exec->plan);
	} else if (error == cudaSuccess) {
		error = cudaErrorInvalidValue;
	}
	pthread_mutex_unlock(&sim.lock);
	sim_payload_unref(payload);
	return error;
}

cudaError_t tfsim_exec_enable(
	cudaGraphExec_t handle, cudaGraphNode_t node, const bool *set, bool *out_enabled)
{
	cudaError_t error = sim_enter();
	struct CUgraphExec_st *exec;
	struct sim_step *step;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	exec = sim_exec_check(handle);
	step = exec ? sim_exec_step(exec, node) : NULL;
	if (!step)
		error = cudaErrorInvalidValue;
	if (step && set) {
		step->disabled = !*set;
		sim_plan_time(exec->plan);
	}
	if (step && out_enabled)
		*out_enabled = !step->disabled;
	pthread_mutex_unlock(&sim.lock);
	return error;
}

static bool same_edges(const struct sim_step *a, const struct sim_step *b)
{
	if (a->dep_count != b->dep_count)
		return false;
	for (unsigned i = 0; i < a->dep_count; i++)
		if (a->deps[i] != b->deps[i])
			return false;
	return true;
}

/* Nodes keep the identity they had when the executable graph was made. */
static enum cudaGraphExecUpdateResult adopt(
	struct sim_plan *plan, const struct sim_plan *old, unsigned *out_at)
{
	if (plan->count != old->count)
		return cudaGraphExecUpdateErrorTopologyChanged;
	for (unsigned i = 0; i < plan->count; i++) {
		*out_at = i;
		if (plan->steps[i].type != old->steps[i].type)
			return cudaGraphExecUpdateErrorNodeTypeChanged;
		if (!same_edges(&plan->steps[i], &old->steps[i]))
			return cudaGraphExecUpdateErrorTopologyChanged;
	}
	for (unsigned i = 0; i < plan->count; i++) {
		plan->steps[i].node = old->steps[i].node;
		plan->steps[i].node_id = old->steps[i].node_id;
		plan->steps[i].disabled = old->steps[i].disabled;
	}
	sim_plan_time(plan);
	return cudaGraphExecUpdateSuccess;
}

cudaError_t tfsim_exec_update(cudaGraphExec_t handle, cudaGraph_t graph,
	enum cudaGraphExecUpdateResult *out_result, cudaGraphNode_t *out_node)
{
	const uint64_t start_ns = tfsim_now_ns();
	cudaError_t error = sim_enter();
	uint64_t nodes = 0;
	struct CUgraphExec_st *exec;
	struct sim_plan *plan = NULL;
	unsigned at = 0;

	if (error != cudaSuccess)
		return error;
	*out_node = NULL;
	*out_result = cudaGraphExecUpdateError;
	pthread_mutex_lock(&sim.lock);
	exec = sim_exec_check(handle);
	if (exec && sim_graph_known(graph))
		plan = sim_plan_create(graph);
	if (!plan)
		error = cudaErrorInvalidValue;
	if (plan)
		*out_result = adopt(plan, exec->plan, &at);
	if (plan && *out_result == cudaGraphExecUpdateSuccess) {
		sim_plan_unref(exec->plan);
		exec->plan = plan;
		nodes = plan->count;
	} else if (plan) {
		*out_node = at < plan->count ? plan->steps[at].node : NULL;
		sim_plan_unref(plan);
		error = cudaErrorGraphExecUpdateFailure;
	}
	pthread_mutex_unlock(&sim.lock);
	if (error == cudaSuccess)
		sim_host_busy(start_ns, sim_counted_ns(&sim.profile->update, nodes));
	return error;
}

cudaError_t tfsim_exec_flags(cudaGraphExec_t handle, unsigned long long *out_flags)
{
	cudaError_t error = sim_enter();
	struct CUgraphExec_st *exec;

	if (error != cudaSuccess)
		return error;
	pthread_mutex_lock(&sim.lock);
	exec = sim_exec_check(handle);
	if (exec && out_flags)
		*out_flags = exec->flags;
	else
		error = cudaErrorInvalidValue;
	pthread_mutex_unlock(&sim.lock);
	return error;
}
