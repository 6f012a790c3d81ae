/* SPDX-License-Identifier: MIT */
#include "rules/rewrites/unseen.h"

#include <link.h>
#include <stdatomic.h>
#include <string.h>

#include "shim/deep.h"
#include "shim/driver.h"
#include "shim/env.h"
#include "shim/hook.h"
#include "shim/log.h"
#include "shim/lookup_object.h"
#include "shim/spin.h"

/* Submit nothing, or wait until it is done. A star stands for anything. */
static const char *const harmless[] = {
	"__cudaGetKernel",
	"__cudaInitModule",
	"__cudaPopCallConfiguration",
	"__cudaPushCallConfiguration",
	"__cudaRegister*",
	"__cudaUnregister*",
	"cuCtxCreate*",
	"cuCtxDestroy*",
	"cuCtxGet*",
	"cuCtxPopCurrent*",
	"cuCtxPushCurrent*",
	"cuCtxSet*",
	"cuDeviceCanAccessPeer",
	"cuDeviceGet*",
	"cuDevicePrimaryCtxRe*",
	"cuDeviceTotalMem*",
	"cuDriverGetVersion",
	"cuEventCreate",
	"cuEventDestroy*",
	"cuFuncGet*",
	"cuFuncSet*",
	"cuGetError*",
	"cuInit",
	"cuKernelGet*",
	"cuKernelSet*",
	"cuLibrary*",
	"cuModule*",
	"cuOccupancy*",
	"cuStreamGet*",
	"cuStreamIsCapturing*",
	"cublasGetAtomicsMode",
	"cublasGetMathMode",
	"cublasGetPointerMode*",
	"cublasGetProperty",
	"cublasGetSmCountTarget",
	"cublasGetStatus*",
	"cublasGetStream*",
	"cublasGetVersion*",
	"cublasGetWorkspace*",
	"cublasLt*Attribute*",
	"cublasLt*Create",
	"cublasLt*Destroy",
	"cublasLt*Init*",
	"cublasSetAtomicsMode",
	"cublasSetSmCountTarget",
	"cublasSetStream*",
	"cudaChooseDevice",
	"cudaCtxResetPersistingL2Cache",
	"cudaDeviceCanAccessPeer",
	"cudaDeviceGet*",
	"cudaDeviceSetLimit",
	"cudaDriverGetVersion",
	"cudaEventDestroy",
	"cudaFuncGet*",
	"cudaFuncSet*",
	"cudaGetDevice*",
	"cudaGetErrorName",
	"cudaGetErrorString",
	"cudaGetFuncBySymbol",
	"cudaGetKernel",
	"cudaGetLastError",
	"cudaGetSymbol*",
	"cudaHostGet*",
	"cudaInitDevice",
	"cudaKernel*",
	"cudaLibrary*",
	"cudaMemGetInfo",
	"cudaOccupancy*",
	"cudaPeekAtLastError",
	"cudaPointerGetAttributes",
	"cudaProfiler*",
	"cudaRuntimeGetVersion",
	"cudaSetDevice*",
	"cudaStreamGet*",
	"cudaStreamIsCapturing*",
	"cudnnCreate*",
	"cudnnDestroy*",
	"cudnnGet*",
	"cudnnSetActivation*",
	"cudnnSetConvolution*",
	"cudnnSetFilter*",
	"cudnnSetLRN*",
	"cudnnSetOpTensor*",
	"cudnnSetPooling*",
	"cudnnSetReduceTensorDescriptor",
	"cudnnSetStream",
	"cudnnSetTensor*Descriptor*",
	"curandGet*",
	"curandSetGenerator*",
};

/* Files by which others come to the device's memory, and NVIDIA's that have no hooks. */
static const char *const users[] = {"libibverbs", "librdmacm", "libfabric", "libucp", "libuct",
	"libmpi", "libgdrapi", "libnvshmem", "libcufile", "libcufft", "libcusolver", "libcusparse",
	"libcutensor", "libcudla", "libnpp", "libnvjpeg", "libnvinfer"};

/* Those of the system that look nothing of CUDA's up by name. */
static const char *const ordinary[] = {"ld-linux", "libasan.", "libc.so", "libdl.", "libgcc_s.",
	"libgomp.", "libpthread.", "libstdc++.", "libtsan.", "libubsan.", "libunwind"};

static struct tfs_spin lock;
static unsigned long long looked_at; /* objects loaded by the last look, 0 = none yet */
static bool work_unseen;
static bool users_there;
static bool lookups_there;

static bool matches(const char *name, const char *pattern)
{
	for (; *pattern != '*'; name++, pattern++) {
		if (*name != *pattern)
			return false;
		if (*name == '\0')
			return true;
	}
	while (*++pattern == '*')
		continue;
	for (;; name++) {
		if (*pattern == '\0' || matches(name, pattern))
			return true;
		if (*name == '\0')
			return false;
	}
}

static bool differs(struct tfs_function *function, void *argument)
{
	const char **name = argument;

	if (strcmp(function->name, *name) != 0)
		return true;
	*name = NULL;
	return false;
}

static bool look_at_import(const char *name, void *nothing)
{
	const char *sought = name;

	(void)nothing;
	if (!tfs_driver_is_cuda(name))
		return true;
	for (size_t i = 0; i < sizeof(harmless) / sizeof(harmless[0]); i++)
		if (matches(name, harmless[i]))
			return true;
	tfs_hook_each(differs, &sought);
	if (sought != NULL)
		tfs_log(TFS_LOG_INFO, "calls of %s are not followed", name);
	work_unseen |= sought != NULL;
	return sought == NULL;
}

/* Is the file part of one of NVIDIA's libraries, as one that they are linked to? */
static int find_owner(struct dl_phdr_info *object, size_t bytes, void *file)
{
	const char *slash = strrchr(object->dlpi_name, '/');

	(void)bytes;
	return tfs_driver_exempts(slash != NULL ? slash + 1 : object->dlpi_name) &&
	       tfs_object_needs(object, file) != NULL;
}

static bool looks_up(const struct dl_phdr_info *object, const char *file)
{
	/* An address in this library. */
	if (tfs_object_contains(object, (uint64_t)(uintptr_t)ordinary) ||
		(!tfs_object_imports(object, "dlsym") && !tfs_object_imports(object, "dlvsym") &&
			!tfs_object_imports(object, "dlmopen")))
		return false;
	for (size_t i = 0; i < sizeof(ordinary) / sizeof(ordinary[0]); i++)
		if (strncmp(file, ordinary[i], strlen(ordinary[i])) == 0)
			return false;
	return *file == '\0' || dl_iterate_phdr(find_owner, (void *)(uintptr_t)file) == 0;
}

static int look_at(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	unsigned long long *adds = argument;
	const char *slash = strrchr(object->dlpi_name, '/');
	const char *file = slash != NULL ? slash + 1 : object->dlpi_name;

	(void)bytes;
	if (looked_at == object->dlpi_adds)
		return 1;
	*adds = object->dlpi_adds;
	for (size_t i = 0; i < sizeof(users) / sizeof(users[0]); i++)
		users_there |= strncmp(file, users[i], strlen(users[i])) == 0;
	/* What is not found there is no CUDA's: the kernel's own, and the loader. */
	if (!tfs_driver_exempts(file) && strncmp(file, "linux-vdso", 10) != 0)
		work_unseen |= !tfs_object_each_import(object, look_at_import, NULL);
	lookups_there |= !tfs_driver_exempts(file) && looks_up(object, file);
	return 0;
}

static void look(void)
{
	unsigned long long adds = 0;

	tfs_spin_lock(&lock);
	dl_iterate_phdr(look_at, &adds);
	if (adds != 0)
		looked_at = adds;
	tfs_spin_unlock(&lock);
}

bool tfs_unseen_work(void)
{
	look();
	return work_unseen || tfs_driver_looked_past() || tfs_deep_any() || !tfs_options.driver;
}

bool tfs_unseen_users(void)
{
	look();
	return users_there;
}

bool tfs_unseen_lookups(void)
{
	look();
	return lookups_there;
}
