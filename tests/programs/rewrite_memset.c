/* SPDX-License-Identifier: MIT */
/*
 * What programs count on when they zero memory, one case each. They hold with and without tfshim,
 * and fail when zeros that something needs are left out: the script has it do so. Numbers are small
 * integers, so that sums are exact in any order.
 */
#include <cublas_v2.h>
#include <cudnn.h>
#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <sys/wait.h>

#include "tests/programs/sim_ptx.h"

#define M 24
#define N 16
#define K 8
#define PAD 8
#define ROUNDS 24
#define BLAS(call) TEST_EQ(call, CUBLAS_STATUS_SUCCESS)
#define DNN(call) TEST_EQ(call, CUDNN_STATUS_SUCCESS)

/* The sum is M by N, its columns M + PAD apart in memory that is whole as often as not. */
struct bench {
	cublasHandle_t blas;
	cudaStream_t stream;
	float *a, *b, *c, *other;
	float host_a[M * K], host_b[K * N];
};

static const size_t bytes = (size_t)(M + PAD) * N * sizeof(float),
		    whole = (size_t)M * N * sizeof(float);
static const float one = 1, zero = 0;
static struct bench bench;

static void make(struct bench *s)
{
	BLAS(cublasCreate(&s->blas));
	OK(cudaMalloc((void **)&s->a, sizeof(s->host_a)));
	OK(cudaMalloc((void **)&s->b, sizeof(s->host_b)));
	OK(cudaMalloc((void **)&s->c, bytes));
	OK(cudaMalloc((void **)&s->other, bytes));
	OK(cudaMemset(s->other, 0, bytes));
}

/* New operands, and rubbish where the sum goes. */
static void begin(struct bench *s, int round)
{
	for (int i = 0; i < M * K; i++)
		s->host_a[i] = (float)((i * 7 + round) % 5 + 1);
	for (int i = 0; i < K * N; i++)
		s->host_b[i] = (float)((i * 3 + round) % 7 + 1);
	OK(cudaMemcpy(s->a, s->host_a, sizeof(s->host_a), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(s->b, s->host_b, sizeof(s->host_b), cudaMemcpyHostToDevice));
	OK(cudaMemsetAsync(s->c, 0x7f, bytes, s->stream));
}

static void clear(struct bench *s, size_t count)
{
	OK(cudaMemsetAsync(s->c, 0, count, s->stream));
}

static void product(struct bench *s, float alpha, float beta, int leading)
{
	BLAS(cublasSgemm(s->blas, CUBLAS_OP_N, CUBLAS_OP_N, M, N, K, &alpha, s->a, M, s->b, K,
		&beta, s->c, leading));
}

static float product_of(const struct bench *s, int row, int column)
{
	float sum = 0;

	for (int i = 0; i < K; i++)
		sum += s->host_a[i * M + row] * s->host_b[column * K + i];
	return sum;
}

/* Is c `times` the product, plus `more`? */
static void check(struct bench *s, int leading, float times, float more)
{
	static __thread float back[(M + PAD) * N];
	int wrong = 0;

	OK(cudaMemcpy(back, s->c, (size_t)leading * N * sizeof(float), cudaMemcpyDeviceToHost));
	for (int column = 0; column < N; column++)
		for (int row = 0; row < leading; row++)
			wrong += back[column * leading + row] !=
				 (row < M ? times * product_of(s, row, column) + more : 0);
	TEST_EQ(wrong, 0);
}

static void add(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void over(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, 1, 0, M);
		check(&bench, M, 1, 0);
	}
}

/* Counterexample 11: two micro-batches, and both parts are kept. */
static void microbatch(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, 1, i % 2 == 0, M);
		product(&bench, 1, 1, M);
		check(&bench, M, 2, 0);
	}
}

/* Counterexample 12: an output whose rows have room between them, which stays zero. */
static void padded(void)
{
	static float back[4][12];
	cudnnActivationDescriptor_t relu;
	cudnnTensorDescriptor_t in, out;
	cudnnHandle_t dnn;

	DNN(cudnnCreate(&dnn));
	DNN(cudnnCreateActivationDescriptor(&relu));
	DNN(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
	DNN(cudnnCreateTensorDescriptor(&in));
	DNN(cudnnCreateTensorDescriptor(&out));
	DNN(cudnnSetTensor4dDescriptor(in, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 4, 11));
	/* Its first and last element are where a dense tensor of 4 by 12 would have them. */
	DNN(cudnnSetTensor4dDescriptorEx(out, CUDNN_DATA_FLOAT, 1, 1, 4, 11, 48, 48, 12, 1));
	for (int i = 0; i < ROUNDS; i++) {
		int wrong = 0;

		begin(&bench, i);
		clear(&bench, sizeof(back) - sizeof(float));
		DNN(cudnnActivationForward(
			dnn, relu, &one, in, bench.a, i % 2 == 0 ? &zero : &one, out, bench.c));
		OK(cudaMemcpy(back, bench.c, sizeof(back) - sizeof(float), cudaMemcpyDeviceToHost));
		for (int row = 0; row < 4; row++)
			for (int column = 0; column < 12 && row * 12 + column < 47; column++)
				wrong += back[row][column] !=
					 (column < 11 ? bench.host_a[row * 11 + column] : 0);
		TEST_EQ(wrong, 0);
	}
}

static void padded_product(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, bytes);
		product(&bench, 1, 1, M + PAD);
		check(&bench, M + PAD, 1, 0);
	}
}

static void partial(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		OK(cudaMemset(bench.c, 0, whole / 2));
		OK(cudaMemset((char *)bench.c + whole / 2, 0, whole / 2));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

/* A call of which it is not known what it writes: it adds one to each element. */
static void opaque(void)
{
	static float ones[M * N];
	float *device;

	for (int i = 0; i < M * N; i++)
		ones[i] = 1;
	OK(cudaMalloc((void **)&device, whole));
	OK(cudaMemcpy(device, ones, whole, cudaMemcpyHostToDevice));
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		BLAS(cublasSaxpy(bench.blas, M * N, &one, device, 1, bench.c, 1));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 1);
	}
}

static void kernel(void)
{
	static char words[24];
	float number = 1;
	void *arguments[] = {words, &number};
	cudaLibrary_t library;
	cudaKernel_t unknown;

	OK(cudaLibraryLoadData(&library, sim_ptx, NULL, NULL, 0, NULL, NULL, 0));
	OK(cudaLibraryGetKernel(&unknown, library, "unknown"));
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaLaunchKernel((const void *)unknown, (dim3){1, 1, 1}, (dim3){32, 1, 1},
			arguments, 0, NULL));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

/* From the zeros, before they are added to. */
static void copied(void)
{
	float back[M];

	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaMemcpyAsync(bench.other, bench.c, whole, cudaMemcpyDeviceToDevice, NULL));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
		OK(cudaMemcpy(back, bench.other, sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ(wrong_bytes(back, 0, sizeof(back)), 0);
	}
}

/* Into some of the zeros. */
static void written(void)
{
	float back = 0;

	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaMemcpy(bench.c, &one, sizeof(one), cudaMemcpyHostToDevice));
		product(&bench, 1, 1, M);
		OK(cudaMemcpy(&back, bench.c, sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ((int)back, (int)product_of(&bench, 0, 0) + 1);
	}
}

/* Copies of other memory, and questions, are no matter. */
static void apart(void)
{
	float back[M];
	size_t left, all;

	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaMemcpy(back, bench.other, sizeof(back), cudaMemcpyDeviceToHost));
		OK(cudaGetLastError());
		OK(cudaMemGetInfo(&left, &all));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void event(void)
{
	cudaEvent_t event;

	OK(cudaEventCreate(&event));
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaEventRecord(event, NULL));
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void wait_between(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaDeviceSynchronize());
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

/* The product is on another stream, which keeps to the first one's order. */
static void other_stream(void)
{
	cudaStream_t stream;

	OK(cudaStreamCreate(&stream));
	BLAS(cublasSetStream(bench.blas, stream));
	add();
}

/* A stream of the program's own, for all of it. */
static void own_stream(void)
{
	OK(cudaStreamCreate(&bench.stream));
	BLAS(cublasSetStream(bench.blas, bench.stream));
	add();
}

static void free_stream(void)
{
	cudaStream_t stream;

	OK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	add();
}

/* The host reads the zeros itself. */
static void managed(void)
{
	float *memory;

	OK(cudaMallocManaged((void **)&memory, bytes, cudaMemAttachGlobal));
	bench.c = memory;
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		OK(cudaDeviceSynchronize());
		TEST_EQ(wrong_bytes(memory, 0, whole), 0);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void elsewhere(void)
{
	void *memory;

	OK(cudaSetDevice(1));
	OK(cudaMalloc(&memory, bytes));
	OK(cudaSetDevice(0));
	add();
}

/* Does nothing to the sum, and comes after the fill. */
static void *beside(void *nothing)
{
	float back[M];

	OK(cudaMemcpy(back, bench.other, sizeof(back), cudaMemcpyDeviceToHost));
	return nothing;
}

static void other_thread(void)
{
	pthread_t thread;

	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		TEST_EQ(pthread_create(&thread, NULL, beside, NULL), 0);
		pthread_join(thread, NULL);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

static void *work(void *own_stream)
{
	struct bench *s = calloc(1, sizeof(*s));

	make(s);
	if (own_stream != NULL) {
		OK(cudaStreamCreate(&s->stream));
		BLAS(cublasSetStream(s->blas, s->stream));
	}
	for (int i = 0; i < ROUNDS; i++) {
		begin(s, i);
		clear(s, whole);
		product(s, 1, 1, M);
		if (s->stream != NULL)
			OK(cudaStreamSynchronize(s->stream));
		check(s, M, 1, 0);
	}
	free(s);
	return NULL;
}

static void run_threads(void *own_streams)
{
	pthread_t ids[8];

	for (int i = 0; i < 8; i++)
		TEST_EQ(pthread_create(&ids[i], NULL, work, own_streams), 0);
	for (int i = 0; i < 8; i++)
		pthread_join(ids[i], NULL);
}

static void threads(void)
{
	run_threads(NULL);
}

static void streams(void)
{
	run_threads(&bench);
}

static atomic_int phase; /* odd: c was zeroed, and not soiled since */

/* Whoever knows that the memory was zeroed never sees what was there before. */
static void *look(void *nothing)
{
	static float back[M * N];
	int before;

	while ((before = atomic_load(&phase)) >= 0) {
		OK(cudaMemcpy(back, bench.c, whole, cudaMemcpyDeviceToHost));
		if (before % 2 == 1 && atomic_load(&phase) == before)
			TEST_EQ(wrong_bytes(back, 0x7f, whole) > 0, true);
	}
	return nothing;
}

static void watched(void)
{
	pthread_t thread;

	TEST_EQ(pthread_create(&thread, NULL, look, NULL), 0);
	for (int i = 0; i < 8 * ROUNDS; i++) {
		begin(&bench, i);
		OK(cudaDeviceSynchronize());
		clear(&bench, whole);
		atomic_fetch_add(&phase, 1);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
		atomic_fetch_add(&phase, 1);
	}
	atomic_store(&phase, -1);
	pthread_join(thread, NULL);
}

static void capture(void)
{
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaGraph_t graph;

	OK(cudaStreamCreate(&stream));
	bench.stream = stream;
	BLAS(cublasSetStream(bench.blas, stream));
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		OK(cudaStreamSynchronize(stream));
		OK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
		clear(&bench, whole);
		product(&bench, 1, 1, M);
		OK(cudaStreamEndCapture(stream, &graph));
		OK(cudaGraphInstantiate(&exec, graph, 0));
		OK(cudaGraphLaunch(exec, stream));
		OK(cudaStreamSynchronize(stream));
		check(&bench, M, 1, 0);
		OK(cudaGraphExecDestroy(exec));
		OK(cudaGraphDestroy(graph));
	}
}

static void reset(void)
{
	add();
	clear(&bench, whole);
	OK(cudaDeviceReset());
	make(&bench);
	add();
}

/* A child that goes on without exec knows nothing of what its parent holds back. */
static void forked(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		int status = 0;
		pid_t child;

		begin(&bench, i);
		clear(&bench, whole);
		child = fork();
		if (child == 0) {
			cudaGetLastError();
			_exit(0);
		}
		TEST_EQ(waitpid(child, &status, 0), child);
		TEST_EQ(status, 0);
		product(&bench, 1, 1, M);
		check(&bench, M, 1, 0);
	}
}

/* cuDNN documents the order in which this adds to be any. */
static void any_order(void)
{
	static float x[M * N], w;
	cudnnConvolutionDescriptor_t convolution;
	cudnnTensorDescriptor_t tensor;
	cudnnFilterDescriptor_t filter;
	cudnnHandle_t dnn;

	DNN(cudnnCreate(&dnn));
	DNN(cudnnCreateTensorDescriptor(&tensor));
	DNN(cudnnCreateFilterDescriptor(&filter));
	DNN(cudnnCreateConvolutionDescriptor(&convolution));
	DNN(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, M, N));
	DNN(cudnnSetFilter4dDescriptor(filter, CUDNN_DATA_FLOAT, CUDNN_TENSOR_NCHW, 1, 1, 1, 1));
	DNN(cudnnSetConvolution2dDescriptor(
		convolution, 0, 0, 1, 1, 1, 1, CUDNN_CROSS_CORRELATION, CUDNN_DATA_FLOAT));
	for (int i = 0; i < ROUNDS; i++) {
		for (int k = 0; k < M * N; k++)
			x[k] = (float)(i % 3);
		begin(&bench, i);
		OK(cudaMemcpy(bench.other, x, sizeof(x), cudaMemcpyHostToDevice));
		clear(&bench, sizeof(w));
		DNN(cudnnConvolutionBackwardFilter(dnn, &one, tensor, bench.other, tensor,
			bench.other, convolution, CUDNN_CONVOLUTION_BWD_FILTER_ALGO_0, NULL, 0,
			&one, filter, bench.c));
		OK(cudaMemcpy(&w, bench.c, sizeof(w), cudaMemcpyDeviceToHost));
		TEST_EQ((int)w, M * N * (i % 3) * (i % 3));
	}
}

/* The call behind the fill is refused: the zeros are there. */
static void refused(void)
{
	float back[M * N], *a = bench.a;
	cudnnActivationDescriptor_t relu;
	cudnnTensorDescriptor_t tensor;
	cudnnHandle_t dnn;

	DNN(cudnnCreate(&dnn));
	DNN(cudnnCreateActivationDescriptor(&relu));
	DNN(cudnnCreateTensorDescriptor(&tensor));
	DNN(cudnnSetActivationDescriptor(relu, CUDNN_ACTIVATION_RELU, CUDNN_NOT_PROPAGATE_NAN, 0));
	DNN(cudnnSetTensor4dDescriptor(
		tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, M * K));
	for (int i = 0; i < ROUNDS; i++) {
		const bool bad = i == ROUNDS - 1;

		begin(&bench, i);
		clear(&bench, sizeof(bench.host_a));
		const cudnnStatus_t status = cudnnActivationForward(
			dnn, relu, &one, tensor, bad ? NULL : a, &one, tensor, bench.c);
		TEST_EQ(status != CUDNN_STATUS_SUCCESS, bad);
		OK(cudaMemcpy(back, bench.c, sizeof(bench.host_a), cudaMemcpyDeviceToHost));
		TEST_EQ(memcmp(back, bench.host_a, sizeof(bench.host_a)) == 0, !bad);
		TEST_EQ(wrong_bytes(back, 0, sizeof(bench.host_a)) == 0, bad);
	}
}

/* A host that stops with an error of its own waiting is not answered for. */
static void failed(void)
{
	TEST_EQ(cudaMemcpy(bench.c, bench.a, 4, (enum cudaMemcpyKind)99),
		cudaErrorInvalidMemcpyDirection);
	add();
	TEST_EQ(cudaGetLastError(), cudaErrorInvalidMemcpyDirection);
}

static void many(void)
{
	static float *memory[200];
	float back;

	for (int i = 0; i < 200; i++)
		OK(cudaMalloc((void **)&memory[i], 512));
	for (int i = 0; i < 200; i++)
		OK(cudaMemset(memory[i], 0, 512));
	for (int i = 0; i < 200; i++) {
		OK(cudaMemcpy(&back, memory[i], sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ((int)back, 0);
	}
}

static void half(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, 1, 0.5f, M);
		check(&bench, M, 1, 0);
	}
}

static void negative(void)
{
	for (int i = 0; i < ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		product(&bench, -1, 1, M);
		check(&bench, M, -1, 0);
	}
}

/* -0 comes out of the call from round `from` on, and is +0 when it was added to zeros. */
static void signs_from(int from)
{
	static const float both[2] = {3, -0.0f};
	cudnnTensorDescriptor_t tensor;
	cudnnHandle_t dnn;
	int minus = 0;

	DNN(cudnnCreate(&dnn));
	DNN(cudnnCreateTensorDescriptor(&tensor));
	DNN(cudnnSetTensor4dDescriptor(tensor, CUDNN_TENSOR_NCHW, CUDNN_DATA_FLOAT, 1, 1, 1, 1));
	for (int i = 0; i < ROUNDS; i++) {
		float back;

		begin(&bench, i);
		OK(cudaMemcpy(bench.a, &both[i >= from], sizeof(float), cudaMemcpyHostToDevice));
		OK(cudaMemset(bench.c, 0, sizeof(float)));
		DNN(cudnnAddTensor(dnn, &one, tensor, bench.a, &one, tensor, bench.c));
		OK(cudaMemcpy(&back, bench.c, sizeof(back), cudaMemcpyDeviceToHost));
		TEST_EQ(back == both[i >= from], true);
		minus += back == 0 && signbit(back);
	}
	printf("minus zeros: %d\n", minus);
}

static void signs(void)
{
	signs_from(4);
}

static void late_signs(void)
{
	signs_from(ROUNDS - 4);
}

static void unseen(void)
{
	if (dlopen(getenv("PLUGIN"), RTLD_NOW) == NULL)
		TEST_STR(dlerror(), "");
	add();
}

static void crowded(void)
{
	void *memory;
	size_t left, all;

	OK(cudaMemGetInfo(&left, &all));
	for (size_t size = left; size > 64; size = size / 4 * 3)
		if (cudaMalloc(&memory, size) != cudaSuccess)
			cudaGetLastError();
	add();
}

static void at_exit(void)
{
	static float back[M * N];

	OK(cudaMemcpy(back, bench.c, whole, cudaMemcpyDeviceToHost));
	if (wrong_bytes(back, 0, whole) != 0)
		_exit(1);
}

static void ending(void)
{
	for (int i = 0; i <= ROUNDS; i++) {
		begin(&bench, i);
		clear(&bench, whole);
		if (i < ROUNDS)
			product(&bench, 1, 1, M);
	}
}

static const struct {
	const char *name;
	void (*run)(void);
} cases[] = {
	{"add", add},
	{"over", over},
	{"microbatch", microbatch},
	{"padded", padded},
	{"padded-product", padded_product},
	{"partial", partial},
	{"opaque", opaque},
	{"kernel", kernel},
	{"copied", copied},
	{"written", written},
	{"apart", apart},
	{"event", event},
	{"wait", wait_between},
	{"other-stream", other_stream},
	{"own-stream", own_stream},
	{"free-stream", free_stream},
	{"managed", managed},
	{"elsewhere", elsewhere},
	{"other-thread", other_thread},
	{"threads", threads},
	{"streams", streams},
	{"watched", watched},
	{"capture", capture},
	{"reset", reset},
	{"forked", forked},
	{"any-order", any_order},
	{"refused", refused},
	{"failed", failed},
	{"many", many},
	{"half", half},
	{"negative", negative},
	{"signs", signs},
	{"late-signs", late_signs},
	{"unseen", unseen},
	{"crowded", crowded},
	{"ending", ending},
};

int main(int count, char **words)
{
	if (count != 2)
		return 2;
	alarm(60);
	/* Before the library's own, so that it runs after it. */
	if (strcmp(words[1], "ending") == 0)
		atexit(at_exit);
	make(&bench);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (strcmp(cases[i].name, words[1]) == 0) {
			cases[i].run();
			return test_result();
		}
	}
	return 2;
}
