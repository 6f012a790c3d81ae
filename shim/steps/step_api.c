/* SPDX-License-Identifier: MIT */
#include "shim/tfshim.h"

#include <errno.h>

#include "shim/base/clock.h"
#include "shim/base/likely.h"
#include "shim/record/recorder.h"
#include "shim/steps/steps.h"
#include "shim/steps/windows.h"

#define CALLER ((uint64_t)(uintptr_t)__builtin_return_address(0))

TFS_EXPORT void tfshim_step(void);
TFS_EXPORT void tfshim_step_end(void);
TFS_EXPORT int tfshim_cupti(int on);

void tfshim_step(void)
{
	const int saved = errno;

	if (tfs_recording.header)
		tfs_steps_begin(TFS_STEP_API, tfs_clock_ticks(), CALLER);
	errno = saved;
}

void tfshim_step_end(void)
{
	const int saved = errno;

	if (tfs_recording.header)
		tfs_steps_end(TFS_STEP_API, tfs_clock_ticks(), CALLER);
	errno = saved;
}

int tfshim_cupti(int on)
{
	const int saved = errno;
	const bool has =
		on ? tfs_windows_return() : (tfs_windows_leave(TFS_LEFT_BY_PROGRAM, NULL), false);

	errno = saved;
	return has;
}
