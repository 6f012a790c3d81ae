/* SPDX-License-Identifier: MIT */
#include "rules/whatif/doubt.h"

#include "rules/replay/order.h"

/* A replay that is further off than this has not understood the steps. */
#define MOST_ERROR 0.10

/* Host threads that hand work to each other make hardly a call at the same time, and do the same in
 * most steps. Others share the device as it happens. */
#define MOST_BESIDE 0.05
#define LEAST_REGULAR 0.8

const char *tfs_replay_doubt(struct tfs_replay *const *replays, size_t count, double error)
{
	size_t compared = 0, regular = 0;
	bool several = false, beside = false;

	if (error > MOST_ERROR)
		return "replayed, the judged steps differ by more than 10 % from the "
		       "measured step time";
	for (size_t i = 0; i < count; i++) {
		const struct tfs_order *order = tfs_replay_order(replays[i]);

		if (order->count < 2)
			continue;
		several = true;
		beside |= order->beside > MOST_BESIDE;
		compared += order->compared;
		regular += order->regular;
	}
	/* A run of steps may be too short to compare any. */
	if (several && (beside || !compared || (double)regular < LEAST_REGULAR * (double)compared))
		return "several host threads launch device work, "
		       "and which of them waits for which is not recorded";
	return NULL;
}
