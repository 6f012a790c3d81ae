/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_BASE_ENV_FLAG_H
#define TFS_SHIM_BASE_ENV_FLAG_H

/*
 * One flag of TFSHIM_OPTIONS, for callers that ask before tfs_env_read() has run, or in the
 * command. Pure.
 */

#include <stdbool.h>
#include <string.h>

/* What `options`, NULL for none, say of a flag; `standard` where they say nothing. The last entry
 * counts, a key alone means 1, and other values than 0 and 1 are ignored. */
static inline bool tfs_env_flag(const char *options, const char *key, bool standard)
{
	const size_t bytes = strlen(key);
	bool on = standard;

	for (; options && *options != '\0'; options += strspn(options, ":")) {
		const size_t length = strcspn(options, ":");

		if (strncmp(options, key, bytes) == 0) {
			const char *value = options + bytes;

			if (length == bytes || (length == bytes + 2 && memcmp(value, "=1", 2) == 0))
				on = true;
			else if (length == bytes + 2 && memcmp(value, "=0", 2) == 0)
				on = false;
		}
		options += length;
	}
	return on;
}

#endif
