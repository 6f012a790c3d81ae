/* SPDX-License-Identifier: MIT */
/*
 * Looks a driver's export tables up as a runtime does, and calls what is in them: directly, which
 * it takes from the driver's file by name, and through the table. Nothing may differ that the
 * function called can see. slots_client DRIVER [NUMBER OF CALLS [picky]]; picky: it refuses a
 * table that is not where the driver is, as a runtime may.
 */
#include <dlfcn.h>
#include <pthread.h>

#include "tests/gpu/slots/client.h"
#include "tests/test.h"

enum { THREADS = 4, WORDS = 6 };

typedef int get_table_fn(const void **, const unsigned char *);
typedef int get_proc_fn(const char *, void **, int, uint64_t, int *);

static const uint64_t *sized;
static unsigned calls = 1000;

static void *call_sum(void *unused)
{
	sum_fn *sum = (sum_fn *)sized[1];

	(void)unused;
	for (unsigned i = 0; i < calls; i++) {
		const double is = sum(1, 2, 3, 4, 5, 6, 7, 8, 0.5, 0.25F, (double)i);

		TEST_TRUE(is == 205 + 3.0 * i);
	}
	return NULL;
}

static void compare_registers(void (*direct)(struct registers *))
{
	static struct registers by_name, by_table;
	unsigned char *bytes = (unsigned char *)&by_name;

	for (size_t i = 0; i < sizeof(by_name); i++)
		bytes[i] = (unsigned char)(i * 167 + 13);
	by_table = by_name;
	slots_call(direct, &by_name);
	slots_call((void (*)(struct registers *))sized[2], &by_table);
	by_table.general[7] = by_name.general[7]; /* rdi: where it is to be noted */
	for (unsigned i = 0; i < 16; i++) {
		TEST_EQ(by_table.general[i], by_name.general[i]);
		TEST_EQ(memcmp(by_table.vector[i], by_name.vector[i], sizeof(*by_name.vector)), 0);
	}
	TEST_EQ(by_table.returns_to, by_name.returns_to);
}

static const uint64_t *table(get_table_fn *get_table, unsigned number)
{
	const unsigned char id[16] = {(unsigned char)number, 1, 2, 3, 4, 5};
	const void *one = NULL;

	TEST_EQ(get_table(&one, id), 0);
	return one;
}

static bool is_of(void *driver, const void *address)
{
	Dl_info one, other;

	return dladdr(dlsym(driver, "slots_registers"), &one) && dladdr(address, &other) &&
	       one.dli_fbase == other.dli_fbase;
}

int main(int count, char **words)
{
	void *driver = count > 1 ? dlopen(words[1], RTLD_NOW | RTLD_LOCAL) : NULL;
	pthread_t threads[THREADS];
	get_table_fn *get_table = NULL;
	get_proc_fn *get_proc = NULL;
	int found = 1;

	if (count > 2)
		calls = (unsigned)atoi(words[2]);
	TEST_NEED(driver);
	TEST_NEED((get_proc = (get_proc_fn *)dlsym(driver, "cuGetProcAddress_v2")));
	TEST_EQ(get_proc("cuGetProcAddress", (void **)&get_proc, 13000, 0, &found), 0);
	TEST_EQ(get_proc("cuGetExportTable", (void **)&get_table, 13000, 0, &found), 0);
	TEST_EQ(found, 0);
	TEST_EQ(get_table((const void **)&sized, (const unsigned char[16]){9}), 1);
	sized = table(get_table, 0);
	TEST_EQ(sized[0], WORDS * sizeof(uint64_t));
	if (count > 3 && !is_of(driver, sized)) {
		printf("this is not the driver's table\n");
		return 3;
	}
	TEST_TRUE(sized == table(get_table, 0));
	TEST_EQ(*(const uint64_t *)sized[3], 0x123456789);
	TEST_EQ(sized[4], 0);
	for (unsigned i = 1; i < 3; i++)
		((void (*const *)(void))table(get_table, i))[1]();
	compare_registers((void (*)(struct registers *))dlsym(driver, "slots_registers"));
	for (unsigned i = 0; i < THREADS; i++)
		TEST_EQ(pthread_create(&threads[i], NULL, call_sum, NULL), 0);
	for (unsigned i = 0; i < THREADS; i++)
		TEST_EQ(pthread_join(threads[i], NULL), 0);
	return test_result();
}
