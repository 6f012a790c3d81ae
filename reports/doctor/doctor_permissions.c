/* SPDX-License-Identifier: MIT */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reports/doctor/doctor.h"

void tfs_doctor_permissions(struct tfs_doctor *doctor)
{
	char line[256] = "";
	bool locked = false;
	FILE *file = fopen("/proc/driver/nvidia/params", "re");

	while (file && fgets(line, sizeof(line), file))
		locked = locked || !strncmp(line, "RmProfilingAdminOnly: 1", 23);
	if (file)
		fclose(file);
	if (!file)
		tfs_doctor_say(doctor, TFS_FINE, "permissions",
			"NVreg_RestrictProfilingToAdminUsers cannot be read; "
			"tfshim uses no GPU counters");
	else
		tfs_doctor_say(doctor, TFS_FINE, "permissions",
			"GPU counters are %s; tfshim uses none",
			locked ? "for administrators only" : "open to all");
	file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	if (file && fgets(line, sizeof(line), file))
		tfs_doctor_say(doctor, TFS_FINE, "permissions",
			"perf_event_paranoid is %d; tfshim does not use perf events", atoi(line));
	if (file)
		fclose(file);
}
