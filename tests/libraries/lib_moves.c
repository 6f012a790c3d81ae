/* SPDX-License-Identifier: MIT */
/* cuBLAS moves vectors and matrices to the device and back, with gaps on either side. */
#include <cublas_v2.h>

#include "tests/libraries/lib_check.h"

enum { ROOM = 24 };

static float *device;
static cudaStream_t stream;

/* The device's memory holds these and nothing else. */
static void compare(const char *what, const double *want)
{
	float got[ROOM];

	LIB_EQ(cudaStreamSynchronize(stream), 0);
	lib_download(got, device, ROOM);
	lib_near(what, got, want, ROOM, 0);
	LIB_EQ(cudaMemset(device, 0, ROOM * sizeof(float)), 0);
	LIB_EQ(cudaDeviceSynchronize(), 0);
}

static void check_in(void)
{
	/* Of x every second one; of the matrix three rows of four, in two columns. */
	static const float x[6] = {1, 9, 2, 9, 3, 9}, a[8] = {1, 2, 3, 9, 4, 5, 6, 9};
	static const double vector[ROOM] = {1, 0, 0, 2, 0, 0, 3};
	static const double matrix[ROOM] = {1, 2, 3, 0, 0, 4, 5, 6};

	LIB_EQ(cublasSetVector(3, sizeof(float), x, 2, device, 3), 0);
	compare("vector", vector);
	LIB_EQ(cublasSetVectorAsync(3, sizeof(float), x, 2, device, 3, stream), 0);
	compare("vector on a stream", vector);
	LIB_EQ(cublasSetMatrix(3, 2, sizeof(float), a, 4, device, 5), 0);
	compare("matrix", matrix);
	LIB_EQ(cublasSetMatrixAsync(3, 2, sizeof(float), a, 4, device, 5, stream), 0);
	compare("matrix on a stream", matrix);
}

static void see(const char *what, float *got, const double *want)
{
	LIB_EQ(cudaStreamSynchronize(stream), 0);
	lib_near(what, got, want, ROOM, 0);
	memset(got, 0, ROOM * sizeof(float));
}

static void check_out(void)
{
	static const double vector[ROOM] = {0, 0, 3, 0, 6}, matrix[ROOM] = {0, 1, 2, 0, 5, 6, 7};
	float values[ROOM], got[ROOM] = {0};

	for (int i = 0; i < ROOM; i++)
		values[i] = (float)i;
	LIB_EQ(cudaMemcpy(device, values, sizeof(values), cudaMemcpyHostToDevice), 0);
	LIB_EQ(cublasGetVector(3, sizeof(float), device, 3, got, 2), 0);
	see("vector back", got, vector);
	LIB_EQ(cublasGetVectorAsync(3, sizeof(float), device, 3, got, 2, stream), 0);
	see("vector back on a stream", got, vector);
	LIB_EQ(cublasGetMatrix(3, 2, sizeof(float), device, 5, got, 4), 0);
	see("matrix back", got, matrix);
	LIB_EQ(cublasGetMatrixAsync(3, 2, sizeof(float), device, 5, got, 4, stream), 0);
	see("matrix back on a stream", got, matrix);
}

static void check_wrong(void)
{
	float x[4] = {0};

	LIB_EQ(cublasSetVector(2, 0, x, 1, device, 1), CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(cublasSetVector(2, sizeof(float), x, 0, device, 1), CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(cublasGetMatrix(2, 1, sizeof(float), device, 2, x, 0), CUBLAS_STATUS_INVALID_VALUE);
	LIB_EQ(cublasSetVector(0, sizeof(float), x, 1, device, 1), 0);
}

int main(void)
{
	LIB_EQ(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), 0);
	device = lib_upload(NULL, ROOM);
	LIB_EQ(cudaMemset(device, 0, ROOM * sizeof(float)), 0);
	LIB_EQ(cudaDeviceSynchronize(), 0);
	check_in();
	check_out();
	check_wrong();
	LIB_EQ(cudaFree(device), 0);
	LIB_EQ(cudaStreamDestroy(stream), 0);
	return lib_result();
}
