/* SPDX-License-Identifier: MIT */
#include <cublasLt.h>

#include "shim/hook.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cublaslt

TFS_PLAIN_HOOK(cublasStatus_t, cublasLtCreate, (cublasLtHandle_t * lightHandle), (lightHandle))
TFS_PLAIN_HOOK(cublasStatus_t, cublasLtDestroy, (cublasLtHandle_t lightHandle), (lightHandle))
TFS_PLAIN_HOOK(cublasStatus_t, cublasLtMatmulAlgoGetHeuristic,
	(cublasLtHandle_t lightHandle, cublasLtMatmulDesc_t operationDesc,
		cublasLtMatrixLayout_t Adesc, cublasLtMatrixLayout_t Bdesc,
		cublasLtMatrixLayout_t Cdesc, cublasLtMatrixLayout_t Ddesc,
		cublasLtMatmulPreference_t preference, int requestedAlgoCount,
		cublasLtMatmulHeuristicResult_t heuristicResultsArray[], int *returnAlgoCount),
	(lightHandle, operationDesc, Adesc, Bdesc, Cdesc, Ddesc, preference, requestedAlgoCount,
		heuristicResultsArray, returnAlgoCount))

#define FUNCTIONS(X)                                                                               \
	X(cublasLtCreate, handle)                                                                  \
	X(cublasLtDestroy, handle)                                                                 \
	X(cublasLtMatmulAlgoGetHeuristic, workspace_query)

TFS_FAMILY(cublaslt_matmul, FUNCTIONS);
