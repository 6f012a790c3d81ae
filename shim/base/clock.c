/* SPDX-License-Identifier: MIT */
#include "shim/base/clock.h"

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

#define TRIES 8u
#define CLOSE_TICKS 1000u /* less than what being kept from running takes */

void tfs_clock_pair(uint64_t *out_ticks, uint64_t *out_monotonic_ns)
{
	uint64_t least = UINT64_MAX;

	for (unsigned i = 0; i < TRIES && least > CLOSE_TICKS; i++) {
		const uint64_t before = tfs_clock_ticks();
		const uint64_t ns = tfs_clock_ns(CLOCK_MONOTONIC);
		const uint64_t gap = tfs_clock_ticks() - before;

		if (gap >= least)
			continue;
		least = gap;
		*out_ticks = before + gap / 2;
		*out_monotonic_ns = ns;
	}
}
