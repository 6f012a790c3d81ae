/* SPDX-License-Identifier: MIT */
#include "shim/clock.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

bool tfs_clock_is_tsc;

void tfs_clock_init(void)
{
#ifdef __x86_64__
	char text[16] = "";
	const int fd = open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
		O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return;
	if (read(fd, text, sizeof(text) - 1) > 0)
		tfs_clock_is_tsc = strcmp(text, "tsc\n") == 0;
	close(fd);
#endif
}
