/* SPDX-License-Identifier: MIT */
/* Which variables of the environment are told as debugging switches, by what libraries make of
 * their values. */
#include "shim/core/switches.h"

#include "shim/record/recorder.h"
#include "tests/test.h"

#define MOST 16u

void __wrap_tfs_recorder_fact(
	enum tfs_fact_code fact, const char *object, uint64_t number, uint64_t other);

static char told[MOST][80];
static unsigned count, none;

void __wrap_tfs_recorder_fact(
	enum tfs_fact_code fact, const char *object, uint64_t number, uint64_t other)
{
	TEST_TRUE(number == 0 && other == 0);
	if (fact == TFS_FACT_debug_none) {
		TEST_TRUE(!object);
		none++;
	} else if (TEST_EQ(fact, TFS_FACT_debug_switch) && TEST_TRUE(object && count < MOST)) {
		snprintf(told[count++], sizeof(told[0]), "%s", object);
	}
}

static void set_all(const char *const *settings, bool on)
{
	char name[80];

	for (; *settings; settings++) {
		snprintf(name, sizeof(name), "%s", *settings);
		char *value = strchr(name, '=');
		TEST_NEED(value);
		*value = '\0';
		if (on)
			TEST_EQ(setenv(name, value + 1, 1), 0);
		else
			unsetenv(name);
	}
}

static void look(const char *const *settings)
{
	count = none = 0;
	set_all(settings, true);
	tfs_switches_write();
	set_all(settings, false);
}

/* The first one is told alone. */
static void on(const char *const *settings)
{
	look(settings);
	TEST_EQ(none, 0);
	if (TEST_EQ(count, 1))
		TEST_STR(told[0], settings[0]);
	else
		printf("  for %s\n", settings[0]);
}

static void off(const char *const *settings)
{
	look(settings);
	if (!TEST_EQ(none, 1) || !TEST_EQ(count, 0))
		printf("  for %s\n", settings[0]);
}

#define ON(...) on((const char *const[]){__VA_ARGS__, NULL})
#define OFF(...) off((const char *const[]){__VA_ARGS__, NULL})

int main(void)
{
	clearenv();
	OFF("HOME=/");
	ON("CUDA_LAUNCH_BLOCKING=1");
	OFF("CUDA_LAUNCH_BLOCKING=0");
	OFF("CUDA_LAUNCH_BLOCKING=");
	/* Logs that go nowhere cost nothing. */
	ON("CUBLAS_LOGINFO_DBG=1", "CUBLAS_LOGDEST_DBG=stderr");
	OFF("CUBLAS_LOGINFO_DBG=1");
	OFF("CUBLAS_LOGDEST_DBG=stderr");
	OFF("CUBLAS_LOGINFO_DBG=0", "CUBLAS_LOGDEST_DBG=stderr");
	OFF("CUBLAS_LOGINFO_DBG=1", "CUDNN_LOGDEST_DBG=stderr");
	ON("CUBLASLT_LOG_LEVEL=5");
	OFF("CUBLASLT_LOG_LEVEL=0");
	ON("CUDNN_LOGINFO_DBG=1", "CUDNN_LOGDEST_DBG=stdout");
	OFF("CUDNN_LOGINFO_DBG=1");
	/* Errors and warnings are few. */
	ON("CUDNN_LOGLEVEL_DBG=3", "CUDNN_LOGDEST_DBG=stdout");
	OFF("CUDNN_LOGLEVEL_DBG=2", "CUDNN_LOGDEST_DBG=stdout");
	OFF("CUDNN_LOGLEVEL_DBG=3");
	ON("NCCL_DEBUG=TRACE");
	ON("NCCL_DEBUG=trace");
	OFF("NCCL_DEBUG=INFO");
	OFF("NCCL_DEBUG=WARN", "NCCL_DEBUG_SUBSYS=COLL");
	ON("NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=INIT,coll");
	ON("NCCL_DEBUG=info", "NCCL_DEBUG_SUBSYS=ALL");
	OFF("NCCL_DEBUG=INFO", "NCCL_DEBUG_SUBSYS=INIT,GRAPH");
	ON("PYTORCH_NO_CUDA_MEMORY_CACHING=1");
	ON("TORCH_DISTRIBUTED_DEBUG=DETAIL");
	OFF("TORCH_DISTRIBUTED_DEBUG=INFO");
	/* Each that is on. */
	look((const char *const[]){"CUDA_LAUNCH_BLOCKING=1", "NCCL_DEBUG=TRACE", NULL});
	TEST_EQ(none, 0);
	TEST_EQ(count, 2);
	TEST_STR(told[0], "CUDA_LAUNCH_BLOCKING=1");
	TEST_STR(told[1], "NCCL_DEBUG=TRACE");
	return test_result();
}
