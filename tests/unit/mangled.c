/* SPDX-License-Identifier: MIT */
/* Kernels' names, as nvcc and g++ mangle them, and the parameters that they only read. */
#include "shim/state/mangled.h"

#include "tests/test.h"

static const struct {
	const char *name;
	uint32_t constant;
	const char *meant;
} names[] = {
	{"_Z4reluPfi", 0, "relu(float *, int)"},
	{"_Z4axpyPKfPfi", 1, "axpy(const float *, float *, int)"},
	{"_Z3addPKfS0_Pf", 3, "add(const float *, const float *, float *)"},
	{"_Z3subPfPKfS_S1_", 10, "sub(float *, const float *, float *, const float *)"},
	{"_ZL6staticPKfPf", 1, "static(const float *, float *)"},
	{"_ZN4nets7forwardEPKfPf", 1, "nets::forward(const float *, float *)"},
	{"_ZN4nets4copyEPKNS_4TileEPS0_", 1, "nets::copy(const nets::Tile *, nets::Tile *)"},
	{"_Z4fillIfEvPT_S0_i", 0, "fill<float>(T *, T, int)"},
	{"_Z4scanIfLi128EEvPKT_PS0_", 1, "scan<float, 128>(const T *, T *)"},
	{"_Z4castI6__halffEvPKT_PT0_m", 1, "cast<__half, float>(const T *, U *, size_t)"},
	{"_Z5sharePVKfPf", 0, "share(const volatile float *, float *)"},
	{"_Z5tablePPKfPKPf", 2, "table(const float **, float *const *)"},
	{"_Z6strideN3cub8IteratorIPKfEES2_Pf", 2,
		"stride(cub::Iterator<const float *>, const float *, float *)"},
	{"_Z4bothPKfPfS0_S_", 5, "both(const float *, float *, const float *, float const)"},
	/* None of these says anything, or is to be believed. */
	{"forward", 0, "forward, of C"},
	{"", 0, "nothing"},
	{"_Z", 0, "nothing"},
	{"_Z99forwardPKf", 0, "a name that ends too soon"},
	{"_Z7forwardPK", 0, "a type that ends too soon"},
	{"_Z7forwardPKfS9_", 0, "a repetition of nothing"},
	{"_Z7forwardPKfS", 0, "a repetition that ends too soon"},
	{"_Z7forwardPKfIfE", 0, "arguments of no template"},
	{"_Z3mapIZ4mainEUlPKfE_EvT_", 0, "a lambda"},
	{"_Z5applyPKfPFvPfE", 0, "a function pointer"},
	{"_Z4packIJffEEvPKfDpT_", 0, "a pack"},
};

/* Pointers within pointers, deeper than any program's. */
static void test_deep(void)
{
	char name[4096] = "_Z4deep";

	memset(name + strlen(name), 'P', sizeof(name) - strlen(name) - 1);
	TEST_EQ(tfs_mangled_constant(name), 0);
}

int main(void)
{
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!TEST_EQ(tfs_mangled_constant(names[i].name), names[i].constant))
			printf("  of %s: %s\n", names[i].name, names[i].meant);
	test_deep();
	return test_result();
}
