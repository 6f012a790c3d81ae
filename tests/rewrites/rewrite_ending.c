/* SPDX-License-Identifier: MIT */
/* Copies of which some are rewritten, then the way of ending that the first argument names; with
 * "wait FILE" before it that comes when the file is there; "tell FILE" makes one first. */
#include <cuda_runtime_api.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/test.h"

#define BYTES ((size_t)1 << 20)

static struct sigaction before;
static volatile sig_atomic_t heard;

static void work(void)
{
	char *bytes = calloc(1, BYTES);
	void *device;

	if (!bytes || cudaMalloc(&device, BYTES) != cudaSuccess)
		exit(77);
	for (int i = 0; i < 40; i++)
		if (cudaMemcpy(device, bytes, BYTES, cudaMemcpyHostToDevice) != cudaSuccess)
			exit(77);
	free(bytes);
}

/* By the kernel's answer, for each signal but the C library's own. */
static int count_handlers(void)
{
	int handlers = 0;

	for (int number = 1; number < NSIG; number++) {
		struct {
			void *handler;
			unsigned long rest[3];
		} now = {0};

		if ((number < 32 || number >= SIGRTMIN) &&
			syscall(SYS_rt_sigaction, number, NULL, &now, 8L) == 0)
			handlers += now.handler != NULL;
	}
	return handlers;
}

static void *leave(void *nothing)
{
	(void)nothing;
	exit(0);
}

/* As libraries do: what was there before is called as well, unless it was nothing. */
static void hear(int number)
{
	heard = 1;
	if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
		before.sa_handler(number);
}

static void end_chained(void)
{
	const struct sigaction action = {.sa_handler = hear};

	sigaction(SIGTERM, &action, &before);
	raise(SIGTERM);
	exit(heard ? 0 : 1);
}

/* Children end in their own ways; this process goes on. */
static void outlive_children(void)
{
	static const int numbers[] = {0, SIGTERM, SIGKILL};

	for (int i = 0; i < 3; i++) {
		const pid_t child = fork();
		int status;

		if (child == 0) {
			if (numbers[i] != 0)
				raise(numbers[i]);
			_exit(0);
		}
		waitpid(child, &status, 0);
		if (WIFSIGNALED(status) ? WTERMSIG(status) != numbers[i] : numbers[i] != 0)
			exit(1);
	}
}

static void wait_for(const char *file)
{
	while (access(file, F_OK) != 0)
		usleep(1000);
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		int number;
	} signals[] = {{"abort", SIGABRT}, {"segv", SIGSEGV}, {"kill", SIGKILL}, {"int", SIGINT},
		{"term", SIGTERM}, {"hup", SIGHUP}, {"bus", SIGBUS}, {"fpe", SIGFPE},
		{"ill", SIGILL}, {"alrm", SIGALRM}};
	const char *way = count > 1 ? words[1] : "return";
	pthread_t thread;

	alarm(300);
	const int handlers = count_handlers();
	work();
	if (!TEST_EQ(count_handlers(), handlers))
		return 3;
	if (strcmp(way, "wait") == 0 && count > 3) {
		wait_for(words[2]);
		way = words[3];
	}
	if (strcmp(way, "tell") == 0 && count > 2) {
		close(creat(words[2], 0600));
		way = count > 3 ? words[3] : way;
	}
	for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
		if (strcmp(way, signals[i].name) == 0)
			raise(signals[i].number);
	if (strcmp(way, "_exit") == 0)
		_exit(0);
	if (strcmp(way, "status") == 0)
		_exit(9);
	if (strcmp(way, "unseen") == 0)
		syscall(SYS_exit_group, 0);
	if (strcmp(way, "_Exit") == 0)
		_Exit(0);
	if (strcmp(way, "quick_exit") == 0)
		quick_exit(0);
	if (strcmp(way, "thread") == 0 && pthread_create(&thread, NULL, leave, NULL) == 0)
		pthread_join(thread, NULL);
	if (strcmp(way, "chained") == 0)
		end_chained();
	if (strncmp(way, "children", 8) == 0)
		outlive_children();
	if (strcmp(way, "children-abort") == 0)
		abort();
	if (strcmp(way, "again") == 0)
		execv("/proc/self/exe", (char *[]){words[0], (char *)"return", NULL});
	return 0;
}
