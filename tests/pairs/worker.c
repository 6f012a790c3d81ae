/* SPDX-License-Identifier: MIT */
#include "tests/pairs/worker.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* From one thread's signal until another one goes on. */
#define WAKE_NS 12000

struct worker {
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t moved;
	void (*job)(void *argument); /* NULL: there is none, or it is done */
	void *argument;
	uint64_t told_ns; /* when the other thread was told so */
	int ending;
};

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Threads' clocks differ where time is modelled: what was told cannot be heard before. */
static void wake_up(uint64_t told_ns)
{
	const uint64_t now = now_ns(), until = told_ns + WAKE_NS;
	struct timespec span = {0};

	if (until <= now)
		return;
	span.tv_sec = (time_t)((until - now) / 1000000000u);
	span.tv_nsec = (long)((until - now) % 1000000000u);
	nanosleep(&span, NULL);
}

static void *serve(void *argument)
{
	struct worker *worker = argument;

	pthread_mutex_lock(&worker->lock);
	while (!worker->ending) {
		if (worker->job) {
			wake_up(worker->told_ns);
			worker->job(worker->argument);
			worker->job = NULL;
			worker->told_ns = now_ns();
			pthread_cond_broadcast(&worker->moved);
		} else {
			pthread_cond_wait(&worker->moved, &worker->lock);
		}
	}
	pthread_mutex_unlock(&worker->lock);
	return NULL;
}

struct worker *worker_create(void)
{
	struct worker *worker = calloc(1, sizeof(*worker));

	if (!worker)
		exit(1);
	pthread_mutex_init(&worker->lock, NULL);
	pthread_cond_init(&worker->moved, NULL);
	if (pthread_create(&worker->thread, NULL, serve, worker)) {
		fprintf(stderr, "no thread\n");
		exit(1);
	}
	return worker;
}

void worker_destroy(struct worker *worker)
{
	if (!worker)
		return;
	pthread_mutex_lock(&worker->lock);
	worker->ending = 1;
	pthread_cond_broadcast(&worker->moved);
	pthread_mutex_unlock(&worker->lock);
	pthread_join(worker->thread, NULL);
	free(worker);
}

void worker_do(struct worker *worker, void (*job)(void *argument), void *argument)
{
	pthread_mutex_lock(&worker->lock);
	worker->job = job;
	worker->argument = argument;
	worker->told_ns = now_ns();
	pthread_cond_broadcast(&worker->moved);
	while (worker->job)
		pthread_cond_wait(&worker->moved, &worker->lock);
	wake_up(worker->told_ns);
	pthread_mutex_unlock(&worker->lock);
}
