/* SPDX-License-Identifier: MIT */
#include "tests/sim/core/core.h"

#include <setjmp.h>
#include <signal.h>

#include "tests/sim/core/core_private.h"

/*
 * Freed device memory is not mapped any more: work that still touches it ends as a kernel does that
 * hits an illegal address, and takes the device with it. Faults anywhere else are the program's.
 */
static __thread sigjmp_buf escape;
static __thread volatile sig_atomic_t guarded;
static struct sigaction before[2];
static const int signals[2] = {SIGSEGV, SIGBUS};

bool sim_in_arena(const void *address)
{
	for (int i = 0; i < sim.device_count; i++) {
		const char *arena = sim.device[i].arena;

		if (arena && (uintptr_t)address >= (uintptr_t)arena &&
			(uintptr_t)address < (uintptr_t)arena + sim.device[i].arena_size)
			return true;
	}
	return false;
}

static void pass_on(int number, siginfo_t *info, void *context)
{
	const struct sigaction *old = &before[number == SIGBUS];

	if (old->sa_flags & SA_SIGINFO)
		old->sa_sigaction(number, info, context);
	else if (old->sa_handler != SIG_DFL && old->sa_handler != SIG_IGN)
		old->sa_handler(number);
	else
		sigaction(number, old, NULL);
}

static void hear(int number, siginfo_t *info, void *context)
{
	if (guarded && sim_in_arena(info->si_addr))
		siglongjmp(escape, 1);
	pass_on(number, info, context);
}

static void install(void)
{
	struct sigaction action = {.sa_flags = SA_SIGINFO | SA_ONSTACK};

	action.sa_sigaction = hear;
	sigemptyset(&action.sa_mask);
	for (int i = 0; i < 2; i++)
		sigaction(signals[i], &action, &before[i]);
}

void sim_fault_expect(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, install);
}

void sim_run_guarded(void (*run)(void *args), void *args)
{
	if (sigsetjmp(escape, 1) == 0) {
		guarded = 1;
		run(args);
	} else {
		tfsim_fault(cudaErrorIllegalAddress);
	}
	guarded = 0;
}
