/* SPDX-License-Identifier: MIT */
#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "cupti/places.h"
#include "reports/doctor/doctor.h"

static const char *const names[] = TFS_CUPTI_NAMES;
static const char *const beside[] = TFS_CUPTI_BESIDE;
static const char *const within[] = TFS_CUPTI_WITHIN;
_Static_assert(sizeof((const char *[])TFS_CUPTI_COMPANIONS) / sizeof(char *) == TFS_DOCTOR_FOLDERS,
	"one for each");

struct found {
	char path[PATH_MAX];
	uint32_t version;
};

static bool open_one(const char *folder, const char *below, struct found *out)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		char path[PATH_MAX];
		const int made = snprintf(path, sizeof(path), "%s%s%s", folder, below, names[i]);
		void *library = made < PATH_MAX ? dlopen(path, RTLD_LAZY | RTLD_LOCAL) : NULL;
		int (*get_version)(uint32_t *) =
			library ? (int (*)(uint32_t *))dlsym(library, "cuptiGetVersion") : NULL;
		Dl_info about;

		if (!get_version || get_version(&out->version) ||
			!dladdr((void *)get_version, &about))
			continue;
		snprintf(out->path, sizeof(out->path), "%s", about.dli_fname);
		return true;
	}
	return false;
}

static bool open_beside(const struct tfs_doctor_folders *folders, struct found *out)
{
	for (size_t i = 0; folders && i < TFS_DOCTOR_FOLDERS; i++)
		for (size_t j = 0; j < sizeof(beside) / sizeof(beside[0]); j++)
			if (folders->paths[i] && open_one(folders->paths[i], beside[j], out))
				return true;
	return false;
}

static bool open_within(const char *toolkit, struct found *out)
{
	for (size_t i = 0; toolkit && *toolkit && i < sizeof(within) / sizeof(within[0]); i++)
		if (open_one(toolkit, within[i], out))
			return true;
	return false;
}

void tfs_doctor_cupti(struct tfs_doctor *doctor, const struct tfs_doctor_folders *folders)
{
	const char *home = getenv("CUDA_HOME");
	struct found found = {.version = 0};

	doctor->cupti =
		doctor->driver && (open_beside(folders, &found) || open_one("", "", &found) ||
					  open_within(home ? home : getenv("CUDA_PATH"), &found) ||
					  open_within(TFS_CUPTI_TOOLKIT, &found));
	if (tfs_doctor_is_off("cupti")) {
		doctor->cupti = false;
		tfs_doctor_say(doctor, TFS_LIMIT, "cupti",
			"switched off by TFSHIM_OPTIONS: GPU activity is not recorded");
		tfs_doctor_advise(doctor, 80, "remove cupti=0 from TFSHIM_OPTIONS");
	} else if (doctor->cupti) {
		tfs_doctor_say(
			doctor, TFS_FINE, "cupti", "%s, version %u", found.path, found.version);
	} else if (!doctor->driver) {
		tfs_doctor_say(doctor, TFS_REMARK, "cupti",
			"not checked: without a driver libcupti may crash");
	} else {
		tfs_doctor_say(doctor, TFS_LIMIT, "cupti",
			"not found: GPU activity cannot be recorded, and rules about idle time are not measurable. "
			"libcupti is in the toolkit's extras/CUPTI/lib64 and in the Python wheel nvidia-cuda-cupti");
		tfs_doctor_advise(doctor, 80,
			"set CUDA_HOME to the toolkit of the program's CUDA version, "
			"or put its libcupti where the loader finds it (LD_LIBRARY_PATH)");
	}
}
