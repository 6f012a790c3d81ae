/* SPDX-License-Identifier: MIT */
/* One subscriber at a time; the next one learns the owner's name. Callbacks come in pairs. */
#include <errno.h>

#include "cupti_client.h"

static unsigned enters, exits, launches;

static void CUPTIAPI on_call(
	void *data, CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *info)
{
	const CUpti_CallbackData *call = info;

	(void)data;
	if (domain != CUPTI_CB_DOMAIN_DRIVER_API)
		return;
	if (call->callbackSite == CUPTI_API_ENTER) {
		enters++;
		*call->correlationData = cbid * 3u;
		return;
	}
	exits++;
	TEST_EQ(*call->correlationData, cbid * 3u);
	TEST_EQ(*(CUresult *)call->functionReturnValue, CUDA_SUCCESS);
	TEST_TRUE(call->context);
	if (cbid == CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel) {
		launches++;
		TEST_STR(call->functionName, "cuLaunchKernel");
		TEST_STR(call->symbolName, "idle");
	}
}

int main(void)
{
	char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	CUpti_SubscriberParams params = {CUpti_SubscriberParams_STRUCT_SIZE, "first", NULL, 0};
	CUpti_SubscriberHandle first, second = NULL;
	const char *name = NULL;
	uint32_t version = 0;
	CUfunction kernel;

	OK(cuptiGetVersion(&version));
	if (version < 130000 || cuptiSubscribe_v2(&first, on_call, NULL, &params) != CUPTI_SUCCESS)
		return test_skip("CUPTI 13 is not to be had");
	params.subscriberName = "second";
	params.oldSubscriberName = owner;
	params.oldSubscriberSize = sizeof(owner);
	TEST_EQ(cuptiSubscribe_v2(&second, on_call, NULL, &params),
		CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
	TEST_TRUE(strstr(owner, "first"));
	TEST_EQ(cuptiSubscribe(&second, on_call, NULL),
		CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);

	if (!start_driver(&kernel))
		return test_skip("no device");
	OK(cuptiEnableCallback(
		1, first, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel));
	OK(launch(kernel, NULL));
	OK(cuCtxSynchronize());
	TEST_EQ(enters, 1);
	TEST_EQ(launches, 1);
	OK(cuptiEnableDomain(1, first, CUPTI_CB_DOMAIN_DRIVER_API));
	OK(launch(kernel, NULL));
	OK(cuCtxSynchronize());
	TEST_EQ(launches, 2);
	TEST_TRUE(enters >= 3);
	TEST_EQ(enters, exits);
	OK(cuptiUnsubscribe(first));
	OK(launch(kernel, NULL));
	TEST_EQ(launches, 2);
	OK(cuptiSubscribe(&second, on_call, NULL));
	OK(cuptiUnsubscribe(second));
	OK(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RUNTIME_API, 20, &name));
	TEST_STR(name, "cudaMalloc_v3020");
	name = NULL;
	for (uint32_t cbid = 0; cbid < 2; cbid++)
		TEST_EQ(cuptiGetCallbackName(CUPTI_CB_DOMAIN_RESOURCE, cbid, &name),
			CUPTI_ERROR_INVALID_PARAMETER);
	TEST_TRUE(!name);
	/* As the real one does, it leaves an errno that no program asked for. */
	errno = 0;
	OK(cuptiActivityEnable(CUPTI_ACTIVITY_KIND_DRIVER));
	TEST_TRUE(errno != 0);
	return test_result();
}
