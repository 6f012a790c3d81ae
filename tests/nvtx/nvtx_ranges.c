/* SPDX-License-Identifier: MIT */
/*
 * nvtx_ranges none|tool|shim: what the program gets back from NVTX without a tool, with one that
 * adds 100 to every level (nvtx_tool.c), and with the shim alone.
 */
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

#include "tests/test.h"

static int bias;
static bool counted; /* somebody keeps levels */

static int level(int number)
{
	return counted ? number + bias : NVTX_NO_PUSH_POP_TRACKING;
}

static void *nest(void *nothing)
{
	TEST_EQ(nvtxRangePushA("in a thread"), level(0));
	if (bias == 0) {
		TEST_EQ(nvtxRangePushW(L"wide \x4e16"), counted ? 1 : level(0));
		TEST_EQ(nvtxRangePop(), level(1));
	}
	TEST_EQ(nvtxRangePop(), level(0));
	return nothing;
}

static void check_domains(void)
{
	nvtxDomainHandle_t one = nvtxDomainCreateA("one");
	nvtxDomainHandle_t other = nvtxDomainCreateA("other");
	nvtxStringHandle_t name = nvtxDomainRegisterStringA(one, "registered");
	nvtxEventAttributes_t what = {.version = NVTX_VERSION,
		.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE,
		.messageType = NVTX_MESSAGE_TYPE_REGISTERED,
		.message.registered = name};

	if (!counted)
		return;
	TEST_TRUE(one && other && one != other && name);
	TEST_EQ(nvtxDomainRangePushEx(one, &what), 0);
	TEST_EQ(nvtxDomainRangePushEx(other, &what), 0);
	TEST_EQ(nvtxDomainRangePushEx(one, &what), 1);
	TEST_EQ(nvtxRangePushA("between"), level(0));
	TEST_EQ(nvtxDomainRangePop(one), 1);
	TEST_EQ(nvtxDomainRangePop(other), 0);
	TEST_EQ(nvtxRangePop(), level(0));
	TEST_EQ(nvtxDomainRangePop(one), 0);
	what.message.ascii = NULL;
	what.messageType = NVTX_MESSAGE_UNKNOWN;
	TEST_EQ(nvtxDomainRangePushEx(one, &what), 0);
	TEST_EQ(nvtxDomainRangePop(one), 0);
	nvtxDomainDestroy(one);
	nvtxDomainDestroy(other);
}

/* What NVTX 2 does with a tool. */
static void check_older(void)
{
	void *library = dlopen(getenv("NVTX_INJECTION64_PATH"), RTLD_LAZY);
	int (*start)(void *) = NULL;

	if (library)
		start = (int (*)(void *))dlsym(library, "InitializeInjectionNvtx");
	TEST_NEED(start);
	TEST_EQ(start(NULL), 2);
}

int main(int count, char **words)
{
	pthread_t thread;

	TEST_NEED(count == 2);
	if (getenv("TOOL_OLDER")) {
		check_older();
		return test_result();
	}
	counted = strcmp(words[1], "none") != 0;
	bias = strcmp(words[1], "tool") == 0 ? 100 : 0;
	for (int i = 0; i < 300; i++)
		TEST_EQ(nvtxRangePushA("deep"), level(i));
	nvtxMarkA("a mark");
	for (int i = 300; i-- > 0;)
		TEST_EQ(nvtxRangePop(), level(i));
	if (counted && bias == 0)
		TEST_TRUE(nvtxRangePop() < 0);
	TEST_EQ(nvtxRangePushA(""), level(0));
	TEST_EQ(nvtxRangePop(), level(0));
	TEST_EQ(pthread_create(&thread, NULL, nest, NULL), 0);
	pthread_join(thread, NULL);
	nest(NULL);
	/* The tool takes nothing else. */
	if (bias != 0)
		return test_result();
	check_domains();
	const nvtxRangeId_t one = nvtxRangeStartA("one");
	const nvtxRangeId_t other = nvtxRangeStartA("other");
	TEST_EQ(one != 0 && other != 0 && one != other, counted);
	nvtxRangeEnd(one);
	nvtxRangeEnd(other);
	nvtxRangeEnd(other);
	for (int i = 0; i < 2000; i++)
		nvtxRangeStartA("never ended");
	return test_result();
}
