/* SPDX-License-Identifier: MIT */
#include <string.h>

#include "tests/sim/cupti/cupti_private.h"

static atomic_bool kinds[CUPTI_KINDS];
/* When the kind was last switched on and off: CLOCK_MONOTONIC. */
static atomic_ullong on_since[CUPTI_KINDS], off_since[CUPTI_KINDS];
/* Per callback: 0 = as its kind says, 1 = on, 2 = off. */
static atomic_uchar api_choice[3][CUPTI_CBIDS];
static atomic_bool all_sync = true;

static const uint16_t sizes[CUPTI_KINDS] = {
	[CUPTI_ACTIVITY_KIND_MEMCPY] = sizeof(CUpti_ActivityMemcpy6),
	[CUPTI_ACTIVITY_KIND_MEMSET] = sizeof(CUpti_ActivityMemset4),
	[CUPTI_ACTIVITY_KIND_KERNEL] = sizeof(CUpti_ActivityKernel10),
	[CUPTI_ACTIVITY_KIND_DRIVER] = sizeof(CUpti_ActivityAPI),
	[CUPTI_ACTIVITY_KIND_RUNTIME] = sizeof(CUpti_ActivityAPI),
	[CUPTI_ACTIVITY_KIND_DEVICE] = sizeof(CUpti_ActivityDevice5),
	[CUPTI_ACTIVITY_KIND_CONTEXT] = sizeof(CUpti_ActivityContext3),
	[CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL] = sizeof(CUpti_ActivityKernel10),
	[CUPTI_ACTIVITY_KIND_MARKER] = sizeof(CUpti_ActivityMarker2),
	[CUPTI_ACTIVITY_KIND_OVERHEAD] = sizeof(CUpti_ActivityOverhead3),
	[CUPTI_ACTIVITY_KIND_ENVIRONMENT] = sizeof(CUpti_ActivityEnvironment),
	[CUPTI_ACTIVITY_KIND_MEMCPY2] = sizeof(CUpti_ActivityMemcpyPtoP4),
	[CUPTI_ACTIVITY_KIND_CUDA_EVENT] = sizeof(CUpti_ActivityCudaEvent2),
	[CUPTI_ACTIVITY_KIND_STREAM] = sizeof(CUpti_ActivityStream),
	[CUPTI_ACTIVITY_KIND_SYNCHRONIZATION] = sizeof(CUpti_ActivitySynchronization2),
	[CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION] = sizeof(CUpti_ActivityExternalCorrelation),
	[CUPTI_ACTIVITY_KIND_MEMORY] = sizeof(CUpti_ActivityMemory),
	[CUPTI_ACTIVITY_KIND_INTERNAL_LAUNCH_API] = sizeof(CUpti_ActivityAPI),
	[CUPTI_ACTIVITY_KIND_MEMORY2] = sizeof(CUpti_ActivityMemory4),
	[CUPTI_ACTIVITY_KIND_MEMORY_POOL] = sizeof(CUpti_ActivityMemoryPool3),
	[CUPTI_ACTIVITY_KIND_GRAPH_TRACE] = sizeof(CUpti_ActivityGraphTrace2),
	[CUPTI_ACTIVITY_KIND_JIT] = sizeof(CUpti_ActivityJit2),
};

/* The values a program may set; those that this library heeds are flags. */
static struct attribute {
	size_t size;
	uint64_t value;
} attributes[] = {
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE] = {sizeof(size_t), 3200000},
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_CDP] = {sizeof(size_t), 8388608},
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_POOL_LIMIT] = {sizeof(size_t), 250},
	[CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER] = {sizeof(uint8_t), 0},
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_PRE_ALLOCATE_VALUE] = {sizeof(size_t), 3},
	[CUPTI_ACTIVITY_ATTR_MEM_ALLOCATION_TYPE_HOST_PINNED] = {sizeof(uint8_t), 0},
	[CUPTI_ACTIVITY_ATTR_PER_THREAD_ACTIVITY_BUFFER] = {sizeof(uint8_t), 1},
	[CUPTI_ACTIVITY_ATTR_DEVICE_BUFFER_SIZE_DEVICE_GRAPHS] = {sizeof(size_t), 16777216},
};

bool cupti_enabled(CUpti_ActivityKind kind)
{
	return atomic_load_explicit(&kinds[kind], memory_order_relaxed);
}

bool cupti_enabled_for(CUpti_ActivityKind kind, uint64_t submitted_ns)
{
	if (submitted_ns < atomic_load(&on_since[kind]))
		return false;
	return cupti_enabled(kind) || submitted_ns < atomic_load(&off_since[kind]);
}

bool cupti_api_enabled(enum tfsim_domain domain, uint32_t cbid)
{
	unsigned choice = 0;

	if (cbid < CUPTI_CBIDS)
		choice = atomic_load_explicit(&api_choice[domain][cbid], memory_order_relaxed);
	if (choice)
		return choice == 1;
	return cupti_enabled(domain == TFSIM_RUNTIME_API ? CUPTI_ACTIVITY_KIND_RUNTIME
							 : CUPTI_ACTIVITY_KIND_DRIVER);
}

size_t cupti_record_size(CUpti_ActivityKind kind)
{
	return (unsigned)kind < CUPTI_KINDS ? sizes[kind] : 0;
}

bool cupti_attribute_flag(CUpti_ActivityAttribute attribute)
{
	return attributes[attribute].value != 0;
}

bool cupti_all_sync_records(void)
{
	return atomic_load(&all_sync);
}

/* Switching all of a domain forgets what was chosen one by one before. */
static void forget_choices(enum tfsim_domain domain)
{
	unsigned i;

	for (i = 0; i < CUPTI_CBIDS; i++)
		atomic_store_explicit(&api_choice[domain][i], 0, memory_order_relaxed);
}

static CUptiResult set_kind(CUpti_ActivityKind kind, bool on)
{
	CUptiResult status = cupti_usable();

	if (status)
		return status;
	if (cupti_mood() == CUPTI_REFUSES && on)
		return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
	if (cupti_mood() == CUPTI_TIRES && on && (unsigned)kind < CUPTI_KINDS &&
		atomic_load(&off_since[kind]) != 0)
		return CUPTI_ERROR_UNKNOWN;
	if (!cupti_record_size(kind))
		return CUPTI_ERROR_INVALID_KIND;
	cupti_listen();
	if (kind == CUPTI_ACTIVITY_KIND_RUNTIME)
		forget_choices(TFSIM_RUNTIME_API);
	if (kind == CUPTI_ACTIVITY_KIND_DRIVER)
		forget_choices(TFSIM_DRIVER_API);
	if (on != atomic_exchange(&kinds[kind], on))
		atomic_store(on ? &on_since[kind] : &off_since[kind], tfsim_now_ns());
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnable(CUpti_ActivityKind kind)
{
	CUptiResult status = set_kind(kind, true);

	if (!status && kind == CUPTI_ACTIVITY_KIND_DEVICE)
		cupti_record_devices();
	return status;
}

/* Contexts and streams that exist are told again: only the wanted kind may be listening then. */
CUptiResult cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
	bool others[CUPTI_KINDS];
	CUptiResult status = cuptiActivityEnable(kind);
	unsigned i;

	if (status || kind == CUPTI_ACTIVITY_KIND_DEVICE)
		return status;
	for (i = 0; i < CUPTI_KINDS; i++)
		others[i] = i == CUPTI_ACTIVITY_KIND_CONTEXT || i == CUPTI_ACTIVITY_KIND_STREAM
				    ? atomic_exchange(&kinds[i], i == (unsigned)kind)
				    : false;
	tfsim_sink_dump();
	for (i = 0; i < CUPTI_KINDS; i++)
		if (others[i])
			atomic_store(&kinds[i], true);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityDisable(CUpti_ActivityKind kind)
{
	return set_kind(kind, false);
}

/* As CUPTI 13.0 with driver 580 does on an H200: it accepts single calls of the runtime at any
 * time, but records none that is chosen when the device is in use. */
static bool chosen_in_vain(enum tfsim_domain domain, uint8_t enable)
{
	return domain == TFSIM_RUNTIME_API && enable && tfsim_device_begun(tfsim_device_current());
}

static CUptiResult choose(enum tfsim_domain domain, CUpti_CallbackId cbid, uint8_t enable)
{
	CUptiResult status = cupti_usable();

	if (status)
		return status;
	if (cbid == 0 || cbid >= CUPTI_CBIDS)
		return CUPTI_ERROR_INVALID_PARAMETER;
	cupti_listen();
	if (!chosen_in_vain(domain, enable))
		atomic_store(&api_choice[domain][cbid], enable ? 1 : 2);
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return choose(TFSIM_DRIVER_API, cbid, enable);
}

CUptiResult cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
	return choose(TFSIM_RUNTIME_API, cbid, enable);
}

CUptiResult cuptiActivityEnableAllSyncRecords(uint8_t enable)
{
	CUptiResult status = cupti_usable();

	if (!status)
		atomic_store(&all_sync, enable != 0);
	return status;
}

CUptiResult cuptiActivityEnableLatencyTimestamps(uint8_t enable)
{
	(void)enable;
	return cupti_usable();
}

CUptiResult cuptiActivityEnableLaunchAttributes(uint8_t enable)
{
	(void)enable;
	return cupti_usable();
}

static CUptiResult attribute_check(CUpti_ActivityAttribute attr, const size_t *size, void *value)
{
	CUptiResult status = cupti_usable();

	if (status)
		return status;
	if (!size || !value)
		return CUPTI_ERROR_INVALID_PARAMETER;
	if ((unsigned)attr >= sizeof(attributes) / sizeof(attributes[0]))
		return CUPTI_ERROR_INVALID_PARAMETER;
	if (!attributes[attr].size)
		return CUPTI_ERROR_NOT_SUPPORTED;
	return *size < attributes[attr].size ? CUPTI_ERROR_PARAMETER_SIZE_NOT_SUFFICIENT
					     : CUPTI_SUCCESS;
}

CUptiResult cuptiActivityGetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
	CUptiResult status = attribute_check(attr, valueSize, value);

	if (status)
		return status;
	memcpy(value, &attributes[attr].value, attributes[attr].size);
	*valueSize = attributes[attr].size;
	return CUPTI_SUCCESS;
}

CUptiResult cuptiActivitySetAttribute(CUpti_ActivityAttribute attr, size_t *valueSize, void *value)
{
	CUptiResult status = attribute_check(attr, valueSize, value);

	if (status)
		return status;
	attributes[attr].value = 0;
	memcpy(&attributes[attr].value, value, attributes[attr].size);
	*valueSize = attributes[attr].size;
	return CUPTI_SUCCESS;
}
