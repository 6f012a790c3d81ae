/* SPDX-License-Identifier: MIT */
/* Whose the steps are: the calling thread's, when it is recorded and they are its own. */
#include "shim/record/recorder.h"
#include "shim/steps/steps.h"
#include "tests/test.h"

static struct tfs_thread one, other;
static struct tfs_thread *owner;

struct tfs_thread *__wrap_tfs_steps_owner(void);

struct tfs_thread *__wrap_tfs_steps_owner(void)
{
	return owner;
}

static bool is_owner(struct tfs_thread *self, struct tfs_thread *of)
{
	tfs_self.owned = self;
	owner = of;
	const bool is = tfs_steps_is_owner();
	tfs_self.owned = NULL;
	return is;
}

int main(void)
{
	TEST_TRUE(is_owner(&one, &one));
	TEST_TRUE(!is_owner(&one, &other));
	TEST_TRUE(!is_owner(&one, NULL));
	TEST_TRUE(!is_owner(NULL, &one));
	/* Nobody's are nobody's. */
	TEST_TRUE(!is_owner(NULL, NULL));
	return test_result();
}
