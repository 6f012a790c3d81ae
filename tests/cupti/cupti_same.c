/* SPDX-License-Identifier: MIT */
/* The simulated CUPTI beside the real one, as far as the latter answers without a driver:
 * cupti_same SIMULATED REAL. Lengths of records, names of callbacks and of results. */
#include <cupti.h>
#include <dlfcn.h>

#include "tests/test.h"

struct library {
	__typeof__(cuptiActivityGetNextRecord) *next;
	__typeof__(cuptiGetCallbackName) *callback_name;
	__typeof__(cuptiGetResultString) *result_string;
	__typeof__(cuptiGetVersion) *version;
};

static bool open_library(const char *path, struct library *out_library)
{
	void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!handle)
		return false;
	*(void **)&out_library->next = dlsym(handle, "cuptiActivityGetNextRecord");
	*(void **)&out_library->callback_name = dlsym(handle, "cuptiGetCallbackName");
	*(void **)&out_library->result_string = dlsym(handle, "cuptiGetResultString");
	*(void **)&out_library->version = dlsym(handle, "cuptiGetVersion");
	return TEST_TRUE(out_library->next && out_library->callback_name &&
			 out_library->result_string && out_library->version);
}

/* The length of a record of this kind, from where the next one is found; 0 = it is none. */
static size_t stride(const struct library *library, uint32_t kind)
{
	union {
		uint64_t align;
		uint8_t bytes[1024];
	} buffer;
	CUpti_Activity *record = NULL;
	uint32_t *words = (uint32_t *)buffer.bytes;
	size_t i;

	/* The same kind wherever the second record may begin. */
	memset(&buffer, 0, sizeof(buffer));
	for (i = 0; i < sizeof(buffer) / 4; i += 2)
		words[i] = kind;
	if (library->next(buffer.bytes, sizeof(buffer), &record) ||
		library->next(buffer.bytes, sizeof(buffer), &record))
		return 0;
	return (size_t)((uint8_t *)record - buffer.bytes);
}

static void check_strides(const struct library *simulated, const struct library *real)
{
	static const uint32_t kinds[] = {
		1, 2, 3, 4, 5, 8, 9, 10, 12, 17, 20, 22, 36, 37, 38, 39, 45, 48, 49, 50, 51, 52};
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!TEST_EQ(stride(simulated, kinds[i]), stride(real, kinds[i])))
			printf("  of kind %u\n", kinds[i]);
}

static void check_names(const struct library *simulated, const struct library *real)
{
	uint32_t domain, id;

	for (domain = CUPTI_CB_DOMAIN_DRIVER_API; domain <= CUPTI_CB_DOMAIN_RUNTIME_API; domain++)
		for (id = 1; id < 1000; id++) {
			const char *ours = NULL, *theirs = NULL;

			simulated->callback_name((CUpti_CallbackDomain)domain, id, &ours);
			real->callback_name((CUpti_CallbackDomain)domain, id, &theirs);
			if ((ours || theirs) && !TEST_STR(ours, theirs))
				return;
		}
	for (id = 0; id <= CUPTI_ERROR_UNKNOWN; id++) {
		const char *ours = NULL, *theirs = NULL;

		simulated->result_string((CUptiResult)id, &ours);
		real->result_string((CUptiResult)id, &theirs);
		if (ours)
			TEST_STR(ours, theirs);
	}
}

int main(int argc, char **argv)
{
	struct library simulated, real;
	uint32_t ours = 0, theirs = 0;

	if (argc < 3 || !open_library(argv[2], &real))
		return test_skip("no real CUPTI beside the headers");
	if (!TEST_TRUE(open_library(argv[1], &simulated)))
		return test_result();
	simulated.version(&ours);
	real.version(&theirs);
	if (ours != theirs)
		return test_skip("the real CUPTI is of another version");
	TEST_EQ(stride(&real, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL), 216);
	check_strides(&simulated, &real);
	check_names(&simulated, &real);
	return test_result();
}
