/* SPDX-License-Identifier: MIT */
/* Clean tries count for their own call site and shape, one that is not clean ends them, and what
 * the table has no room for never has enough. */
#include "shim/rewrites/common/evidence.h"

#include "tests/test.h"

static struct tfs_evidence evidence;

static void try_cleanly(uint32_t site, uint64_t shape, uint32_t times)
{
	for (uint32_t i = 0; i < times; i++)
		tfs_evidence_clean(&evidence, site, shape);
}

int main(void)
{
	try_cleanly(1, 4096, TFS_EVIDENCE_TRIES - 1);
	TEST_TRUE(!tfs_evidence_enough(&evidence, 1, 4096));
	try_cleanly(1, 4096, 1);
	TEST_TRUE(tfs_evidence_enough(&evidence, 1, 4096));
	TEST_TRUE(!tfs_evidence_enough(&evidence, 1, 8192));
	TEST_TRUE(!tfs_evidence_enough(&evidence, 2, 4096));

	try_cleanly(2, 4096, 1000);
	tfs_evidence_spoiled(&evidence, 2, 4096);
	try_cleanly(2, 4096, TFS_EVIDENCE_TRIES - 1);
	TEST_TRUE(!tfs_evidence_enough(&evidence, 2, 4096));
	TEST_TRUE(tfs_evidence_enough(&evidence, 1, 4096));

	for (uint32_t site = 10; site < 10 + TFS_EVIDENCE_PLACES; site++)
		try_cleanly(site, 1, TFS_EVIDENCE_TRIES);
	TEST_TRUE(tfs_evidence_enough(&evidence, 10, 1));
	TEST_TRUE(!tfs_evidence_enough(&evidence, 9 + TFS_EVIDENCE_PLACES, 1));
	return test_result();
}
