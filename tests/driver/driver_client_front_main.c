/* SPDX-License-Identifier: MIT */
/* A user of driver_client_front.c: driver_client_front_main LIBCUDA COPY... Each copy has another
 * library's name. */
#include <dlfcn.h>

#include "tests/test.h"

int cudnnCreate(void **out);
int cudnnSetTensor4dDescriptor(void *tensor, int, int, int, int, int, int);
int front_is_left_alone(const char *path);

static int is_left_alone(const char *copy, const char *path)
{
	void *library = dlopen(copy, RTLD_NOW | RTLD_LOCAL);
	int (*ask)(const char *) = NULL;

	if (library)
		ask = (int (*)(const char *))dlsym(library, "front_is_left_alone");
	return ask ? ask(path) : -1;
}

int main(int count, char **words)
{
	void *handle = NULL;

	TEST_NEED(count >= 2);
	/* The front looks beside itself for its part; so it must the second time that one is asked.
	 */
	TEST_NEED(dlopen(NULL, RTLD_NOW));
	TEST_EQ(cudnnCreate(&handle), 0);
	TEST_TRUE(handle);
	TEST_EQ(cudnnCreate(&handle), 1);
	TEST_EQ(cudnnSetTensor4dDescriptor(NULL, 0, 0, 1, 1, 1, 1), 4);
	TEST_EQ(front_is_left_alone(words[1]), 1);
	for (int i = 2; i < count; i++)
		if (!TEST_EQ(is_left_alone(words[i], words[1]), 1))
			printf("so for %s\n", words[i]);
	return test_result();
}
