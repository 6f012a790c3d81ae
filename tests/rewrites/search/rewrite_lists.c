/* SPDX-License-Identifier: MIT */
/*
 * Prints the lists of algorithms that cuDNN gives for one convolution, an entry per line:
 *	rewrite_lists guess COUNT | find COUNT | findex BYTES [TIMES]
 * A measuring call writes to its outputs, and waits; with TIMES it is repeated, and after each but
 * the first a line says whether the output was left alone and how often a kernel was measured.
 */
#include "tests/rewrites/search/rewrite_conv.h"

static float *x, *w, *y;
static struct conv conv;
static cudnnConvolutionFwdAlgoPerf_t list[16];
static int count;
static atomic_int measured;

void tfsim_on_search(void);

void tfsim_on_search(void)
{
	atomic_fetch_add(&measured, 1);
}

static void print(void)
{
	for (int i = 0; i < count; i++)
		printf("%d %d %d %zu\n", (int)list[i].algo, (int)list[i].mathType,
			(int)list[i].status, list[i].memory);
}

/* After a wait of its own, since what the call waits for comes late. */
static void repeat(size_t bytes, int times)
{
	static float back[CONV_Y], host[CONV_Y];
	atomic_bool mark;
	void *workspace;
	cudnnConvolutionFwdAlgoPerf_t first[16];

	memcpy(first, list, sizeof(list));
	OK(cudaMalloc(&workspace, bytes + 1));
	for (int k = 1; k < times; k++) {
		for (int i = 0; i < CONV_Y; i++)
			host[i] = 7;
		OK(cudaMemcpy(y, host, sizeof(host), cudaMemcpyHostToDevice));
		atomic_store(&measured, 0);
		mark_put(&mark, NULL);
		DNN(cudnnFindConvolutionForwardAlgorithmEx(conv.handle, conv.x, x, conv.w, w,
			conv.convolution, conv.y, y, 8, &count, list, workspace, bytes));
		TEST_EQ(atomic_load(&mark), true);
		OK(cudaMemcpy(back, y, sizeof(back), cudaMemcpyDeviceToHost));
		printf("again: %s, %s, %d measured\n",
			memcmp(back, host, sizeof(back)) ? "written" : "left alone",
			memcmp(first, list, sizeof(list)) ? "another list" : "the same list",
			atomic_load(&measured));
	}
}

int main(int words, char **word)
{
	static float host_x[CONV_X], host_w[CONV_W];
	const size_t number = words > 2 ? strtoul(word[2], NULL, 10) : 0;
	void *workspace = NULL;

	alarm(300);
	conv_make(&conv);
	x = conv_floats(host_x, CONV_X, 3);
	w = conv_floats(host_w, CONV_W, 4);
	OK(cudaMalloc((void **)&y, CONV_Y * sizeof(float)));
	OK(cudaMalloc(&workspace, number + 1));
	if (words > 2 && strcmp(word[1], "guess") == 0)
		DNN(cudnnGetConvolutionForwardAlgorithm_v7(conv.handle, conv.x, conv.w,
			conv.convolution, conv.y, (int)number, &count, list));
	else if (words > 2 && strcmp(word[1], "find") == 0)
		DNN(cudnnFindConvolutionForwardAlgorithm(conv.handle, conv.x, conv.w,
			conv.convolution, conv.y, (int)number, &count, list));
	else
		DNN(cudnnFindConvolutionForwardAlgorithmEx(conv.handle, conv.x, x, conv.w, w,
			conv.convolution, conv.y, y, 8, &count, list, workspace, number));
	print();
	if (words > 3)
		repeat(number, atoi(word[3]));
	TEST_EQ(cudaGetLastError(), cudaSuccess);
	return test_result();
}
