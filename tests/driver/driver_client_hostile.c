/* SPDX-License-Identifier: MIT */
/*
 * Programs that look the driver up in unusual ways, on a driver with bad manners:
 * driver_client_hostile CASE LIBCUDA [OTHER-LIBCUDA]. Each checks that exactly the function that it
 * asked for runs, which must hold with and without the shim.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <string.h>

#include "tests/test.h"

typedef int (*get_fn)(const char *, void **, int, unsigned long long, int *);
typedef int (*get_old_fn)(const char *, void **, int, unsigned long long);
typedef int (*alloc_fn)(unsigned long long *, size_t);
typedef int (*copy_fn)(unsigned long long, const void *, size_t);
typedef int (*elapsed_fn)(float *, void *, void *);
typedef int (*host_fn)(void *, void *, void *, unsigned);
typedef int (*attributes_fn)(unsigned long long, unsigned long long, size_t, void *, void *);

#ifdef OWN_DLSYM
/* A program that has its own dlsym, as programs that watch others do. */
void *dlsym(void *restrict handle, const char *restrict name)
{
	static void *(*next)(void *, const char *);

	if (!next)
		next = (void *(*)(void *, const char *))dlvsym(RTLD_NEXT, "dlsym", "GLIBC_2.2.5");
	return next(handle, name);
}
#endif

struct driver {
	void *library;
	get_fn get;
	int *latest, *calls, *reentered;
};

static bool load(struct driver *driver, const char *path)
{
	int (*init)(unsigned);

	driver->library = dlopen(path, RTLD_NOW);
	if (!TEST_TRUE(driver->library))
		return false;
	driver->get = (get_fn)dlsym(driver->library, "cuGetProcAddress_v2");
	driver->latest = dlsym(driver->library, "fake_latest");
	driver->calls = dlsym(driver->library, "fake_calls");
	driver->reentered = dlsym(driver->library, "fake_reentered");
	init = (int (*)(unsigned))dlsym(driver->library, "cuInit");
	TEST_EQ(init(0), 0);
	/* What the driver looks up is its own affair. */
	TEST_EQ(*driver->reentered, 1);
	return true;
}

static void *find(const struct driver *driver, const char *name, int version, int flags)
{
	void *function = NULL;

	TEST_EQ(driver->get(name, &function, version, (unsigned long long)flags, NULL), 0);
	return function;
}

static void check_alloc(const struct driver *driver, void *function)
{
	unsigned long long address = 0;

	TEST_EQ(((alloc_fn)function)(&address, 64), 0);
	TEST_EQ(address, 0x7f0000000040);
	TEST_EQ(*driver->latest, 2);
}

static void check_copy(const struct driver *driver, int version, int flags, int want)
{
	TEST_EQ(((copy_fn)find(driver, "cuMemcpyHtoD", version, flags))(0x7f0000000040, "", 1), 0);
	TEST_EQ(*driver->latest, want);
}

static void versions(const char *path)
{
	struct driver driver;
	unsigned long long product = 0;
	unsigned old_address;
	float time;

	if (!load(&driver, path))
		return;
	for (int version = 3020; version < 13090; version += 10)
		check_alloc(&driver, find(&driver, "cuMemAlloc", version, version % 3));
	TEST_EQ(((int (*)(unsigned *, unsigned))find(&driver, "cuMemAlloc", 3010, 0))(
			&old_address, 1),
		0);
	TEST_EQ(*driver.latest, 1);
	((int (*)(int, double, unsigned long long *))find(&driver, "cuMemAlloc", 13090, 0))(
		6, 7.0, &product);
	TEST_EQ(product, 42);
	check_copy(&driver, 3020, 0, 4);
	check_copy(&driver, 3020, 2, 4);
	check_copy(&driver, 7000, 0, 4);
	check_copy(&driver, 7000, 1, 4);
	check_copy(&driver, 7000, 2, 5);
	check_copy(&driver, 99000, 2, 5);
	((elapsed_fn)find(&driver, "cuEventElapsedTime", 12000, 0))(&time, NULL, NULL);
	TEST_EQ(*driver.latest, 6);
	((elapsed_fn)find(&driver, "cuEventElapsedTime", 12080, 0))(&time, NULL, NULL);
	TEST_EQ(*driver.latest, 7);
	((host_fn)find(&driver, "cuLaunchHostFunc", 13000, 0))(NULL, NULL, NULL, 0);
	TEST_EQ(*driver.latest, 10);
	((host_fn)find(&driver, "cuLaunchHostFunc", 13050, 0))(NULL, NULL, NULL, 0);
	TEST_EQ(*driver.latest, 11);
	((attributes_fn)find(&driver, "cuMemcpyWithAttributesAsync", 13020, 2))(
		1, 2, 3, NULL, NULL);
	TEST_EQ(*driver.latest, 12);
	((int (*)(void))find(&driver, "cuFakeOnly", 13000, 0))();
	TEST_EQ(*driver.latest, 8);
	*driver.latest = 0;
	((int (*)(void))dlsym(driver.library, "cuFakeOnly"))();
	TEST_EQ(*driver.latest, 8);
}

/* The driver's functions are its own: nobody stands in front of them. */
static void off(const char *path)
{
	static const char *const names[] = {
		"cuGetProcAddress_v2", "cuGetProcAddress", "cuMemAlloc_v2", "cuInit"};
	struct driver driver;
	Dl_info info;

	if (!load(&driver, path))
		return;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		TEST_TRUE(dladdr(dlsym(driver.library, names[i]), &info) &&
			  strcmp(info.dli_fname, path) == 0);
	TEST_TRUE(dladdr(find(&driver, "cuMemAlloc", 3020, 0), &info) &&
		  strcmp(info.dli_fname, path) == 0);
}

/* Both forms of cuGetProcAddress, however one comes by them. */
static void forms(const char *path)
{
	struct driver driver;
	void *function = NULL;
	get_old_fn old;
	int result = 7;

	if (!load(&driver, path))
		return;
	old = (get_old_fn)find(&driver, "cuGetProcAddress", 11030, 0);
	TEST_EQ(old("cuMemAlloc", &function, 11030, 0), 0);
	check_alloc(&driver, function);
	driver.get = (get_fn)find(&driver, "cuGetProcAddress", 12000, 0);
	TEST_EQ(driver.get("cuMemAlloc", &function, 12000, 0, &result), 0);
	TEST_EQ(result, 0);
	check_alloc(&driver, function);
	old = (get_old_fn)dlsym(driver.library, "cuGetProcAddress");
	TEST_EQ(old("cuMemAlloc", &function, 11030, 0), 0);
	check_alloc(&driver, function);
	check_alloc(&driver, dlsym(driver.library, "cuMemAlloc_v2"));
	TEST_TRUE(!dlsym(driver.library, "cuMemAllocManaged"));
	TEST_TRUE(dlerror());
	TEST_TRUE(dlsym(driver.library, "cuMemAlloc_v2"));
	TEST_TRUE(!dlerror());
	function = &driver;
	TEST_EQ(driver.get("cuMemAllocPitch", &function, 12000, 0, &result), 500);
	TEST_TRUE(function == &driver);
	TEST_EQ(result, 1);
}

static void old_driver(const char *path)
{
	struct driver driver;
	void *function = NULL;
	get_old_fn old;

	if (!load(&driver, path))
		return;
	TEST_TRUE(!driver.get);
	old = (get_old_fn)dlsym(driver.library, "cuGetProcAddress");
	TEST_EQ(old("cuMemAlloc", &function, 11030, 0), 0);
	check_alloc(&driver, function);
}

static void refused(const char *path)
{
	struct driver driver;
	void *function = NULL;

	setenv("FAKE_REFUSES", "1", 1);
	if (!load(&driver, path))
		return;
	TEST_EQ(driver.get("cuMemAlloc", &function, 3020, 0, NULL), 800);
	TEST_TRUE(!function);
}

/* Two drivers: each one's functions do their own work. */
static void twice(const char *path, const char *other)
{
	struct driver first, second;
	int before;

	if (!load(&first, path) || !load(&second, other))
		return;
	TEST_TRUE(first.calls != second.calls);
	check_alloc(&first, find(&first, "cuMemAlloc", 3020, 0));
	before = *first.calls;
	check_alloc(&second, find(&second, "cuMemAlloc", 3020, 0));
	check_alloc(&second, dlsym(second.library, "cuMemAlloc_v2"));
	TEST_EQ(*first.calls, before);
	TEST_EQ(*second.calls, 2);
}

/* Loaded, unloaded, and another in its place. */
static void again(const char *path, const char *other)
{
	struct driver first, second;

	if (!load(&first, path))
		return;
	check_alloc(&first, find(&first, "cuMemAlloc", 3020, 0));
	/* While the first is still there, or they might have the same place. */
	TEST_NEED(dlopen(other, RTLD_NOW));
	TEST_EQ(dlclose(first.library), 0);
	if (!load(&second, other))
		return;
	check_alloc(&second, find(&second, "cuMemAlloc", 3020, 0));
	TEST_EQ(*second.calls, 1);
}

static pthread_barrier_t both;
static const char *threads_path;

static void *use(void *nothing)
{
	struct driver driver = {0};

	(void)nothing;
	pthread_barrier_wait(&both);
	driver.library = dlopen(threads_path, RTLD_NOW);
	driver.get = (get_fn)dlsym(driver.library, "cuGetProcAddress_v2");
	driver.latest = dlsym(driver.library, "fake_latest");
	for (int i = 0; i < 200; i++) {
		unsigned long long address = 0;

		((alloc_fn)find(&driver, "cuMemAlloc", 3020, 0))(&address, 64);
		TEST_EQ(address, 0x7f0000000040);
	}
	return NULL;
}

static void threads(const char *path)
{
	pthread_t one, two;

	threads_path = path;
	pthread_barrier_init(&both, NULL, 2);
	pthread_create(&one, NULL, use, NULL);
	pthread_create(&two, NULL, use, NULL);
	pthread_join(one, NULL);
	pthread_join(two, NULL);
}

int main(int count, char **words)
{
	static const struct {
		const char *name;
		void (*check)(const char *);
	} cases[] = {{"versions", versions}, {"forms", forms}, {"off", off}, {"old", old_driver},
		{"refused", refused}, {"threads", threads}};

	TEST_NEED(count >= 3);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		if (!strcmp(words[1], cases[i].name))
			cases[i].check(words[2]);
	if (!strcmp(words[1], "twice"))
		twice(words[2], words[3]);
	if (!strcmp(words[1], "again"))
		again(words[2], words[3]);
	printf("%s: done\n", words[1]);
	return test_result();
}
