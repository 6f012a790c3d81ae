/* SPDX-License-Identifier: MIT */
/*
 * Convolutions compute through the workspace that they are lent: what was in it does not matter,
 * all of it is written to, nobody else may use it meanwhile, and too little of it is refused.
 *
 * A call is one or two kernels that follow each other in its stream, and no host function can be
 * put between them. Two streams that share a workspace may take any order all the same: one such
 * is taken here by launching the kernels of a captured call one at a time.
 */
#include <semaphore.h>

#include "tests/libraries/lib_conv.h"

static const struct lib_conv cases[] = {
	{4, 3, 8, 1, 12, 12, 5, 5, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{2, 4, 6, 1, 9, 7, 3, 3, 1, 1, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0},
	{2, 4, 6, 2, 8, 8, 3, 3, 1, 1, 2, 1, 1, 1, CUDNN_CONVOLUTION, 1, 1, 0},
};

static const int algos[LIB_ARRAYS] = {CUDNN_CONVOLUTION_BWD_DATA_ALGO_COUNT,
	CUDNN_CONVOLUTION_BWD_FILTER_ALGO_COUNT, CUDNN_CONVOLUTION_FWD_ALGO_COUNT};

enum { BEHIND = 4096 };

static cudnnHandle_t dnn;

/* One algorithm's call, with what it gives. */
struct call {
	const struct lib_problem *p;
	int out, algo;
	size_t size, n;
	char *work; /* size and BEHIND more bytes */
	float *result, *want, *got;
};

static bool begin(struct call *c, const struct lib_problem *p, int out, int algo)
{
	*c = (struct call){.p = p, .out = out, .algo = algo, .n = p->size[out]};
	if (lib_workspace_size(dnn, p, out, algo, &c->size) || c->size == 0)
		return false;
	c->result = lib_upload(NULL, c->n);
	c->want = lib_values(c->n, 1);
	c->got = lib_values(c->n, 1);
	LIB_EQ(cudaMalloc((void **)&c->work, c->size + BEHIND), 0);
	LIB_EQ(cudaMemset(c->work, 0, c->size + BEHIND), 0);
	LIB_EQ(lib_convolve(dnn, p, out, algo, c->work, c->size, c->result), 0);
	lib_download(c->want, c->result, c->n);
	return true;
}

static void finish(struct call *c)
{
	cudaFree(c->result);
	cudaFree(c->work);
	free(c->want);
	free(c->got);
}

/* Whether the result is that of the first time; what sums in any order is near it. */
static bool right(struct call *c)
{
	const bool any_order = c->out == LIB_W && c->algo == 3;
	bool same = true;

	lib_download(c->got, c->result, c->n);
	for (size_t i = 0; i < c->n && same; i++)
		same = any_order ? fabsf(c->got[i] - c->want[i]) < 1e-3f
				 : !memcmp(&c->got[i], &c->want[i], sizeof(float));
	LIB_EQ(cudaMemset(c->result, 0x7f, c->n * sizeof(float)), 0);
	LIB_EQ(cudaDeviceSynchronize(), 0);
	return same;
}

static void say(const struct call *c, const char *what, bool held)
{
	if (held)
		return;
	lib_failures++;
	printf("array %d, algorithm %d: %s\n", c->out, c->algo, what);
}

/* How many bytes of the workspace, or of what is behind it, hold the value. */
static size_t count(const struct call *c, bool behind, int value)
{
	const size_t size = behind ? BEHIND : c->size;
	unsigned char *bytes = malloc(size);
	size_t n = 0;

	LIB_EQ(cudaDeviceSynchronize(), 0);
	LIB_EQ(cudaMemcpy(bytes, c->work + (behind ? c->size : 0), size, cudaMemcpyDeviceToHost),
		0);
	for (size_t i = 0; i < size; i++)
		n += bytes[i] == value;
	free(bytes);
	return n;
}

/* Whatever was there before; afterwards, something else is, and no byte beyond. */
static void check_dirty(struct call *c)
{
	static const int values[] = {0x00, 0x5a, 0x7f, 0x80, 0xff};

	for (size_t i = 0; i < sizeof(values) / sizeof(values[0]); i++) {
		LIB_EQ(cudaMemset(c->work, values[i], c->size), 0);
		LIB_EQ(cudaMemset(c->work + c->size, 0x11, BEHIND), 0);
		LIB_EQ(lib_convolve(dnn, c->p, c->out, c->algo, c->work, c->size, c->result), 0);
		say(c, "what was in the workspace changes the result", right(c));
		say(c, "more than the workspace is written to", count(c, true, 0x11) == BEHIND);
	}
	/* What is lent is the library's, needed or not: hostile mode makes use of that. */
	LIB_EQ(cudaMemset(c->work, 0x11, c->size + BEHIND), 0);
	LIB_EQ(lib_convolve(dnn, c->p, c->out, c->algo, c->work, c->size + BEHIND, c->result), 0);
	say(c, "a part of the workspace is never written to", count(c, false, 0x11) == 0);
	say(c, "more than was needed is left, or not",
		count(c, true, 0x11) == (lib_hostile() ? 0 : BEHIND));
	say(c, "the result is another one", right(c));
}

/* Said with this very status, before anything is put into the stream. */
static void check_small(struct call *c)
{
	cudaStream_t stream;
	cudaGraph_t graph;
	size_t nodes = 1;

	LIB_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
	LIB_EQ(cudnnSetStream(dnn, stream), 0);
	LIB_EQ(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal), 0);
	LIB_EQ(lib_convolve(dnn, c->p, c->out, c->algo, c->work, c->size - 1, c->result),
		CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
	LIB_EQ(lib_convolve(dnn, c->p, c->out, c->algo, NULL, c->size, c->result),
		CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
	LIB_EQ(cudaStreamEndCapture(stream, &graph), 0);
	LIB_EQ(cudaGraphGetNodes(graph, NULL, &nodes), 0);
	LIB_EQ(nodes, 0);
	LIB_EQ(cudaGraphDestroy(graph), 0);
	LIB_EQ(cudnnSetStream(dnn, 0), 0);
	LIB_EQ(cudaStreamDestroy(stream), 0);
}

/* The call's first kernel, what another stream does, and then its second one; false: it has one. */
static bool interrupted(struct call *c, struct call *other)
{
	cudaStream_t stream[2];
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t nodes[2], first[1];
	size_t n = 2, roots = 1;

	for (int i = 0; i < 2; i++)
		LIB_EQ(cudaStreamCreateWithFlags(&stream[i], cudaStreamNonBlocking), 0);
	LIB_EQ(cudnnSetStream(dnn, stream[0]), 0);
	LIB_EQ(cudaStreamBeginCapture(stream[0], cudaStreamCaptureModeThreadLocal), 0);
	LIB_EQ(lib_convolve(dnn, c->p, c->out, c->algo, c->work, c->size, c->result), 0);
	LIB_EQ(cudaStreamEndCapture(stream[0], &graph), 0);
	LIB_EQ(cudaGraphGetNodes(graph, nodes, &n), 0);
	LIB_EQ(cudaGraphGetRootNodes(graph, first, &roots), 0);
	LIB_EQ(cudaGraphInstantiate(&exec, graph, 0), 0);
	for (int half = 0; half < 2; half++) {
		for (size_t i = 0; i < n; i++)
			LIB_EQ(cudaGraphNodeSetEnabled(
				       exec, nodes[i], (nodes[i] == first[0]) == (half == 0)),
				0);
		LIB_EQ(cudaGraphLaunch(exec, stream[0]), 0);
		/* A change to what is enabled is for later launches; what faults may fault now. */
		if (half == 1)
			break;
		LIB_EQ(cudaStreamSynchronize(stream[0]), 0);
		if (!other)
			continue;
		LIB_EQ(cudnnSetStream(dnn, stream[1]), 0);
		LIB_EQ(lib_convolve(dnn, other->p, other->out, other->algo, c->work, other->size,
			       other->result),
			0);
		LIB_EQ(cudaStreamSynchronize(stream[1]), 0);
	}
	LIB_EQ(cudnnSetStream(dnn, 0), 0);
	cudaGraphExecDestroy(exec);
	cudaGraphDestroy(graph);
	for (int i = 0; i < 2; i++)
		cudaStreamDestroy(stream[i]);
	return n == 2;
}

/* Tables of numbers lead anywhere when they are gone: that may be a fault, which stays. */
static bool has_tables(const struct call *c)
{
	return c->algo == 1 && c->out != LIB_X;
}

static void check_shared(struct call *c)
{
	struct call twin;

	interrupted(c, NULL);
	say(c, "one kernel after the other gives another result", right(c));
	if (has_tables(c) || !begin(&twin, c->p, c->out, c->algo))
		return;
	if (interrupted(c, &twin)) {
		say(c, "a workspace that two streams share does no harm", !right(c));
		say(&twin, "what began in another stream does harm", right(&twin));
	}
	finish(&twin);
}

/* The last one: nothing works any more. */
static void check_fault(const struct lib_problem *p)
{
	struct call c, twin;

	if (!begin(&c, p, LIB_Y, CUDNN_CONVOLUTION_FWD_ALGO_IMPLICIT_PRECOMP_GEMM) ||
		!begin(&twin, c.p, c.out, c.algo))
		return;
	interrupted(&c, &twin);
	LIB_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
}

static void held(void *open)
{
	sem_wait(open);
}

/* The same for one that is gone; the stream is held, so that the call itself cannot meet the fault.
 */
static int check_freed(void)
{
	static const struct lib_conv large = {
		64, 6, 16, 1, 14, 14, 5, 5, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, 0, 1, 0};
	struct lib_problem p;
	struct call c;
	sem_t open;

	sem_init(&open, 0, 0);
	LIB_EQ(cudnnCreate(&dnn), 0);
	lib_problem_init(&p, &large);
	LIB_TRUE(begin(&c, &p, LIB_W, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_FFT));
	LIB_TRUE(c.size > 1 << 20);
	LIB_EQ(cudaFree(c.work), 0);
	LIB_EQ(cudaLaunchHostFunc(NULL, held, &open), 0);
	LIB_EQ(lib_convolve(dnn, c.p, c.out, c.algo, c.work, c.size, c.result), 0);
	sem_post(&open);
	LIB_EQ(cudaDeviceSynchronize(), cudaErrorIllegalAddress);
	return lib_result();
}

int main(int argc, char **argv)
{
	struct lib_problem p[sizeof(cases) / sizeof(cases[0])];
	struct call c;
	int checked = 0;

	if (argc > 1 && !strcmp(argv[1], "freed"))
		return check_freed();
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		lib_problem_init(&p[i], &cases[i]);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		for (int out = 0; out < LIB_ARRAYS; out++)
			for (int algo = 0; algo < algos[out]; algo++) {
				if (!begin(&c, &p[i], out, algo))
					continue;
				check_dirty(&c);
				check_small(&c);
				check_shared(&c);
				finish(&c);
				checked++;
			}
	LIB_TRUE(checked > 20);
	check_fault(&p[1]);
	return lib_result();
}
