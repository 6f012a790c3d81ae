/* SPDX-License-Identifier: MIT */
/* A pair of clock readings is of one moment, also where the thread is kept from running between. */
#include <time.h>

#include "shim/base/clock.h"
#include "tests/test.h"

#define AWAY_NS 20000000 /* how long a reading is held up */
#define APART_NS 50000000

int __real_clock_gettime(clockid_t clock, struct timespec *out);
int __wrap_clock_gettime(clockid_t clock, struct timespec *out);

static unsigned held_up; /* of the next readings */

int __wrap_clock_gettime(clockid_t clock, struct timespec *out)
{
	const struct timespec away = {.tv_nsec = AWAY_NS};

	if (held_up % 2)
		nanosleep(&away, NULL);
	const int err = __real_clock_gettime(clock, out);
	if (held_up && held_up % 2 == 0)
		nanosleep(&away, NULL);
	held_up -= held_up > 0;
	return err;
}

/* How many nanoseconds a pair is off the line through two others. */
static double off(const uint64_t from[2], const uint64_t to[2], const uint64_t pair[2])
{
	const double rate = (double)(to[1] - from[1]) / (double)(to[0] - from[0]);
	const double is = (double)(pair[1] - from[1]);
	const double wanted = (double)(pair[0] - from[0]) * rate;

	return is > wanted ? is - wanted : wanted - is;
}

int main(void)
{
	const struct timespec apart = {.tv_nsec = APART_NS};
	uint64_t first[2], middle[2], last[2];

	tfs_clock_init();
	for (unsigned times = 1; times <= 4; times++) {
		tfs_clock_pair(&first[0], &first[1]);
		nanosleep(&apart, NULL);
		held_up = tfs_clock_is_tsc ? times : 0;
		tfs_clock_pair(&middle[0], &middle[1]);
		held_up = 0;
		nanosleep(&apart, NULL);
		tfs_clock_pair(&last[0], &last[1]);
		TEST_IN(off(first, last, middle), 0, 200000);
	}
	return test_result();
}
