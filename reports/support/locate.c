/* SPDX-License-Identifier: MIT */
#include "reports/support/locate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __aarch64__
#define TFS_MULTIARCH "aarch64-linux-gnu"
#else
#define TFS_MULTIARCH "x86_64-linux-gnu"
#endif

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

/* Loading it here to see where it is would make it this program's heap. */
int tfs_locate_jemalloc(char out_path[PATH_MAX])
{
	static const char *const folders[] = {"/usr/local/lib/" TFS_MULTIARCH, "/usr/local/lib64",
		"/usr/local/lib", "/usr/lib/" TFS_MULTIARCH, "/usr/lib64", "/usr/lib"};

	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
		snprintf(out_path, PATH_MAX, "%s/libjemalloc.so.2", folders[i]);
		if (!access(out_path, R_OK))
			return 0;
	}
	return -ENOENT;
}
