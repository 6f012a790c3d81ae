/* SPDX-License-Identifier: MIT */
#include "core.h"

#include <stdlib.h>
#include <string.h>

#include "core_private.h"

struct sim_payload *sim_payload_create(const struct tfsim_work *work)
{
	struct sim_payload *payload = calloc(1, sizeof(*payload));

	if (!payload)
		return NULL;
	atomic_init(&payload->refs, 1);
	payload->work = *work;
	if (work->args_size) {
		payload->args = malloc(work->args_size);
		if (!payload->args) {
			free(payload);
			return NULL;
		}
		memcpy(payload->args, work->args, work->args_size);
	}
	payload->work.args = payload->args;
	return payload;
}

struct sim_payload *sim_payload_ref(struct sim_payload *payload)
{
	atomic_fetch_add(&payload->refs, 1);
	return payload;
}

void sim_payload_unref(struct sim_payload *payload)
{
	if (!payload || atomic_fetch_sub(&payload->refs, 1) != 1)
		return;
	if (payload->work.drop)
		payload->work.drop(payload->args);
	free(payload->args);
	free(payload);
}

/* Takes over the caller's reference to the payload. */
struct sim_op *sim_op_create(struct sim_payload *payload)
{
	struct sim_op *op = calloc(1, sizeof(*op));

	if (!op)
		return NULL;
	atomic_init(&op->refs, 1);
	op->payload = payload;
	op->cost_ns = payload->work.cost_ns;
	op->number = sim.op_count++;
	return op;
}

struct sim_op *sim_op_ref(struct sim_op *op)
{
	if (op)
		atomic_fetch_add(&op->refs, 1);
	return op;
}

void sim_op_unref(struct sim_op *op)
{
	if (!op || atomic_fetch_sub(&op->refs, 1) != 1)
		return;
	for (unsigned i = 0; i < op->dep_count; i++)
		sim_op_unref(op->deps[i]);
	free(op->deps);
	sim_plan_unref(op->plan);
	sim_payload_unref(op->payload);
	free(op);
}

bool sim_op_depend(struct sim_op *op, struct sim_op *on)
{
	struct sim_op **grown;

	if (!on)
		return true;
	grown = realloc(op->deps, (op->dep_count + 1) * sizeof(*grown));
	if (!grown)
		return false;
	op->deps = grown;
	op->deps[op->dep_count++] = sim_op_ref(on);
	return true;
}

bool sim_op_complete(const struct sim_op *op)
{
	return op->done && (!sim.pace || tfsim_now_ns() >= op->shown_end_ns);
}

void sim_op_wait(struct sim_op *op)
{
	pthread_mutex_lock(&sim.lock);
	if (!op->done) {
		sim.waiting++;
		pthread_cond_broadcast(&sim.moved);
		while (!op->done)
			pthread_cond_wait(&sim.moved, &sim.lock);
		sim.waiting--;
	}
	pthread_mutex_unlock(&sim.lock);
	sim_pace_until(op->shown_end_ns);
	if (op->model_end_ns > sim_self.model_ns)
		sim_self.model_ns = op->model_end_ns;
}
