/* SPDX-License-Identifier: MIT */
/* Host memory that the program fills or opens only when it is touched, in its own handler, as
 * collectors and checkpoints do: every fault must come in the thread that asked for the copy. */
#include <signal.h>
#include <sys/mman.h>

#include "tests/promises/sim_gate.h"

#define BYTES ((size_t)8 << 20)
#define ROUNDS 6

static char *memory;
static pid_t self;
static size_t page;
static int value;
static atomic_int faults, elsewhere;

static void open_page(int number, siginfo_t *info, void *context)
{
	char *at = (char *)((uintptr_t)info->si_addr & ~(page - 1));

	(void)number, (void)context;
	if (at < memory || at >= memory + BYTES)
		_exit(3);
	if (gettid() != self)
		atomic_fetch_add(&elsewhere, 1);
	atomic_fetch_add(&faults, 1);
	mprotect(at, page, PROT_READ | PROT_WRITE);
	memset(at, value, page);
}

int main(void)
{
	struct sigaction action = {.sa_sigaction = open_page, .sa_flags = SA_SIGINFO};
	char *device, *plain = malloc(BYTES);

	alarm(300);
	self = gettid();
	page = (size_t)sysconf(_SC_PAGESIZE);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaMemcpy(device, memory, BYTES, cudaMemcpyHostToDevice));
	sigaction(SIGSEGV, &action, NULL);
	for (int i = 1; i <= ROUNDS; i++) {
		value = i;
		mprotect(memory, BYTES, PROT_NONE);
		OK(cudaMemcpy(device, memory, BYTES, cudaMemcpyHostToDevice));
		OK(cudaMemcpy(plain, device, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(plain, i, BYTES), 0);
		memset(plain, i + 100, BYTES);
		OK(cudaMemcpy(device, plain, BYTES, cudaMemcpyHostToDevice));
		/* Another thread of the device's own may be the one that writes here. */
		value = 0;
		mprotect(memory, BYTES, PROT_READ | PROT_WRITE);
	}
	TEST_TRUE(atomic_load(&faults) > 0);
	TEST_EQ(atomic_load(&elsewhere), 0);
	return test_result();
}
