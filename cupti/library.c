/* SPDX-License-Identifier: MIT */
#include "cupti/library.h"

#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cupti/places.h"
#include "shim/base/env.h"
#include "shim/base/log.h"

static const char *const names[] = TFS_CUPTI_NAMES;
static const char *const companions[] = TFS_CUPTI_COMPANIONS;
static const char *const beside[] = TFS_CUPTI_BESIDE;
static const char *const within[] = TFS_CUPTI_WITHIN;

struct folder {
	const char *file; /* whose; how its name begins */
	char path[PATH_MAX];
};

enum verdict { TAKEN, NOT_FOUND, TOO_NEW, REFUSED };

static int find_folder(struct dl_phdr_info *object, size_t bytes, void *argument)
{
	struct folder *folder = argument;
	const char *slash = strrchr(object->dlpi_name, '/');

	(void)bytes;
	if (!slash || strncmp(slash + 1, folder->file, strlen(folder->file)) != 0)
		return 0;
	snprintf(folder->path, sizeof(folder->path), "%.*s", (int)(slash - object->dlpi_name + 1),
		object->dlpi_name);
	return 1;
}

static bool look_up(void *library, struct tfs_cupti *out_cupti)
{
	bool complete = true;

#define X(name)                                                                                    \
	*(void **)&out_cupti->name = dlsym(library, #name);                                        \
	complete = complete && out_cupti->name;
	TFS_CUPTI_FUNCTIONS(X)
#undef X
#define X(name) *(void **)&out_cupti->name = dlsym(library, #name);
	TFS_CUPTI_LATER_FUNCTIONS(X)
#undef X
	return complete;
}

/* No callbacks are ever enabled: the subscription only keeps others and us apart. */
static void CUPTIAPI on_callback(
	void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id, const void *call)
{
	(void)data;
	(void)domain;
	(void)id;
	(void)call;
}

static CUptiResult subscribe(struct tfs_cupti *cupti, char *out_owner, size_t bytes)
{
	CUpti_SubscriberParams params = {.structSize = CUpti_SubscriberParams_STRUCT_SIZE,
		.subscriberName = "tfshim",
		.oldSubscriberName = out_owner,
		.oldSubscriberSize = bytes};

	if (cupti->cuptiSubscribe_v2)
		return cupti->cuptiSubscribe_v2(&cupti->subscriber, on_callback, NULL, &params);
	return cupti->cuptiSubscribe(&cupti->subscriber, on_callback, NULL);
}

static struct tfs_cupti_refusal explain(CUptiResult status, const char *owner)
{
	struct tfs_cupti_refusal refusal = {TFS_FACT_cupti_failed, (uint64_t)status, ""};

	switch ((int)status) {
	case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
	case CUPTI_ERROR_MAX_LIMIT_REACHED:
		refusal.fact =
			*owner != '\0' ? TFS_FACT_cupti_taken : TFS_FACT_cupti_taken_by_another;
		snprintf(refusal.object, sizeof(refusal.object), "%s", owner);
		break;
	case CUPTI_ERROR_NOT_INITIALIZED:
		refusal.fact = TFS_FACT_cupti_old_driver;
		break;
	case CUPTI_ERROR_UNKNOWN:
		refusal.fact = TFS_FACT_cupti_no_device;
		break;
	}
	return refusal;
}

bool tfs_cupti_subscribe(struct tfs_cupti *cupti, struct tfs_cupti_refusal *out_refusal)
{
	char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	const CUptiResult status = subscribe(cupti, owner, sizeof(owner));

	if (status != CUPTI_SUCCESS)
		*out_refusal = explain(status, owner);
	return status == CUPTI_SUCCESS;
}

static enum verdict try_file(
	const char *file, struct tfs_cupti *out_cupti, struct tfs_cupti_refusal *out_refusal)
{
	struct tfs_cupti cupti = {0};
	char owner[CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN] = "";
	void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);

	if (!library)
		return NOT_FOUND;
	if (!look_up(library, &cupti) || cupti.cuptiGetVersion(&cupti.version) != CUPTI_SUCCESS) {
		out_refusal->fact = TFS_FACT_cupti_incomplete;
		snprintf(out_refusal->object, sizeof(out_refusal->object), "%.200s", file);
		return NOT_FOUND;
	}
	const CUptiResult status = subscribe(&cupti, owner, sizeof(owner));
	tfs_log(TFS_LOG_INFO, "%s, version %u: cuptiSubscribe returned %d", file, cupti.version,
		(int)status);
	if (status == CUPTI_SUCCESS) {
		*out_cupti = cupti;
		return TAKEN;
	}
	*out_refusal = explain(status, owner);
	return status == CUPTI_ERROR_NOT_INITIALIZED ? TOO_NEW : REFUSED;
}

struct search {
	size_t first; /* of the names: newer ones are too new for the driver */
	struct tfs_cupti *cupti;
	struct tfs_cupti_refusal *refusal;
};

static enum verdict try_folder(struct search *search, const char *folder, const char *below)
{
	char file[PATH_MAX];

	for (size_t i = search->first; i < sizeof(names) / sizeof(names[0]); i++) {
		if (snprintf(file, sizeof(file), "%s%s%s", folder, below, names[i]) >=
			(int)sizeof(file))
			continue;
		const enum verdict verdict = try_file(file, search->cupti, search->refusal);
		if (verdict == TOO_NEW)
			search->first = i + 1;
		else if (verdict != NOT_FOUND)
			return verdict;
	}
	return NOT_FOUND;
}

static enum verdict try_beside(struct search *search, const char *file)
{
	struct folder folder = {.file = file};
	enum verdict verdict = NOT_FOUND;

	if (dl_iterate_phdr(find_folder, &folder) == 0)
		return NOT_FOUND;
	for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]) && verdict == NOT_FOUND; i++)
		verdict = try_folder(search, folder.path, beside[i]);
	return verdict;
}

static enum verdict try_toolkit(struct search *search, const char *toolkit)
{
	enum verdict verdict = NOT_FOUND;

	if (!toolkit || *toolkit == '\0')
		return NOT_FOUND;
	for (size_t i = 0; i < sizeof(within) / sizeof(within[0]) && verdict == NOT_FOUND; i++)
		verdict = try_folder(search, toolkit, within[i]);
	return verdict;
}

/* Without it a released libcupti calls itself until the stack is full. Never closed: CUPTI counts
 * on it. */
static bool has_driver(void)
{
	return dlopen(TFS_CUPTI_DRIVER, RTLD_NOW | RTLD_LOCAL) != NULL;
}

bool tfs_cupti_open(struct tfs_cupti *out_cupti, struct tfs_cupti_refusal *out_refusal)
{
	struct search search = {.cupti = out_cupti, .refusal = out_refusal};
	enum verdict verdict = NOT_FOUND;

	*out_refusal = (struct tfs_cupti_refusal){.fact = TFS_FACT_cupti_no_driver};
	if (!has_driver())
		return false;
	out_refusal->fact = TFS_FACT_cupti_none;
	for (size_t i = 0; i < sizeof(companions) / sizeof(companions[0]); i++)
		if (verdict == NOT_FOUND)
			verdict = try_beside(&search, companions[i]);
	/* The loader's own search. */
	if (verdict == NOT_FOUND)
		verdict = try_folder(&search, "", "");
	if (verdict == NOT_FOUND)
		verdict = try_toolkit(&search, tfs_options.toolkit);
	if (verdict == NOT_FOUND)
		verdict = try_toolkit(&search, TFS_CUPTI_TOOLKIT);
	return verdict == TAKEN;
}
