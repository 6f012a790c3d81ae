/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdlib.h>
#include <string.h>

#include "tests/sim/core/core_private.h"

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

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

/* Returns whether there was something to wait for. */
static bool wait_done(const struct sim_op *op)
{
	bool waited;

	pthread_mutex_lock(&sim.lock);
	waited = !op->done;
	if (waited) {
		sim.waiting++;
		pthread_cond_broadcast(&sim.moved);
		while (!op->done)
			pthread_cond_wait(&sim.moved, &sim.lock);
		sim.waiting--;
	}
	pthread_mutex_unlock(&sim.lock);
	return waited;
}

/* The calling thread comes back when something ends, if that is not over; it takes a moment. */
static void come_back(uint64_t model_ns, uint64_t shown_ns, uint64_t tail_ns, bool waited)
{
	if (sim.pace && tfsim_now_ns() < shown_ns) {
		sim_pace_until(shown_ns + tail_ns);
		waited = true;
	}
	if (waited)
		sim_call_enter();
	if (model_ns > sim_self.model_ns)
		sim_self.model_ns = model_ns + tail_ns;
}

static uint64_t before(uint64_t ns, uint64_t early_ns)
{
	return ns > early_ns ? ns - early_ns : 0;
}

void sim_op_wait_early(const struct sim_op *op, uint64_t early_ns)
{
	const bool waited = wait_done(op);

	come_back(
		before(op->model_end_ns, early_ns), before(op->shown_end_ns, early_ns), 0, waited);
}

void sim_ops_wait(struct sim_op *const *ops, unsigned count)
{
	uint64_t model_ns = 0, shown_ns = 0;
	bool waited = false;

	for (unsigned i = 0; i < count; i++) {
		waited |= wait_done(ops[i]);
		model_ns = later(model_ns, ops[i]->model_end_ns);
		shown_ns = later(shown_ns, ops[i]->shown_end_ns);
	}
	come_back(model_ns, shown_ns, sim_draw(&sim.profile->tail), waited);
}

void sim_op_wait(struct sim_op *op)
{
	sim_ops_wait(&op, 1);
}

struct sim_op *sim_op_join(struct sim_op *a, struct sim_op *b)
{
	struct sim_op *both;

	if (!a || !b)
		return sim_op_ref(a ? a : b);
	both = calloc(1, sizeof(*both));
	if (!both)
		return sim_op_ref(b);
	atomic_init(&both->refs, 1);
	both->timed = true;
	both->done = true;
	both->model_end_ns = later(a->model_end_ns, b->model_end_ns);
	both->shown_end_ns = later(a->shown_end_ns, b->shown_end_ns);
	return both;
}
