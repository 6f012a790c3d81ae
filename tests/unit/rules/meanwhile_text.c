/* SPDX-License-Identifier: MIT */
/* What a thread did meanwhile, in words: the most first, and nothing that is not worth one. */
#include <math.h>

#include "rules/evidence/meanwhile.h"
#include "tests/test.h"

static void check(const struct tfs_meanwhile *meanwhile, const char *want)
{
	char text[1024];

	tfs_meanwhile_text(meanwhile, 4, text, sizeof(text));
	TEST_STR(text, want);
}

int main(void)
{
	struct tfs_meanwhile meanwhile = {.samples = 40,
		.time_ns = 1000,
		.doing_ns = {[TFS_HOST_code] = 300, [TFS_HOST_lock] = 660, [TFS_HOST_sleep] = 40},
		.kernel = NAN,
		.queued = NAN,
		.read_bytes = NAN,
		.faults = NAN};
	char text[24];

	check(&meanwhile,
		"in 40 samples the thread was waiting for other threads (66 %), running (30 %)");
	meanwhile.kernel = 0.5;
	meanwhile.queued = 0.25;
	meanwhile.read_bytes = 4 * 8192;
	meanwhile.faults = 12;
	check(&meanwhile, "in 40 samples the thread was waiting for other threads (66 %), "
			  "running (30 %, 50 % of that in the kernel); "
			  "for 25 % of the time in which it could run, it waited for a processor; "
			  "it read 8.00 KiB per step in that time; "
			  "3 page faults per step had to fetch what was not in memory");
	/* Hardly any of it. */
	meanwhile.kernel = meanwhile.queued = 0.04;
	meanwhile.read_bytes = 4 * 4095;
	meanwhile.faults = 3.9;
	meanwhile.crowds = 5;
	meanwhile.threads = (struct tfs_crowd){3, 1.5, 0.25};
	meanwhile.children = (struct tfs_crowd){0.4, 0.4, 0};
	check(&meanwhile,
		"in 40 samples the thread was waiting for other threads (66 %), running (30 %); "
		"of 3 other threads, 1.5 ran on average and 0.25 waited as for a disk");
	meanwhile.threads.disk = 0.1;
	meanwhile.children = (struct tfs_crowd){1, 0.5, 0};
	check(&meanwhile,
		"in 40 samples the thread was waiting for other threads (66 %), running (30 %); "
		"of 1 child process, 0.5 ran on average; of 3 other threads, 1.5 ran on average");
	/* Who does not wait for others is not told of them. */
	meanwhile.doing_ns[TFS_HOST_lock] = 0;
	meanwhile.doing_ns[TFS_HOST_file] = 660;
	check(&meanwhile,
		"in 40 samples the thread was reading or writing files (66 %), running (30 %)");
	tfs_meanwhile_text(&meanwhile, 4, text, sizeof(text));
	TEST_STR(text, "in 40 samples the threa");
	meanwhile.samples = 0;
	check(&meanwhile, "");
	return test_result();
}
