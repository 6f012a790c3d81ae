/* SPDX-License-Identifier: MIT */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "cupti_names.h"
#include "tests/sim/cuda/cuda_handle.h"
#include "tests/sim/cupti/cupti_private.h"

/* Its address is the handle of the one subscriber. */
struct CUpti_Subscriber_st {
	CUpti_CallbackFunc callback;
	void *userdata;
	char name[64];
	bool used;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct CUpti_Subscriber_st subscriber;
static atomic_bool subscribed;
static atomic_bool wanted[CUPTI_CB_DOMAIN_SIZE][CUPTI_CBIDS];

static CUptiResult refuse(CUpti_SubscriberParams *params, const char *owner)
{
	if (params && params->oldSubscriberName && params->oldSubscriberSize)
		snprintf(params->oldSubscriberName, params->oldSubscriberSize, "%s", owner);
	return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
}

CUptiResult cuptiSubscribe_v2(CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback,
	void *userdata, CUpti_SubscriberParams *params)
{
	CUptiResult status = cupti_usable();

	if (status)
		return status;
	if (!handle || (params && params->structSize < CUpti_SubscriberParams_STRUCT_SIZE))
		return CUPTI_ERROR_INVALID_PARAMETER;
	cupti_linger();
	if (cupti_mood() == CUPTI_REFUSES)
		return refuse(params, "Nsight Systems");
	pthread_mutex_lock(&lock);
	if (subscriber.used) {
		status = refuse(params, subscriber.name);
	} else {
		subscriber.used = true;
		subscriber.callback = callback;
		subscriber.userdata = userdata;
		snprintf(subscriber.name, sizeof(subscriber.name), "CUPTI for %.53s",
			params && params->subscriberName ? params->subscriberName : "");
		atomic_store(&subscribed, true);
		*handle = &subscriber;
	}
	pthread_mutex_unlock(&lock);
	if (!status)
		cupti_listen();
	return status;
}

CUptiResult cuptiSubscribe(
	CUpti_SubscriberHandle *handle, CUpti_CallbackFunc callback, void *userdata)
{
	return cuptiSubscribe_v2(handle, callback, userdata, NULL);
}

CUptiResult cuptiUnsubscribe(CUpti_SubscriberHandle handle)
{
	CUptiResult status = cupti_usable();
	unsigned domain, cbid;

	if (status)
		return status;
	pthread_mutex_lock(&lock);
	if (handle != &subscriber || !subscriber.used)
		status = CUPTI_ERROR_INVALID_PARAMETER;
	else {
		atomic_store(&subscribed, false);
		subscriber.used = false;
		for (domain = 0; domain < CUPTI_CB_DOMAIN_SIZE; domain++)
			for (cbid = 0; cbid < CUPTI_CBIDS; cbid++)
				atomic_store_explicit(
					&wanted[domain][cbid], false, memory_order_relaxed);
	}
	pthread_mutex_unlock(&lock);
	return status;
}

static CUptiResult check(CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
	CUptiResult status = cupti_usable();

	if (status)
		return status;
	if (handle != &subscriber || !atomic_load(&subscribed))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (domain <= CUPTI_CB_DOMAIN_INVALID || domain >= CUPTI_CB_DOMAIN_SIZE)
		return CUPTI_ERROR_INVALID_PARAMETER;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle handle,
	CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	CUptiResult status = check(handle, domain);

	if (status)
		return status;
	if (cbid == 0 || cbid >= CUPTI_CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	atomic_store(&wanted[domain][cbid], enable != 0);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiEnableDomain(
	uint32_t enable, CUpti_SubscriberHandle handle, CUpti_CallbackDomain domain)
{
	CUptiResult status = check(handle, domain);
	unsigned cbid;

	for (cbid = 1; !status && cbid < CUPTI_CBIDS; cbid++)
		atomic_store_explicit(&wanted[domain][cbid], enable != 0, memory_order_relaxed);
	return status;
}

CUptiResult cuptiEnableAllDomains(uint32_t enable, CUpti_SubscriberHandle handle)
{
	CUptiResult status = CUPTI_SUCCESS;
	int domain;

	for (domain = CUPTI_CB_DOMAIN_DRIVER_API; !status && domain < CUPTI_CB_DOMAIN_SIZE;
		domain++)
		status = cuptiEnableDomain(enable, handle, (CUpti_CallbackDomain)domain);
	return status;
}

CUptiResult cuptiGetCallbackState(uint32_t *enable, CUpti_SubscriberHandle handle,
	CUpti_CallbackDomain domain, CUpti_CallbackId cbid)
{
	CUptiResult status = check(handle, domain);

	if (status)
		return status;
	if (!enable || cbid >= CUPTI_CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*enable = atomic_load(&wanted[domain][cbid]);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiSupportedDomains(size_t *domainCount, CUpti_DomainTable *domainTable)
{
	static CUpti_CallbackDomain domains[] = {CUPTI_CB_DOMAIN_DRIVER_API,
		CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CB_DOMAIN_SYNCHRONIZE};

	if (!domainCount || !domainTable)
		return CUPTI_ERROR_INVALID_PARAMETER;
	*domainCount = sizeof(domains) / sizeof(domains[0]);
	*domainTable = domains;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
	const char *const *names = NULL;
	size_t count = 0;

	if (domain == CUPTI_CB_DOMAIN_RUNTIME_API) {
		names = runtime_names;
		count = sizeof(runtime_names) / sizeof(runtime_names[0]);
	} else if (domain == CUPTI_CB_DOMAIN_DRIVER_API) {
		names = driver_names;
		count = sizeof(driver_names) / sizeof(driver_names[0]);
	}
	if (!name || cbid >= count || !names[cbid])
		return CUPTI_ERROR_INVALID_PARAMETER;
	*name = names[cbid];
	return CUPTI_SUCCESS;
}

static void call(CUpti_CallbackDomain domain, CUpti_CallbackId cbid, const void *data)
{
	if (atomic_load(&subscribed) && subscriber.callback)
		subscriber.callback(subscriber.userdata, domain, cbid, data);
}

void cupti_callback_api(struct tfsim_api *api, CUpti_ApiCallbackSite site)
{
	CUpti_CallbackDomain domain = (CUpti_CallbackDomain)api->domain;
	int result = api->result;
	CUpti_CallbackData data = {.callbackSite = site,
		.functionName = api->name,
		.functionParams = api->params,
		.functionReturnValue = site == CUPTI_API_EXIT ? &result : NULL,
		.symbolName = api->symbol,
		.correlationData = &api->data,
		.correlationId = api->correlation};

	if (api->cbid >= CUPTI_CBIDS || !atomic_load(&wanted[domain][api->cbid]))
		return;
	data.context = sim_context_handle(tfsim_device_current());
	data.contextUid = (uint32_t)tfsim_device_current() + 1;
	call(domain, api->cbid, &data);
}

/* The core tells ids, not handles: a stream's callback carries a null handle. */
void cupti_callback_fact(const struct tfsim_fact *fact)
{
	CUcontext context = fact->context ? sim_context_handle((int)fact->context - 1) : NULL;

	if (fact->kind == TFSIM_FACT_STREAM || fact->kind == TFSIM_FACT_CONTEXT) {
		CUpti_ResourceData data = {.context = context};
		CUpti_CallbackId cbid = fact->kind == TFSIM_FACT_STREAM
						? CUPTI_CBID_RESOURCE_STREAM_CREATED
						: CUPTI_CBID_RESOURCE_CONTEXT_CREATED;

		if (atomic_load(&wanted[CUPTI_CB_DOMAIN_RESOURCE][cbid]))
			call(CUPTI_CB_DOMAIN_RESOURCE, cbid, &data);
	} else if (fact->kind == TFSIM_FACT_SYNC && fact->sync_type >= 3) {
		CUpti_SynchronizeData data = {.context = context};
		CUpti_CallbackId cbid = fact->sync_type == 3
						? CUPTI_CBID_SYNCHRONIZE_STREAM_SYNCHRONIZED
						: CUPTI_CBID_SYNCHRONIZE_CONTEXT_SYNCHRONIZED;

		if (atomic_load(&wanted[CUPTI_CB_DOMAIN_SYNCHRONIZE][cbid]))
			call(CUPTI_CB_DOMAIN_SYNCHRONIZE, cbid, &data);
	}
}
