/* SPDX-License-Identifier: MIT */
/* Random tensors of cuDNN's backend API: as likely as asked for, the same for the same seed. */
#include "tests/libraries/lib_backend.h"

enum { SIZE = 20000, MASK = 1, SEED, OFFSET };

static const int64_t shape[4] = {4, 5, 10, SIZE / 200}, one[4] = {1, 1, 1, 1};
static float *mask, *numbers;

static void draw(int64_t seed, int64_t offset, float *out)
{
	static const int64_t uids[3] = {MASK, SEED, OFFSET};
	void *pointers[3] = {mask, numbers, numbers + 2};
	double probability = 0.75;
	desc_t params = backend_new(CUDNN_BACKEND_RNG_DESCRIPTOR);
	desc_t op = backend_new(CUDNN_BACKEND_OPERATION_RNG_DESCRIPTOR);
	desc_t t[3] = {backend_tensor(MASK, CUDNN_DATA_FLOAT, 0, 4, shape, NULL),
		backend_tensor(SEED, CUDNN_DATA_INT64, 0, 4, one, NULL),
		backend_tensor(OFFSET, CUDNN_DATA_INT64, 0, 4, one, NULL)};

	LIB_EQ(cudaMemcpy(numbers, &seed, sizeof(seed), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cudaMemcpy(numbers + 2, &offset, sizeof(offset), cudaMemcpyHostToDevice), 0);
	backend_enum(params, CUDNN_ATTR_RNG_DISTRIBUTION, CUDNN_TYPE_RNG_DISTRIBUTION,
		CUDNN_RNG_DISTRIBUTION_BERNOULLI);
	backend_set(params, CUDNN_ATTR_RNG_BERNOULLI_DIST_PROBABILITY, CUDNN_TYPE_DOUBLE, 1,
		&probability);
	backend_finalize(params);
	backend_child(op, CUDNN_ATTR_OPERATION_RNG_DESC, params);
	backend_child(op, CUDNN_ATTR_OPERATION_RNG_YDESC, t[0]);
	backend_child(op, CUDNN_ATTR_OPERATION_RNG_SEED, t[1]);
	backend_child(op, CUDNN_ATTR_OPERATION_RNG_OFFSET_DESC, t[2]);
	backend_finalize(op);
	cudnnBackendDestroyDescriptor(params);
	for (int i = 0; i < 3; i++)
		cudnnBackendDestroyDescriptor(t[i]);
	backend_run(backend_graph(&op, 1), 3, uids, pointers);
	lib_download(out, mask, SIZE);
}

int main(void)
{
	static float first[SIZE], again[SIZE], other[SIZE], later[SIZE];
	int kept = 0, values = 0;

	if (!LIB_EQ(cudnnCreate(&dnn), 0))
		return lib_result();
	mask = lib_upload(NULL, SIZE);
	numbers = lib_upload(NULL, 4);
	draw(42, 0, first);
	draw(42, 0, again);
	draw(43, 0, other);
	draw(42, 1, later);
	LIB_TRUE(memcmp(first, again, sizeof(first)) == 0);
	LIB_TRUE(memcmp(first, other, sizeof(first)) != 0);
	LIB_TRUE(memcmp(first, later, sizeof(first)) != 0);
	for (int i = 0; i < SIZE; i++) {
		kept += first[i] == 1.0f;
		values += first[i] == 1.0f || first[i] == 0.0f;
	}
	LIB_EQ(values, SIZE);
	LIB_TRUE(kept > SIZE * 73 / 100 && kept < SIZE * 77 / 100);
	LIB_EQ(cudnnDestroy(dnn), 0);
	return lib_result();
}
