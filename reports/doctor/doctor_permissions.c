/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "reports/doctor/doctor.h"

/* As shim/host/host_code.c asks, of this thread: 0, or why it is refused. */
static int open_perf_event(void)
{
	struct perf_event_attr attributes = {
		.type = PERF_TYPE_SOFTWARE,
		.size = sizeof(attributes),
		.config = PERF_COUNT_SW_TASK_CLOCK,
		.exclude_kernel = 1,
		.exclude_hv = 1,
	};
	const long file =
		syscall(SYS_perf_event_open, &attributes, 0, -1, -1, PERF_FLAG_FD_CLOEXEC);

	if (file < 0)
		return errno;
	close((int)file);
	return 0;
}

/* What is refused although the kernel's setting allows it, a container refuses. */
static void check_perf_events(struct tfs_doctor *doctor)
{
	FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "re");
	const int err = open_perf_event();
	char setting[48] = "perf_event_paranoid cannot be read";
	int level = 0;

	if (file && fscanf(file, "%d", &level) == 1)
		snprintf(setting, sizeof(setting), "perf_event_paranoid is %d", level);
	if (file)
		fclose(file);
	if (!err)
		tfs_doctor_say(doctor, TFS_FINE, "permissions",
			"%s: the report can name the functions "
			"that the host runs in while the GPU waits",
			setting);
	else
		tfs_doctor_say(doctor, TFS_REMARK, "permissions",
			"%s, and perf_event_open fails: %s: "
			"it is not known which functions the host runs in while the GPU waits; "
			"to change it: %s",
			setting, strerror(err),
			level > 2 ? "sysctl kernel.perf_event_paranoid=2"
				  : "let the container call perf_event_open");
}

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
	check_perf_events(doctor);
}
