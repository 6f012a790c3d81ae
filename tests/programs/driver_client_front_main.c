/* SPDX-License-Identifier: MIT */
/* A user of driver_client_front.c: driver_client_front_main LIBCUDA. */
#include "tests/test.h"

int cudnnCreate(void **out);
int front_is_left_alone(const char *path);

int main(int count, char **words)
{
	void *handle = NULL;

	TEST_NEED(count == 2);
	TEST_EQ(cudnnCreate(&handle), 0);
	TEST_TRUE(handle != NULL);
	TEST_EQ(cudnnCreate(&handle), 1);
	TEST_EQ(front_is_left_alone(words[1]), 1);
	return test_result();
}
