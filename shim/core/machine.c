/* SPDX-License-Identifier: MIT */
#include "shim/core/machine.h"

#include <library_types.h>
#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/base/driver_api.h"
#include "shim/base/env.h"
#include "shim/record/recorder.h"
#include "shim/resolve/direct.h"
#include "shim/resolve/lookup_object.h"

#define MOST_DEVICES 16

static const uint8_t needed[] = {TFS_DIRECT_cuDriverGetVersion, TFS_DIRECT_cuDeviceGetCount,
	TFS_DIRECT_cuDeviceGet, TFS_DIRECT_cuDeviceGetName, TFS_DIRECT_cuDeviceTotalMem_v2,
	TFS_DIRECT_cuDeviceGetAttribute};

static uint32_t attribute(CUdevice device, CUdevice_attribute which)
{
	int value = 0;

	return TFS_DIRECT(cuDeviceGetAttribute)(&value, which, device) == CUDA_SUCCESS && value > 0
		       ? (uint32_t)value
		       : 0;
}

static void write_device(int index, int driver, int runtime)
{
	char name[128] = "";
	size_t memory = 0;
	CUdevice device;

	if (TFS_DIRECT(cuDeviceGet)(&device, index) != CUDA_SUCCESS)
		return;
	TFS_DIRECT(cuDeviceGetName)(name, sizeof(name), device);
	TFS_DIRECT(cuDeviceTotalMem_v2)(&memory, device);
	const uint64_t khz = attribute(device, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
	const uint64_t bits = attribute(device, CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH);
	const struct tfs_device_record record = {
		.index = (uint16_t)index,
		/* The test device's name begins so; it says what it is. */
		.simulated = strncmp(name, "tfsim ", 6) == 0,
		.memory_bytes = memory,
		.name = tfs_recorder_string(name),
		.compute = attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) << 16 |
			   attribute(device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR),
		.driver_version = (uint32_t)driver,
		.runtime_version = (uint32_t)runtime,
		/* Two transfers per clock. */
		.bandwidth = khz * 1000 * 2 * bits / 8,
		.multiprocessors = attribute(device, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT),
		.copy_engines = attribute(device, CU_DEVICE_ATTRIBUTE_ASYNC_ENGINE_COUNT),
		.cache_bytes = attribute(device, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE),
	};
	tfs_recorder_put(&record, TFS_RECORD_device, sizeof(record));
	if (attribute(device, CU_DEVICE_ATTRIBUTE_MPS_ENABLED))
		tfs_recorder_fact(TFS_FACT_mps, name, (uint64_t)index, 0);
	if (index == 0 &&
		attribute(device, CU_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES))
		tfs_recorder_fact(TFS_FACT_memory_coherent, NULL, 1, 0);
}

struct mapped {
	const char *file;
	char path[512];
};

static int find_path(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct mapped *mapped = argument;

	(void)bytes;
	if (!tfs_object_is_named(object, mapped->file))
		return 0;
	strncpy(mapped->path, object->dlpi_name, sizeof(mapped->path) - 1);
	return 1;
}

/* Which of them were written; a program may load one late. */
static uint32_t written; /* bits */

static void put_library(
	enum tfs_library library, const char *path, uint32_t version, uint32_t flags)
{
	const struct tfs_library_record record = {
		.library = (uint16_t)library,
		.path = tfs_recorder_string(path),
		.version = version,
		.flags = flags,
	};

	tfs_recorder_put(&record, TFS_RECORD_library, sizeof(record));
	written |= UINT32_C(1) << library;
}

static bool is_written(enum tfs_library library)
{
	return (written >> library & 1) != 0;
}

static bool is_mapped(const char *file, struct mapped *out)
{
	*out = (struct mapped){.file = file};
	return dl_iterate_phdr(find_path, out) != 0;
}

/* A library that another thread may still be loading is not asked: the next look finds it ready,
 * and the last one goes without its version. */
static void write_library(
	enum tfs_library library, const char *file, uint32_t (*version)(void), bool last)
{
	struct mapped mapped;
	const bool ready = tfs_lookup_ready(library);

	if ((ready || last) && !is_written(library) && is_mapped(file, &mapped))
		put_library(library, mapped.path, ready ? version() : 0, 1);
}

static uint32_t cudnn_version(void)
{
	size_t (*get)(void) = (__typeof__(get))tfs_direct_anew(TFS_DIRECT_cudnnGetVersion);

	return get ? (uint32_t)get() : 0;
}

static uint32_t cublas_version(void)
{
	int (*get)(libraryPropertyType, int *) =
		(__typeof__(get))tfs_direct_anew(TFS_DIRECT_cublasGetProperty);
	int major = 0;
	int minor = 0;

	if (!get || get(MAJOR_VERSION, &major) != 0 || get(MINOR_VERSION, &minor) != 0)
		return 0;
	return (uint32_t)(major * 10000 + minor * 100);
}

static uint32_t nccl_version(void)
{
	int (*get)(int *) = (__typeof__(get))tfs_direct_anew(TFS_DIRECT_pncclGetVersion);
	int version = 0;

	return get && get(&version) == 0 ? (uint32_t)version : 0;
}

static uint32_t driver_version(void)
{
	int version = 0;

	return TFS_DIRECT(cuDriverGetVersion) &&
			       TFS_DIRECT(cuDriverGetVersion)(&version) == CUDA_SUCCESS
		       ? (uint32_t)version
		       : 0;
}

static uint32_t runtime_version(void)
{
	int (*get)(int *) = (__typeof__(get))tfs_direct_anew(TFS_DIRECT_cudaRuntimeGetVersion);
	int version = 0;

	return get && tfs_lookup_ready(TFS_LIBRARY_cudart) && get(&version) == 0 ? (uint32_t)version
										 : 0;
}

/* False as long as the driver was not started. */
static bool write_devices(void)
{
	static _Atomic int known;
	int count = 0;

	if (!tfs_lookup_steady(TFS_LIBRARY_cuda) || !TFS_DIRECT_THERE(needed, &known) ||
		TFS_DIRECT(cuDeviceGetCount)(&count) != CUDA_SUCCESS)
		return false;
	for (int i = 0; i < count && i < MOST_DEVICES; i++)
		write_device(i, (int)driver_version(), (int)runtime_version());
	return true;
}

bool tfs_machine_write(bool last)
{
	static _Atomic bool taken;
	static bool devices;

	if (atomic_exchange(&taken, true))
		return false;
	devices = devices || write_devices();
	if (devices || last) {
		write_library(TFS_LIBRARY_cudart, "libcudart.so", runtime_version, last);
		/* Where CUDA runs without a shared runtime, the program carries its own, whose
		 * calls of the driver may be seen. */
		if (devices && !is_written(TFS_LIBRARY_cudart))
			put_library(TFS_LIBRARY_cudart, "", 0, tfs_env_driver() ? 3 : 2);
		write_library(TFS_LIBRARY_cuda, "libcuda.so", driver_version, last);
		write_library(TFS_LIBRARY_cudnn, "libcudnn.so", cudnn_version, last);
		write_library(TFS_LIBRARY_cublas, "libcublas.so", cublas_version, last);
		write_library(TFS_LIBRARY_nccl, "libnccl.so", nccl_version, last);
	}
	const bool known = devices;
	atomic_store(&taken, false);
	return known;
}
