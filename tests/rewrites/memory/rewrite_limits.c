/* SPDX-License-Identifier: MIT */
/* One case for each further check of pinned-staging: it breaks that precondition, and the copy must
 * be as it is without the rewrite. The script reads the ledger afterwards. */
#include <dlfcn.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include "tests/promises/sim_gate.h"
#include "tests/rewrites/rewrite_case.h"
#include "tests/tools/unseen_symbol.h"

#define BYTES ((size_t)3 << 20)

static char *device;
static cudaStream_t stream;

static void receive(void *target, const void *source)
{
	memset(target, 0, BYTES);
	OK(cudaMemcpy(target, source, BYTES, cudaMemcpyDeviceToHost));
	TEST_EQ(wrong_bytes(target, 5, BYTES), 0);
}

static void send(void *source)
{
	memset(source, 5, BYTES);
	OK(cudaMemcpy(device, source, BYTES, cudaMemcpyHostToDevice));
}

static void send_and_receive(void)
{
	char *host = malloc(BYTES);

	send(host);
	receive(host, device);
	free(host);
}

static void receive_later(void)
{
	char *host = malloc(BYTES);

	OK(cudaMemsetAsync(device, 5, BYTES, stream));
	OK(cudaMemcpyAsync(host, device, BYTES, cudaMemcpyDeviceToHost, stream));
	OK(cudaStreamSynchronize(stream));
	TEST_EQ(wrong_bytes(host, 5, BYTES), 0);
}

static void receive_pinned(void)
{
	char *pinned = NULL;
	char *registered = aligned_alloc(4096, BYTES);

	OK(cudaMallocHost((void **)&pinned, BYTES));
	OK(cudaHostRegister(registered, BYTES, 0));
	OK(cudaMemset(device, 5, BYTES));
	receive(pinned, device);
	receive(registered, device);
	OK(cudaHostUnregister(registered));
}

static void receive_managed(void)
{
	char *managed = NULL;

	OK(cudaMallocManaged((void **)&managed, BYTES, cudaMemAttachGlobal));
	OK(cudaMemset(managed, 5, BYTES));
	receive(malloc(BYTES), managed);
}

static sigjmp_buf out;
static pid_t self;

/* Another thread is the device's own; it may go on. */
static void leave(int number, siginfo_t *info, void *context)
{
	(void)context;
	if (gettid() == self)
		siglongjmp(out, number);
	mmap((char *)((uintptr_t)info->si_addr & ~(uintptr_t)4095), 4096, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

/* Host memory with a page missing in it, in which a copy faults as it would anywhere. */
static void cross_hole(enum cudaMemcpyKind kind)
{
	struct sigaction action = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO};
	char *host = mmap(NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	self = gettid();
	memset(host, 5, BYTES);
	munmap(host + (1 << 20), 4096);
	sigaction(SIGSEGV, &action, NULL);
	if (sigsetjmp(out, 1) != 0)
		return;
	cudaMemcpy(kind == cudaMemcpyHostToDevice ? device : host,
		kind == cudaMemcpyHostToDevice ? host : device, BYTES, kind);
	/* Or an error, as the driver sees fit. */
	cudaGetLastError();
}

static void send_hole(void)
{
	cross_hole(cudaMemcpyHostToDevice);
}

static void receive_hole(void)
{
	cross_hole(cudaMemcpyDeviceToHost);
}

/* What is left of the address space is the program's. */
static void send_in_little_space(void)
{
	const rlim_t least = (rlim_t)64 << 20;
	struct rlimit limit;
	unsigned long pages = 0;
	char *host = malloc(BYTES);
	FILE *statm = fopen("/proc/self/statm", "r");

	TEST_NEED(statm && fscanf(statm, "%lu", &pages) == 1);
	fclose(statm);
	OK(cudaDeviceSynchronize());
	getrlimit(RLIMIT_AS, &limit);
	limit.rlim_cur = (rlim_t)pages * (rlim_t)sysconf(_SC_PAGESIZE) + least;
	TEST_EQ(setrlimit(RLIMIT_AS, &limit), 0);
	send(host);
	receive(host, device);
	TEST_TRUE(malloc(least / 2));
}

/* As in a container: the calls that copy memory without touching it are forbidden. */
static void forbid_copy_calls(void)
{
	struct sock_filter rules[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	const struct sock_fprog program = {sizeof(rules) / sizeof(rules[0]), rules};

	TEST_EQ(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
	TEST_EQ(syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC, &program),
		0);
}

static void send_in_container(void)
{
	forbid_copy_calls();
	for (int i = 0; i < 4; i++)
		send_and_receive();
}

/* Forbidden only when copies have gone well already. */
static void send_in_shrinking_container(void)
{
	for (int i = 0; i < 2; i++)
		send_and_receive();
	forbid_copy_calls();
	for (int i = 0; i < 2; i++)
		send_and_receive();
}

static void send_often(void)
{
	for (int i = 0; i < 40; i++)
		send_and_receive();
}

static void receive_often(void)
{
	char *host = malloc(BYTES);

	OK(cudaMemset(device, 5, BYTES));
	for (int i = 0; i < 10; i++)
		receive(host, device);
}

/* The runtime works in whatever context is current: what was made in one is of no use in another.
 */
static void send_in_two_contexts(void)
{
	void *library = dlopen("libcuda.so.1", RTLD_NOW);
	int (*create)(void **, unsigned, int);
	void *context;

	TEST_NEED(library);
	create = (__typeof__(create))dlsym(library, "cuCtxCreate_v2");
	TEST_NEED(create);
	send_and_receive();
	TEST_EQ(create(&context, 0, 0), 0);
	OK(cudaMalloc((void **)&device, BYTES));
	send_and_receive();
}

/* By a way that nothing between the program and the runtime sees. */
static void send_in_hidden_capture(void)
{
	cudaError_t (*begin)(cudaStream_t, enum cudaStreamCaptureMode);
	cudaError_t (*end)(cudaStream_t, cudaGraph_t *);
	char *host = malloc(BYTES);
	cudaGraph_t graph = NULL;
	cudaGraphExec_t executable;

	begin = (__typeof__(begin))unseen_symbol("libcudart.so.13", "cudaStreamBeginCapture");
	end = (__typeof__(end))unseen_symbol("libcudart.so.13", "cudaStreamEndCapture");
	TEST_NEED(begin && end);
	memset(host, 1, BYTES);
	OK(begin(stream, cudaStreamCaptureModeRelaxed));
	OK(cudaMemcpyAsync(device, host, BYTES, cudaMemcpyHostToDevice, stream));
	OK(end(stream, &graph));
	/* A graph's copy reads its source when it is launched. */
	memset(host, 5, BYTES);
	OK(cudaGraphInstantiate(&executable, graph, 0));
	OK(cudaGraphLaunch(executable, stream));
	OK(cudaStreamSynchronize(stream));
	receive(host, device);
}

static const struct rewrite_case cases[] = {
	{"plain", send_and_receive},
	{"often", send_often},
	{"copy-calls", send_in_container},
	{"copy-calls-later", send_in_shrinking_container},
	{"receive-often", receive_often},
	{"blocking-read", receive_later},
	{"target-pageable", receive_pinned},
	{"source-device-memory", receive_managed},
	{"source-mapped", send_hole},
	{"target-mapped", receive_hole},
	{"memory-to-spare", send_in_little_space},
	{"two-contexts", send_in_two_contexts},
	{"hidden-capture", send_in_hidden_capture},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(300);
	OK(cudaMalloc((void **)&device, BYTES));
	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	const int result = rewrite_case_run(cases, sizeof(cases) / sizeof(cases[0]), words[1]);
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	return result != 0 ? result : test_result();
}
