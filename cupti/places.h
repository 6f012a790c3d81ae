/* SPDX-License-Identifier: MIT */
#ifndef TFS_CUPTI_PLACES_H
#define TFS_CUPTI_PLACES_H

/*
 * Where libcupti lies: what the traced process looks through, and `tfshim doctor` beforehand. First
 * beside each of the program's CUDA libraries, then by the loader's own search, then in the
 * toolkits that CUDA_HOME (or CUDA_PATH) and habit name. Lists for initialising arrays.
 */

/* Where this cannot be opened, no libcupti is touched: one may end the process. */
#define TFS_CUPTI_DRIVER "libcuda.so.1"

/* Newest first. */
#define TFS_CUPTI_NAMES                                                                            \
	{                                                                                          \
		"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8"                             \
	}

/* The libraries that it is looked for beside, as their names begin. A program with the runtime
 * linked in has others of CUDA's. */
#define TFS_CUPTI_COMPANIONS                                                                       \
	{                                                                                          \
		"libcudart.so", "libcublas.so", "libcublasLt.so", "libcudnn.so", "libcurand.so",   \
			"libnccl.so"                                                               \
	}

/* As seen from the folder of one: the same folder, a toolkit's, that of NVIDIA's Python wheels. */
#define TFS_CUPTI_BESIDE                                                                           \
	{                                                                                          \
		"", "../extras/CUPTI/lib64/", "../../cuda_cupti/lib/"                              \
	}

/* In a toolkit's folder. */
#define TFS_CUPTI_WITHIN                                                                           \
	{                                                                                          \
		"/extras/CUPTI/lib64/", "/lib64/"                                                  \
	}
#define TFS_CUPTI_TOOLKIT "/usr/local/cuda"

#endif
