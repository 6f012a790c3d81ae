/* SPDX-License-Identifier: MIT */
/*
 * Pageable memory that another thread bars, unmaps or cuts off while a copy is under way, in
 * programs whose handler repairs it, or leaves the call: the fault is in the thread that copies (or
 * the device's own), and what follows is as if nobody stood between. One case each.
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "shim/tfshim.h"
#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_case.h"

#define PAGE ((size_t)4096)
#define BYTES ((size_t)6 << 20)
#define ROUNDS 60
#define CUTS 4
/* Far below what the kernel chooses: nobody else's memory gets into a hole. */
#define LOW ((void *)0x200000000)

static char *device, *memory, *plain;
static int file = -1;
static atomic_int value, faults, foreign;
static atomic_bool leaving, copying, over;
static __thread sigjmp_buf out;
static __thread bool jumps;

/* Whose thread it is: not the program's, and not the device's. */
static bool is_copy_thread(void)
{
	char name[16] = "";

	pthread_getname_np(pthread_self(), name, sizeof(name));
	return strncmp(name, "tfshim", 6) == 0;
}

/* The pages' content is the round's. */
static void repair(char *page)
{
	if (file >= 0) {
		if (ftruncate(file, (off_t)BYTES) != 0)
			_exit(3);
		memset(memory, atomic_load(&value), BYTES);
		return;
	}
	if (mmap(page, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
		    0) == MAP_FAILED)
		_exit(3);
	memset(page, atomic_load(&value), PAGE);
}

static void handle(int number, siginfo_t *info, void *context)
{
	char *page = (char *)((uintptr_t)info->si_addr & ~(uintptr_t)(PAGE - 1));

	(void)number, (void)context;
	if (page < memory || page >= memory + BYTES)
		_exit(4);
	atomic_fetch_add(&faults, 1);
	atomic_fetch_add(&foreign, is_copy_thread());
	if (jumps && atomic_load(&leaving))
		siglongjmp(out, 1);
	repair(page);
}

static void watch(void)
{
	struct sigaction action = {.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_NODEFER};

	sigaction(SIGSEGV, &action, NULL);
	sigaction(SIGBUS, &action, NULL);
}

static void make(void)
{
	plain = malloc(BYTES);
	memory = mmap(LOW, BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
	TEST_NEED(memory == LOW);
	OK(cudaMalloc((void **)&device, BYTES));
	watch();
}

/* Any page: not too fast, for the copy has to get on. */
static char *some_page(unsigned *seed)
{
	*seed = *seed * 1103515245u + 12345u;
	usleep(200);
	return memory + (*seed >> 8) % (BYTES / PAGE) * PAGE;
}

static void *bar_all(void *seed)
{
	for (unsigned at = (unsigned)(uintptr_t)seed; !atomic_load(&over);)
		mprotect(some_page(&at), PAGE, PROT_NONE);
	return NULL;
}

/* Once in a copy, and in none at its start if possible: one that finds a hole there is left to the
 * driver. */
static bool is_due(int *round)
{
	const int now = atomic_load(&value);

	if (!atomic_load(&copying) || *round == now)
		return false;
	*round = now;
	return true;
}

static void *bar_writes(void *seed)
{
	int round = 0;

	for (unsigned at = (unsigned)(uintptr_t)seed; !atomic_load(&over);) {
		char *page = some_page(&at);

		if (is_due(&round))
			mprotect(page, PAGE, PROT_READ);
	}
	return NULL;
}

static void *unmap(void *seed)
{
	for (unsigned at = (unsigned)(uintptr_t)seed; !atomic_load(&over);)
		munmap(some_page(&at), PAGE);
	return NULL;
}

static void *unmap_in_copies(void *seed)
{
	int round = 0;

	for (unsigned at = (unsigned)(uintptr_t)seed; !atomic_load(&over);) {
		char *page = some_page(&at);

		if (is_due(&round))
			munmap(page, PAGE);
	}
	return NULL;
}

/* A few times in a round: each makes hundreds of faults, and on a busy machine more would come than
 * are repaired. */
static void *cut_off(void *seed)
{
	int round = 0, cuts = 0;

	for (unsigned at = (unsigned)(uintptr_t)seed; !atomic_load(&over);) {
		const off_t to = (off_t)(some_page(&at) - memory);
		struct stat now;

		/* One that is cut off already would grow. */
		usleep(1000);
		if (round != atomic_load(&value)) {
			round = atomic_load(&value);
			cuts = 0;
		}
		if (cuts < CUTS && fstat(file, &now) == 0 && now.st_size == (off_t)BYTES) {
			if (ftruncate(file, to) != 0)
				break;
			cuts++;
		}
	}
	return NULL;
}

/* In place, for a hole may come at any time. */
static void set_memory(int to)
{
	atomic_store(&value, to);
	memset(memory, to, BYTES);
}

static void send_rounds(void)
{
	for (int i = 1; i <= ROUNDS; i++) {
		TFSHIM_STEP();
		set_memory(i);
		OK(cudaMemcpy(device, memory, BYTES, cudaMemcpyHostToDevice));
		OK(cudaMemcpy(plain, device, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(plain, i, BYTES), 0);
	}
}

static void receive_rounds(void)
{
	for (int i = 1; i <= ROUNDS; i++) {
		TFSHIM_STEP();
		set_memory(i + 100);
		OK(cudaMemset(device, i, BYTES));
		/* A page that the copy has been to, and that is then replaced, has this. */
		atomic_store(&value, i);
		atomic_store(&copying, true);
		OK(cudaMemcpy(memory, device, BYTES, cudaMemcpyDeviceToHost));
		atomic_store(&copying, false);
		TEST_EQ(wrong_bytes(memory, i, BYTES), 0);
	}
}

static void while_it(void *(*disturbs)(void *), void (*rounds)(void))
{
	pthread_t other;

	atomic_store(&over, false);
	TEST_EQ(pthread_create(&other, NULL, disturbs, (void *)7), 0);
	rounds();
	atomic_store(&over, true);
	pthread_join(other, NULL);
	printf("faults: %d\n", atomic_load(&faults));
	TEST_TRUE(atomic_load(&faults) > 0);
	TEST_EQ(atomic_load(&foreign), 0);
}

static void barred(void)
{
	make();
	while_it(bar_all, send_rounds);
}

static void write_barred(void)
{
	make();
	while_it(bar_writes, receive_rounds);
}

static void unmapped(void)
{
	make();
	while_it(unmap, send_rounds);
}

static void target_unmapped(void)
{
	make();
	while_it(unmap_in_copies, receive_rounds);
}

static void truncated(void)
{
	make();
	file = memfd_create("data", 0);
	TEST_EQ(ftruncate(file, (off_t)BYTES), 0);
	memory = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
	TEST_NEED(memory != MAP_FAILED);
	while_it(cut_off, send_rounds);
}

/* Leaves the copy by a long jump, in the middle of it. */
static void jump_out(size_t bytes, bool async)
{
	char *page = memory + bytes / 2 / PAGE * PAGE;

	mprotect(page, PAGE, PROT_NONE);
	atomic_store(&leaving, true);
	jumps = true;
	if (sigsetjmp(out, 1) == 0) {
		if (async)
			cudaMemcpyAsync(
				device, memory, bytes, cudaMemcpyHostToDevice, cudaStreamPerThread);
		else
			cudaMemcpy(device, memory, bytes, cudaMemcpyHostToDevice);
		TEST_TRUE(!"it came back");
	}
	jumps = false;
	atomic_store(&leaving, false);
	mprotect(page, PAGE, PROT_READ | PROT_WRITE);
}

static void *jump_and_go_on(void *number)
{
	const int first = (int)(intptr_t)number * 10;

	for (int i = 1; i <= 4; i++) {
		const size_t bytes = i % 2 ? BYTES : (size_t)200 << 10;

		set_memory(first + i);
		jump_out(bytes, i > 2);
		OK(cudaMemcpy(device, memory, BYTES, cudaMemcpyHostToDevice));
		OK(cudaMemcpy(plain, device, BYTES, cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(plain, first + i, BYTES), 0);
	}
	return NULL;
}

/* Each thread at once after the other; then one that has never left finds all as it was. */
static void jumped(void)
{
	pthread_t thread;

	make();
	set_memory(0);
	OK(cudaMemcpy(device, memory, BYTES, cudaMemcpyHostToDevice));
	for (intptr_t i = 1; i <= 6; i++) {
		TEST_EQ(pthread_create(&thread, NULL, jump_and_go_on, (void *)i), 0);
		pthread_join(thread, NULL);
	}
	printf("jumps: %d\n", atomic_load(&faults));
	TEST_EQ(atomic_load(&foreign), 0);
	send_rounds();
}

static const struct rewrite_case cases[] = {
	{"barred", barred},
	{"write-barred", write_barred},
	{"unmapped", unmapped},
	{"target-unmapped", target_unmapped},
	{"truncated", truncated},
	{"jumped", jumped},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	return rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
}
