/* SPDX-License-Identifier: MIT */
/*
 * Convolutions of cuDNN's backend API: every plan of every mode of heuristics computes what the
 * definition says, through its workspace; and the rules of descriptors.
 */
#include "tests/libraries/lib_backend.h"

enum { N = 2, C = 4, H = 5, W = 6, K = 6, R = 3, S = 2, GROUPS = 2, OH = 3, OW = 5 };
enum { XS = N * C * H * W, WS = K * (C / GROUPS) * R * S, YS = N * K * OH * OW };
enum { X = 1, FILTER, Y, BIAS, SUM, BIASED };

/* Two rows of padding in front and none behind, so that both are told apart. */
static const struct backend_convolution padded = {
	.pre = {2, 0}, .post = {0, 1}, .stride = {2, 1}, .dilation = {1, 2}};
static const int64_t xdim[4] = {N, C, H, W}, wdim[4] = {K, C / GROUPS, R, S};
static const int64_t ydim[4] = {N, K, OH, OW}, bdim[4] = {1, K, 1, 1};
static float *hx, *hw, *hy, *hb, *hold;
static float *x, *w, *y, *out;

enum direction { FORWARD, DATA, FILTERS };

/* Adds each product of the definition to what it belongs to. */
static void reference(enum direction direction, double *want)
{
	for (int n = 0; n < N; n++)
		for (int k = 0; k < K; k++)
			for (int i = 0; i < OH * OW * (C / GROUPS) * R * S; i++) {
				int s = i % S, r = i / S % R, c = i / S / R % (C / GROUPS);
				int q = i / S / R / (C / GROUPS) % OW;
				int p = i / S / R / (C / GROUPS) / OW;
				int h = p * 2 - 2 + r, v = q + s * 2;
				int from = ((n * C + k / (K / GROUPS) * (C / GROUPS) + c) * H + h) *
						   W +
					   v;
				int tap = ((k * (C / GROUPS) + c) * R + r) * S + s;
				int to = ((n * K + k) * OH + p) * OW + q;

				if (h < 0 || h >= H || v >= W)
					continue;
				if (direction == FORWARD)
					want[to] += (double)hx[from] * (double)hw[tap];
				else if (direction == DATA)
					want[from] += (double)hy[to] * (double)hw[tap];
				else
					want[tap] += (double)hy[to] * (double)hx[from];
			}
}

/* alpha 2 and beta -1, so that both are seen. The result may be virtual. */
static desc_t operation(enum direction direction, cudnnDataType_t type, desc_t result)
{
	static const struct {
		cudnnBackendDescriptorType_t type;
		cudnnBackendAttributeName_t conv, alpha, beta, operand[3];
	} of[3] = {{CUDNN_BACKEND_OPERATION_CONVOLUTION_FORWARD_DESCRIPTOR,
			   CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_CONV_DESC,
			   CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_ALPHA,
			   CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_BETA,
			   {CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_X,
				   CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_W,
				   CUDNN_ATTR_OPERATION_CONVOLUTION_FORWARD_Y}},
		{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_DATA_DESCRIPTOR,
			CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_CONV_DESC,
			CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_ALPHA,
			CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_BETA,
			{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DX,
				CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_W,
				CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_DATA_DY}},
		{CUDNN_BACKEND_OPERATION_CONVOLUTION_BACKWARD_FILTER_DESCRIPTOR,
			CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_CONV_DESC,
			CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_ALPHA,
			CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_BETA,
			{CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_X,
				CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DW,
				CUDNN_ATTR_OPERATION_CONVOLUTION_BWD_FILTER_DY}}};
	static const int64_t *const dims[3] = {xdim, wdim, ydim};
	static const int results[3] = {2, 0, 1};
	desc_t op = backend_new(of[direction].type), conv = backend_convolution(&padded);
	float alpha = 2.0f, beta = result ? 0.0f : -1.0f;

	backend_child(op, of[direction].conv, conv);
	cudnnBackendDestroyDescriptor(conv);
	for (int i = 0; i < 3; i++) {
		bool given = result && i == results[direction];
		desc_t t = given ? result : backend_tensor(X + i, type, 0, 4, dims[i], NULL);

		backend_child(op, of[direction].operand[i], t);
		if (!given)
			cudnnBackendDestroyDescriptor(t);
	}
	backend_set(op, of[direction].alpha, CUDNN_TYPE_FLOAT, 1, &alpha);
	backend_set(op, of[direction].beta, CUDNN_TYPE_FLOAT, 1, &beta);
	backend_finalize(op);
	return op;
}

/* One plan: statuses without its workspace, then its result, made through the workspace. */
static void check_plan(enum direction direction, desc_t plan, int64_t bytes, const double *want,
	size_t n, double tolerance)
{
	static const int64_t uids[3] = {X, FILTER, Y};
	void *pointers[3] = {x, w, y};
	unsigned char before[64], after[64];
	void *space = NULL;

	pointers[(direction + 2) % 3] = out;
	LIB_EQ(cudaMemcpy(out, hold, n * sizeof(float), cudaMemcpyHostToDevice), 0);
	if (bytes) {
		LIB_EQ(backend_execute(plan, 3, uids, pointers, NULL),
			CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
		LIB_EQ(cudaMalloc(&space, (size_t)bytes), 0);
		LIB_EQ(backend_execute(plan, 3, uids, pointers, (char *)space + 4),
			CUDNN_STATUS_BAD_PARAM_SIZE_INSUFFICIENT);
		memset(before, 0x5a, sizeof(before));
		LIB_EQ(cudaMemcpy(space, before, sizeof(before), cudaMemcpyHostToDevice), 0);
	}
	LIB_EQ(backend_execute(plan, 2, uids, pointers, space),
		CUDNN_STATUS_BAD_PARAM_NULL_POINTER);
	LIB_EQ(backend_execute(plan, 3, uids, pointers, space), CUDNN_STATUS_SUCCESS);
	cudnnBackendDestroyDescriptor(plan);
	backend_compare("convolution", out, want, n, tolerance);
	if (bytes) {
		LIB_EQ(cudaMemcpy(after, space, sizeof(after), cudaMemcpyDeviceToHost), 0);
		LIB_TRUE(memcmp(before, after, sizeof(after)) != 0);
	}
	cudaFree(space);
}

static void check_direction(enum direction direction)
{
	static const size_t sizes[3] = {YS, XS, WS};
	static const int32_t modes[3] = {
		CUDNN_HEUR_MODE_A, CUDNN_HEUR_MODE_B, CUDNN_HEUR_MODE_FALLBACK};
	size_t n = sizes[direction];
	double *want = calloc(n, sizeof(*want));
	int with = 0, without = 0, loose = 0, rounded = 0;

	reference(direction, want);
	for (size_t i = 0; i < n; i++)
		want[i] = 2 * want[i] - (double)hold[i];
	for (int m = 0; m < 3; m++) {
		desc_t op = operation(direction, CUDNN_DATA_FLOAT, NULL);
		desc_t graph = backend_graph(&op, 1), configs[16];
		int count;

		backend_finalize(graph);
		count = backend_configs(graph, modes[m], configs);
		cudnnBackendDestroyDescriptor(graph);
		for (int i = 0; i < count; i++) {
			const bool rounds =
				backend_has_note(configs[i], CUDNN_NUMERICAL_NOTE_TENSOR_CORE);
			int64_t bytes = 0;
			desc_t plan;

			rounded += rounds;
			loose +=
				backend_has_note(configs[i], CUDNN_NUMERICAL_NOTE_NONDETERMINISTIC);
			plan = backend_plan(configs[i], &bytes);
			with += bytes > 0;
			without += bytes == 0;
			/* TF32 has 10 bits of mantissa. */
			check_plan(direction, plan, bytes, want, n, rounds ? 1e-2 : 1e-5);
		}
	}
	LIB_TRUE(with && without);
	/* One engine, in mode A, and with both tiles of mode B. */
	LIB_EQ(rounded, 3);
	LIB_EQ(loose != 0, direction != FORWARD);
	free(want);
}

/* relu(conv(x, w) + bias), with halves in memory. */
static void check_fused(void)
{
	static const int64_t uids[4] = {X, FILTER, BIAS, Y};
	uint16_t half[XS + WS + K], result[YS];
	double want[YS] = {0};
	desc_t sum = backend_tensor(SUM, CUDNN_DATA_FLOAT, BACKEND_VIRTUAL, 4, ydim, NULL);
	desc_t biased = backend_tensor(BIASED, CUDNN_DATA_FLOAT, BACKEND_VIRTUAL, 4, ydim, NULL);
	desc_t bias = backend_tensor(BIAS, CUDNN_DATA_BFLOAT16, 0, 4, bdim, NULL);
	desc_t last = backend_tensor(Y, CUDNN_DATA_BFLOAT16, 0, 4, ydim, NULL);
	float *lists[3] = {hx, hw, hb};
	size_t sizes[3] = {XS, WS, K}, at = 0;
	char *device = NULL;
	desc_t ops[3];

	/* Values that a bfloat16 holds exactly. */
	for (int l = 0; l < 3; l++)
		for (size_t i = 0; i < sizes[l]; i++) {
			uint32_t bits;

			lists[l][i] = (float)(int)(lists[l][i] * 64) / 64;
			memcpy(&bits, &lists[l][i], sizeof(bits));
			half[at++] = (uint16_t)(bits >> 16);
		}
	reference(FORWARD, want);
	for (int i = 0; i < YS; i++)
		want[i] = fmax(2 * want[i] + (double)hb[i / (OH * OW) % K], 0);
	LIB_EQ(cudaMalloc((void **)&device, sizeof(half) + sizeof(result)), 0);
	LIB_EQ(cudaMemcpy(device, half, sizeof(half), cudaMemcpyHostToDevice), 0);
	/* Out of order, as a graph may come. */
	ops[2] = operation(FORWARD, CUDNN_DATA_BFLOAT16, sum);
	ops[1] = backend_pointwise(CUDNN_POINTWISE_ADD, sum, bias, biased);
	ops[0] = backend_pointwise(CUDNN_POINTWISE_RELU_FWD, biased, NULL, last);
	backend_run(backend_graph(ops, 3), 4, uids,
		(void *[4]){
			device, device + 2 * XS, device + 2 * (XS + WS), device + sizeof(half)});
	LIB_EQ(cudaDeviceSynchronize(), 0);
	LIB_EQ(cudaMemcpy(result, device + sizeof(half), sizeof(result), cudaMemcpyDeviceToHost),
		0);
	for (int i = 0; i < YS; i++) {
		uint32_t bits = (uint32_t)result[i] << 16;
		float got;

		memcpy(&got, &bits, sizeof(got));
		if (!lib_near("fused", &got, &want[i], 1, 1.0 / 128))
			break;
	}
	cudnnBackendDestroyDescriptor(sum);
	cudnnBackendDestroyDescriptor(biased);
	cudnnBackendDestroyDescriptor(bias);
	cudnnBackendDestroyDescriptor(last);
	cudaFree(device);
}

int main(void)
{
	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	hx = lib_values(XS, 1);
	hw = lib_values(WS, 2);
	hy = lib_values(YS, 3);
	hb = lib_values(K, 4);
	hold = lib_values(XS + YS, 5);
	x = lib_upload(hx, XS);
	w = lib_upload(hw, WS);
	y = lib_upload(hy, YS);
	out = lib_upload(NULL, XS + YS);
	check_direction(FORWARD);
	check_direction(DATA);
	check_direction(FILTERS);
	check_fused();
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
