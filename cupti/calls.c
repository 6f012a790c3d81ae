/* SPDX-License-Identifier: MIT */
#include "cupti/calls.h"

#include <string.h>

#include "cupti/kinds.h"
#include "shim/record/recorder.h"
#include "shim/resolve/lookup.h"

/* A function, and what its hook's row says. */
struct watched {
	const char *name;
	uint32_t library;
	uint32_t family;
};

static bool take_family(struct tfs_function *function, void *argument)
{
	struct watched *watched = argument;

	if (function->library != watched->library || strcmp(function->name, watched->name) != 0)
		return true;
	watched->family = function->family;
	return false;
}

static void put_api(uint32_t cbid, bool driver, const char *name)
{
	struct watched watched = {
		name, driver ? TFS_LIBRARY_cuda : TFS_LIBRARY_cudart, TFS_FAMILY_other};

	tfs_lookup_each(take_family, &watched);
	const struct tfs_api_record record = {
		.cbid = (uint16_t)cbid,
		.name = tfs_recorder_string(name),
		.domain = watched.library,
		.family = watched.family,
	};

	tfs_recorder_put(&record, TFS_RECORD_api, sizeof(record));
}

void tfs_cupti_put_calls(void)
{
	tfs_cupti_watched(put_api);
}
