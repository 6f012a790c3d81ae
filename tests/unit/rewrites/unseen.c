/* SPDX-License-Identifier: MIT */
/* What could give the device work unseen is found as it is loaded, and named. Arguments: a library
 * that opens others in a name space of their own, and one by which others come to memory. */
#include <dlfcn.h>

#include "shim/base/env.h"
#include "shim/rewrites/common/unseen.h"
#include "tests/test.h"

int main(int count, char **words)
{
	TEST_NEED(count == 3);
	tfs_options.driver = true;
	TEST_STR(tfs_unseen_work(), NULL);
	TEST_STR(tfs_unseen_users(), NULL);
	TEST_STR(tfs_unseen_lookups(), NULL);

	TEST_NEED(dlopen(words[1], RTLD_LAZY));
	const char *cause = tfs_unseen_lookups();
	TEST_TRUE(cause && strstr(cause, "dlmopen") && strstr(cause, "unseen_opener"));
	TEST_STR(tfs_unseen_work(), NULL);
	TEST_STR(tfs_unseen_users(), NULL);

	TEST_NEED(dlopen(words[2], RTLD_LAZY));
	cause = tfs_unseen_users();
	TEST_TRUE(cause && strstr(cause, "libfabric"));
	TEST_STR(tfs_unseen_work(), NULL);
	return test_result();
}
