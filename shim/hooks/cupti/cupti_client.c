/* SPDX-License-Identifier: MIT */
/*
 * Another tool that wants CUPTI: PyTorch's profiler, say, when it is started in the middle of a
 * run. Where CUPTI would refuse it because of us it is given way to, and its call is made again.
 * None of these calls is recorded: they are not the program's work.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cupti/collector.h"
#include "shim/record/hook.h"
#include "shim/steps/windows.h"

#define TFS_THIS_LIBRARY TFS_LIBRARY_cupti

/* A build may lack CUPTI's header. */
struct parameters {
	size_t bytes;
	const char *name;
	char *owner; /* CUPTI writes it where it refuses */
	size_t owner_bytes;
};

static bool is_refusal(int status)
{
	return status == 39 ||
	       status == 6; /* multiple subscribers, or the limit of them, reached */
}

/* False when it is CUPTI itself. */
static bool find_tool(const void *caller, struct tfs_object *out_object)
{
	if (!tfs_lookup_object(caller, out_object) || *out_object->file == '\0')
		strcpy(out_object->file, "the program");
	return strncmp(out_object->file, "libcupti.so", strlen("libcupti.so")) != 0;
}

static bool give_way(const void *caller)
{
	const int saved = errno;
	struct tfs_object tool;

	if (!find_tool(caller, &tool))
		return false;
	tfs_windows_leave(TFS_LEFT_TO_TOOL, tool.file);
	errno = saved;
	return true;
}

/* What is to be done with an answer of CUPTI's: true = ask again. */
static bool consider(int status, const void *caller)
{
	struct tfs_object tool;

	if (status == 0 && find_tool(caller, &tool))
		tfs_collector_taken(tool.file);
	return is_refusal(status) && give_way(caller);
}

TFS_HOOK(int, cuptiSubscribe, (void **subscriber, void *callback, void *data))
{
	const int status = TFS_REAL(cuptiSubscribe)(subscriber, callback, data);

	if (!consider(status, __builtin_return_address(0)))
		return status;
	return TFS_REAL(cuptiSubscribe)(subscriber, callback, data);
}

TFS_HOOK(int, cuptiSubscribe_v2,
	(void **subscriber, void *callback, void *data, struct parameters *parameters))
{
	const bool named = parameters && parameters->bytes >= sizeof(*parameters) &&
			   parameters->owner && parameters->owner_bytes != 0;
	const char before = named ? *parameters->owner : '\0';
	const int status = TFS_REAL(cuptiSubscribe_v2)(subscriber, callback, data, parameters);

	if (!consider(status, __builtin_return_address(0)))
		return status;
	if (named)
		*parameters->owner = before;
	return TFS_REAL(cuptiSubscribe_v2)(subscriber, callback, data, parameters);
}

TFS_HOOK(int, cuptiActivityRegisterCallbacks, (void *request, void *complete))
{
	if (give_way(__builtin_return_address(0)))
		complete = tfs_collector_share(request, complete);
	return TFS_REAL(cuptiActivityRegisterCallbacks)(request, complete);
}

#define FUNCTIONS(X)                                                                               \
	X(cuptiActivityRegisterCallbacks, other)                                                   \
	X(cuptiSubscribe, other)                                                                   \
	X(cuptiSubscribe_v2, other)

FUNCTIONS(TFS_FUNCTION_ROW)
