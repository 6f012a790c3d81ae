/* SPDX-License-Identifier: MIT */
#include "reports/locate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int tfs_locate_library(char out_path[PATH_MAX])
{
	static const char *const places[] = {"libtfshim.so", "../shim/libtfshim.so",
		"../" TFS_LIBDIR "/libtfshim.so", "../lib/libtfshim.so"};
	char self[PATH_MAX];
	char candidate[PATH_MAX + 64];
	ssize_t length = readlink("/proc/self/exe", self, sizeof(self) - 1);

	if (length <= 0)
		return -ENOENT;
	self[length] = '\0';
	*strrchr(self, '/') = '\0';
	for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
		snprintf(candidate, sizeof(candidate), "%s/%s", self, places[i]);
		if (!access(candidate, R_OK) && realpath(candidate, out_path))
			return 0;
	}
	return -ENOENT;
}
