/* SPDX-License-Identifier: MIT */
#include <stdlib.h>

#include "tests/sim/graph/core_graph.h"

cudaError_t tfsim_user_create(
	cudaUserObject_t *out, void *data, void (*destroy)(void *), unsigned refs)
{
	struct CUuserObject_st *user = calloc(1, sizeof(*user));

	if (!user)
		return cudaErrorMemoryAllocation;
	*user = (struct CUuserObject_st){.refs = refs, .data = data, .destroy = destroy};
	*out = user;
	return cudaSuccess;
}

/* The function is called with the lock held: it may not make any call of CUDA's. */
static void release(struct CUuserObject_st *user)
{
	if (--user->refs > 0)
		return;
	user->destroy(user->data);
	free(user);
}

static bool add(struct sim_users *users, struct CUuserObject_st *user)
{
	struct CUuserObject_st **grown = realloc(users->list, (users->count + 1) * sizeof(*grown));

	if (!grown)
		return false;
	users->list = grown;
	users->list[users->count++] = user;
	return true;
}

bool sim_users_copy(struct sim_users *users, const struct sim_users *from)
{
	for (unsigned i = 0; i < from->count; i++) {
		if (!add(users, from->list[i]))
			return false;
		from->list[i]->refs++;
	}
	return true;
}

void sim_users_free(struct sim_users *users)
{
	for (unsigned i = 0; i < users->count; i++)
		release(users->list[i]);
	free(users->list);
}

cudaError_t tfsim_graph_retain(cudaGraph_t graph, cudaUserObject_t user, bool move)
{
	bool good;

	pthread_mutex_lock(&sim.lock);
	good = sim_graph_known(graph) && add(&graph->users, user);
	if (good && !move)
		user->refs++;
	pthread_mutex_unlock(&sim.lock);
	return good ? cudaSuccess : cudaErrorInvalidValue;
}
