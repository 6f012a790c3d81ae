/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>

#include "tests/sim/core/core_private.h"

struct sim_state sim = {
	.lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
	.moved = PTHREAD_COND_INITIALIZER,
};
__thread struct sim_thread sim_self;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static bool ready;

static double env_number(const char *name, double fallback)
{
	const char *text = getenv(name);

	return text && *text ? strtod(text, NULL) : fallback;
}

static void in_child(void)
{
	atomic_store(&sim.forked, true);
}

static const char *const naive_names[] = {
#define SIM_NAIVE_TEXT(name, text) [SIM_NAIVE_##name] = text,
	SIM_NAIVE(SIM_NAIVE_TEXT)};

static unsigned env_naive(void)
{
	const char *text = getenv("TFSIM_NAIVE");
	unsigned found = 0;

	for (unsigned i = 0; text && i < sizeof(naive_names) / sizeof(naive_names[0]); i++)
		if (strcmp(text, naive_names[i]) == 0)
			found |= 1u << i;
	return found;
}

bool sim_is_naive(enum sim_naive promise)
{
	return sim.naive >> promise & 1;
}

/* Sizes may end in K, M or G. */
static size_t env_size(const char *name, size_t fallback)
{
	const char *text = getenv(name);
	char *end;
	double value;

	if (!text || !*text)
		return fallback;
	value = strtod(text, &end);
	switch (*end) {
	case 'G':
	case 'g':
		value *= 1024; /* fall through */
	case 'M':
	case 'm':
		value *= 1024; /* fall through */
	case 'K':
	case 'k':
		value *= 1024;
		break;
	default:
		break;
	}
	return value >= 1 << 20 ? (size_t)value : 1 << 20;
}

static void device_init(struct sim_device *device)
{
	void *arena = mmap(NULL, sim.memory, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	device->arena = arena == MAP_FAILED ? NULL : arena;
	device->arena_size = device->arena ? sim.memory : 0;
	device->arena_used = sim_arena_reserve(device->arena_size);
	sim_pool_init(&device->default_pool, (int)(device - sim.device));
	device->pool = &device->default_pool;
}

static const struct sim_profile *env_profile(void)
{
	const char *text = getenv("TFSIM_PROFILE");
	const struct sim_profile *found = sim_profile_find(text && *text ? text : "slow");

	if (found)
		return found;
	fprintf(stderr, "tfsim: no profile '%s' (TFSIM_PROFILE): taking slow\n", text);
	return sim_profile_find("slow");
}

/* Whoever reads the program's output must know. */
static void announce(void)
{
	if (!sim.compute)
		fprintf(stderr,
			"tfsim: NOTHING IS COMPUTED (TFSIM_COMPUTE=0): every output is zeros; "
			"the times are the model's for %s\n",
			sim.profile->name);
}

static void at_exit(void);

static void start(void)
{
	double count = env_number("TFSIM_DEVICES", 1);

	sim.device_count = count < 0 ? 0 : count > SIM_MAX_DEVICES ? SIM_MAX_DEVICES : (int)count;
	sim.profile = env_profile();
	sim.memory = env_size("TFSIM_MEMORY", sim.profile->memory) & ~(size_t)4095;
	sim.pinned = env_size("TFSIM_PINNED", SIZE_MAX);
	sim.scale = env_number("TFSIM_SCALE", sim.profile->scale);
	if (!(sim.scale > 0))
		sim.scale = sim.profile->scale;
	sim.pace = env_number("TFSIM_PACE", 1) != 0;
	sim.verbose = env_number("TFSIM_VERBOSE", 0) != 0;
	sim.hostile = (uint64_t)env_number("TFSIM_HOSTILE", 0);
	sim.compute = env_number("TFSIM_COMPUTE", 1) != 0 || sim.hostile;
	sim.nvlink = !getenv("TFSIM_PEER") || strcmp(getenv("TFSIM_PEER"), "pcie") != 0;
	sim.naive = env_naive();
	sim.launch_blocking = env_number("CUDA_LAUNCH_BLOCKING", 0) != 0;
	sim.next_id = 1;
	for (int i = 0; i < sim.device_count; i++)
		device_init(&sim.device[i]);
	if (getenv("TFSIM_SHARED"))
		sim_shared_open(getenv("TFSIM_SHARED"));
	for (int i = 0; i < sim.device_count; i++)
		sim_shared_tell(i);
	pthread_atfork(NULL, NULL, in_child);
	atexit(at_exit);
	ready = true;
	announce();
}

cudaError_t sim_enter(void)
{
	int sticky;

	if (atomic_load_explicit(&sim.forked, memory_order_relaxed))
		return cudaErrorInitializationError;
	if (!ready)
		pthread_once(&once, start);
	if (sim.device_count == 0)
		return cudaErrorNoDevice;
	if (sim_self.in_host_function)
		return cudaErrorNotPermitted;
	if (!sim_self.known) {
		pthread_mutex_lock(&sim.lock);
		sim_self.known = true;
		sim_self.model_ns = sim.highest_model_ns;
		sim_self.generation = sim.generation;
		pthread_mutex_unlock(&sim.lock);
	}
	sticky = atomic_load_explicit(&sim.sticky, memory_order_acquire);
	return (cudaError_t)sticky;
}

uint64_t sim_new_id(void)
{
	return sim.next_id++;
}

cudaError_t tfsim_sticky(void)
{
	return sim_enter();
}

void tfsim_fault(cudaError_t error)
{
	int none = 0;

	if (sim_is_naive(SIM_NAIVE_STICKY))
		return;
	atomic_compare_exchange_strong(&sim.sticky, &none, (int)error);
}

cudaError_t tfsim_last_error_set(cudaError_t error)
{
	if (error != cudaSuccess || sim_is_naive(SIM_NAIVE_LAST_ERROR))
		sim_self.last_error = error;
	return error;
}

cudaError_t tfsim_last_error(bool clear)
{
	cudaError_t error = (cudaError_t)atomic_load(&sim.sticky);

	if (error != cudaSuccess)
		return error;
	error = sim_self.last_error;
	if (clear)
		sim_self.last_error = cudaSuccess;
	return error;
}

int tfsim_device_count(void)
{
	return sim_enter() == cudaErrorNoDevice ? 0 : sim.device_count;
}

int tfsim_device_current(void)
{
	return sim_self.device;
}

/* An overrun below a twentieth of a second in all changes no verdict: it is machine noise. */
static void summary(void)
{
	unsigned long long overruns = atomic_load(&sim.overruns),
			   late = atomic_load(&sim.overrun_ns);
	char *text = NULL;
	size_t size;
	FILE *line;

	if (!sim.verbose && sim_tally_empty() && late < 50000000)
		return;
	line = open_memstream(&text, &size);
	if (!line)
		return;
	fputs("tfsim: ", line);
	sim_tally_print(line);
	fprintf(line,
		", %llu of %llu operations overran their modelled time (%.1f ms); "
		"%.1f of %.1f modelled ms computed\n",
		overruns, (unsigned long long)atomic_load(&sim.ops_run), (double)late / 1e6,
		(double)atomic_load(&sim.computed_ns) / 1e6,
		(double)atomic_load(&sim.modelled_ns) / 1e6);
	fclose(line);
	/* In one piece: other processes may write there. */
	if (text)
		fputs(text, stderr);
	free(text);
}

static bool busy(void)
{
	for (int i = 0; i < sim.device_count; i++)
		for (struct CUstream_st *s = sim.device[i].streams; s; s = s->next)
			if (s->running && s->head && s->head->payload->work.kind != TFSIM_HOST)
				return true;
	return false;
}

void tfsim_stop(void)
{
	struct timespec limit;

	if (!ready || atomic_load(&sim.forked))
		return;
	atomic_store(&sim.stopping, true);
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += 5;
	pthread_mutex_lock(&sim.lock);
	sim.dropped = sim.op_count;
	sim.waiting++;
	pthread_cond_broadcast(&sim.moved);
	while (busy() && pthread_cond_timedwait(&sim.moved, &sim.lock, &limit) == 0)
		continue;
	pthread_mutex_unlock(&sim.lock);
}

static void at_exit(void)
{
	const char *calls = getenv("TFSIM_CALLS");

	if (atomic_load(&sim.forked))
		return;
	tfsim_stop();
	summary();
	if (calls && *calls)
		sim_tally_write(calls);
}
