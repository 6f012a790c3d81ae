/* SPDX-License-Identifier: MIT */
/* Preloaded: every process has the number that each container's first one has. */
#include <sys/types.h>
#include <unistd.h>

pid_t getpid(void)
{
	return 1;
}
