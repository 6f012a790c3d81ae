/* SPDX-License-Identifier: MIT */
/*
 * Variables that make libraries wait or write in each call, as their documentation has them: CUDA's
 * (CUDA_LAUNCH_BLOCKING), cuBLAS's, cuBLASLt's, cuDNN's and NCCL's logging, PyTorch's allocator and
 * collectives.
 */
#include "shim/core/switches.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "shim/record/recorder.h"

/* Whether the variable is on by this text; "also" is another one, without which it does nothing. */
struct tfs_switch {
	const char *name;
	bool (*is_on)(const char *text);
	const char *also;
	bool (*also_is_on)(const char *text);
};

static bool is_set(const char *text)
{
	return *text != '\0' && strcmp(text, "0") != 0;
}

/* Of cuDNN's levels, 1 and 2 are errors and warnings. */
static bool is_information(const char *text)
{
	return strtol(text, NULL, 10) > 2;
}

static bool is_trace(const char *text)
{
	return strcasecmp(text, "TRACE") == 0;
}

static bool is_detail(const char *text)
{
	return strcasecmp(text, "DETAIL") == 0;
}

static bool is_info(const char *text)
{
	return strcasecmp(text, "INFO") == 0;
}

/* NCCL writes a line for each collective then; otherwise it writes as it starts. */
static bool has_collectives(const char *text)
{
	return strcasestr(text, "COLL") || strcasestr(text, "ALL");
}

static const struct tfs_switch switches[] = {
	{"CUDA_LAUNCH_BLOCKING", is_set, NULL, NULL},
	{"CUBLAS_LOGINFO_DBG", is_set, "CUBLAS_LOGDEST_DBG", is_set},
	{"CUBLASLT_LOG_LEVEL", is_set, NULL, NULL},
	{"CUDNN_LOGINFO_DBG", is_set, "CUDNN_LOGDEST_DBG", is_set},
	{"CUDNN_LOGLEVEL_DBG", is_information, "CUDNN_LOGDEST_DBG", is_set},
	{"NCCL_DEBUG", is_trace, NULL, NULL},
	{"NCCL_DEBUG", is_info, "NCCL_DEBUG_SUBSYS", has_collectives},
	{"PYTORCH_NO_CUDA_MEMORY_CACHING", is_set, NULL, NULL},
	{"TORCH_DISTRIBUTED_DEBUG", is_detail, NULL, NULL},
};

static bool is_on(const char *name, bool (*test)(const char *text))
{
	const char *text = name ? getenv(name) : NULL;

	return !name || (text && test(text));
}

void tfs_switches_write(void)
{
	char text[80];
	bool any = false;

	for (size_t i = 0; i < sizeof(switches) / sizeof(switches[0]); i++) {
		const struct tfs_switch *one = &switches[i];

		if (!is_on(one->name, one->is_on) || !is_on(one->also, one->also_is_on))
			continue;
		snprintf(text, sizeof(text), "%s=%s", one->name, getenv(one->name));
		tfs_recorder_fact(TFS_FACT_debug_switch, text, 0, 0);
		any = true;
	}
	if (!any)
		tfs_recorder_fact(TFS_FACT_debug_none, NULL, 0, 0);
}
