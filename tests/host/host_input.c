/* SPDX-License-Identifier: MIT */
/* Trains like the program that breaks TFS701: the step's thread makes the next batch, which takes
 * longer than the device's work: host_input KIND, by which that takes its time.
 *
 *   code     it computes
 *   cached   it reads a file that is in memory
 *   sleep    it sleeps
 *   lock     another thread makes the batch, and is late
 *   pipe     a child process does, and writes it into a pipe
 *   ready    the same, waited for by poll()
 *   socket   the same, through a socket
 *   process  a child process does, and ends
 *   several  it computes, with more threads on one processor than that has room for
 */
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/rules/rule_step.h"

#define BATCH_NS 12000000

static int ends[2];
static sem_t wanted, made;

static void pause_for_batch(void)
{
	const struct timespec pause = {.tv_nsec = BATCH_NS};

	nanosleep(&pause, NULL);
}

static uint64_t used_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* By the processor's time, of which a busy machine gives it as much. */
__attribute__((noinline)) static void decode_batch(float *images)
{
	const uint64_t until = used_ns() + BATCH_NS;

	while (used_ns() < until)
		for (int i = 0; i < 20000; i++)
			images[i % 64] = images[i % 64] * 0.99f + 1e-6f;
}

/* Of a file without a name, again and again. */
static void read_batch(void)
{
	static char part[1 << 20];
	static FILE *file;
	const uint64_t until = used_ns() + BATCH_NS;

	if (!file) {
		file = tmpfile();
		if (!file || fwrite(part, sizeof(part), 1, file) != 1 || fflush(file))
			exit(1);
	}
	while (used_ns() < until)
		if (pread(fileno(file), part, sizeof(part), 0) != (ssize_t)sizeof(part))
			exit(1);
}

static void *make_batches(void *nothing)
{
	for (;;) {
		sem_wait(&wanted);
		pause_for_batch();
		sem_post(&made);
	}
	return nothing;
}

static void *compute_beside(void *nothing)
{
	static float beside[64];

	for (;;)
		decode_batch(beside);
	return nothing;
}

/* A child that answers each byte late. */
static void start_child(void)
{
	char byte;

	if (fork() != 0)
		return;
	while (read(ends[0], &byte, 1) == 1) {
		pause_for_batch();
		if (write(ends[0], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

/* The same with two pipes: `ends` are the program's, to read from and to write to. */
static void start_child_behind_pipes(void)
{
	int to[2], from[2];
	char byte;

	NEED(pipe(to));
	NEED(pipe(from));
	ends[0] = from[0];
	ends[1] = to[1];
	if (fork() != 0) {
		close(to[0]);
		close(from[1]);
		return;
	}
	close(to[1]);
	while (read(to[0], &byte, 1) == 1) {
		pause_for_batch();
		if (write(from[1], &byte, 1) != 1)
			break;
	}
	_exit(0);
}

static void begin(const char *kind)
{
	cpu_set_t one;
	pthread_t thread;

	if (strcmp(kind, "lock") == 0) {
		NEED(pthread_create(&thread, NULL, make_batches, NULL));
	} else if (strcmp(kind, "socket") == 0) {
		NEED(socketpair(AF_UNIX, SOCK_STREAM, 0, ends));
		start_child();
		close(ends[0]);
		ends[0] = ends[1];
	} else if (strcmp(kind, "pipe") == 0 || strcmp(kind, "ready") == 0) {
		start_child_behind_pipes();
	} else if (strcmp(kind, "several") == 0) {
		CPU_ZERO(&one);
		CPU_SET(sched_getcpu(), &one);
		NEED(sched_setaffinity(0, sizeof(one), &one));
		NEED(pthread_create(&thread, NULL, compute_beside, NULL));
	}
}

static void ask_child(bool poll_first)
{
	struct pollfd answer = {.fd = ends[0], .events = POLLIN};
	char byte = 0;

	if (write(ends[1], &byte, 1) != 1)
		exit(1);
	if (poll_first)
		poll(&answer, 1, -1);
	if (read(ends[0], &byte, 1) != 1)
		exit(1);
}

static void make(const char *kind, float *images)
{
	if (strcmp(kind, "code") == 0 || strcmp(kind, "several") == 0) {
		decode_batch(images);
	} else if (strcmp(kind, "cached") == 0) {
		read_batch();
	} else if (strcmp(kind, "sleep") == 0) {
		pause_for_batch();
	} else if (strcmp(kind, "lock") == 0) {
		sem_post(&wanted);
		sem_wait(&made);
	} else if (strcmp(kind, "process") == 0) {
		const pid_t child = vfork();

		if (child == 0) {
			execl("/bin/sleep", "sleep", "0.012", (char *)NULL);
			_exit(1);
		}
		waitpid(child, NULL, 0);
	} else {
		ask_child(strcmp(kind, "ready") == 0);
	}
}

int main(int count, char **words)
{
	struct rule r;

	if (count < 2)
		return 2;
	sem_init(&wanted, 0, 0);
	sem_init(&made, 0, 0);
	begin(words[1]);
	rule_init(&r);
	for (unsigned step = 0; step < STEPS; step++) {
		NEED(cudaStreamSynchronize(r.stream));
		make(words[1], r.host[0]);
		NEED(cudaMemcpyAsync(r.input[step % SLOTS], r.host[0], BATCH_FLOATS * sizeof(float),
			cudaMemcpyHostToDevice, r.stream));
		rule_forward(&r, step);
		rule_backward(&r, step, 0);
		rule_update(&r);
	}
	rule_finish(&r);
	return 0;
}
