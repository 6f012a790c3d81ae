/* SPDX-License-Identifier: MIT */
/*
 * What other processes use of the devices' memory, in a small file that all of them map
 * (TFSIM_SHARED): a slot for each process, whose bytes count for as long as the process lives.
 */
#include "tests/sim/core/core.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/sim/core/core_private.h"

#define SLOTS 16

struct slot {
	int64_t process; /* 0: nobody's */
	uint64_t began;  /* its start: numbers of processes come again */
	_Atomic uint64_t used[SIM_MAX_DEVICES];
};

static struct shared {
	pthread_mutex_t lock; /* whoever dies with it leaves it to the next one */
	bool ready;
	struct slot slots[SLOTS];
} * shared;
static struct slot *own;

/* When the process started, in the kernel's ticks; 0: it is over. */
static uint64_t start_of(int64_t process)
{
	char path[64], text[1024];
	unsigned long long ticks = 0;
	char state = 'X';

	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)process);
	FILE *file = fopen(path, "re");
	if (!file)
		return 0;
	const size_t length = fread(text, 1, sizeof(text) - 1, file);
	fclose(file);
	text[length] = '\0';
	/* The name may have anything in it but this. */
	const char *rest = strrchr(text, ')');
	if (!rest ||
		sscanf(rest + 1,
			" %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d %*d %*d %llu",
			&state, &ticks) != 2)
		return 0;
	return state == 'Z' || state == 'X' ? 0 : ticks;
}

static bool alive(const struct slot *slot)
{
	return slot->process != 0 && start_of(slot->process) == slot->began;
}

static void lock(void)
{
	if (pthread_mutex_lock(&shared->lock) == EOWNERDEAD)
		pthread_mutex_consistent(&shared->lock);
}

static void prepare(void)
{
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&shared->lock, &kind);
	pthread_mutexattr_destroy(&kind);
	shared->ready = true;
}

/* Where it cannot be had the devices are this process's own. */
void sim_shared_open(const char *path)
{
	const int file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	void *map = MAP_FAILED;

	if (file >= 0 && flock(file, LOCK_EX) == 0 && ftruncate(file, sizeof(*shared)) == 0)
		map = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	if (map != MAP_FAILED) {
		shared = map;
		if (!shared->ready)
			prepare();
		for (int i = 0; i < SLOTS && !own; i++)
			if (!alive(&shared->slots[i]))
				own = &shared->slots[i];
	}
	if (own) {
		own->process = 0;
		for (int i = 0; i < SIM_MAX_DEVICES; i++)
			own->used[i] = 0;
		own->began = start_of(getpid());
		own->process = getpid();
	} else {
		fprintf(stderr, "tfsim: no memory shared by '%s' (TFSIM_SHARED)\n", path);
	}
	/* The map keeps the file open, and so its lock. */
	if (file >= 0) {
		flock(file, LOCK_UN);
		close(file);
	}
}

uint64_t sim_shared_others(int device)
{
	uint64_t bytes = 0;

	for (int i = 0; own && !sim_is_naive(SIM_NAIVE_SHARED) && i < SLOTS; i++)
		if (&shared->slots[i] != own && shared->slots[i].used[device] != 0 &&
			alive(&shared->slots[i]))
			bytes += shared->slots[i].used[device];
	return bytes;
}

void sim_shared_begin(void)
{
	if (own)
		lock();
}

void sim_shared_end(int device)
{
	if (!own)
		return;
	sim_shared_tell(device);
	pthread_mutex_unlock(&shared->lock);
}

void sim_shared_tell(int device)
{
	if (own)
		own->used[device] = sim.device[device].arena_used + sim_pool_idle(device, NULL);
}
