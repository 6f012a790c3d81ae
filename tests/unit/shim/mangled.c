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

/* Each parameter's bytes at its offset, ? where it is not known. */
static const struct {
	const char *name, *layout;
} layouts[] = {
	{"_Z4axpyPKfPffi", "8@0 8@8 4@16 4@20"},
	{"_Z4nonev", ""},
	{"_Z4gapsbsdcx", "1@0 2@2 8@8 1@16 8@24"},
	{"_Z4widenPf", "16@0 8@16"},
	{"_Z4meanPf6float46float24dim3i", "8@0 16@16 8@32 12@40 4@52"},
	{"_Z4half6__half13__nv_bfloat16S_7__half2", "2@0 2@2 2@4 4@8"},
	{"_Z4fillIfEvPT_S0_i", "8@0 4@8 4@12"},
	{"_Z4fillIfEvPT_T_i", "8@0 4@8 4@12"},
	{"_Z4fillIPKfEvT_i", "8@0 4@8"},
	{"_Z4castIfdLi4EEvPT_T0_T_", "8@0 8@8 4@16"},
	{"_ZN3net3addIdEEvT_PS1_", "8@0 8@8"},
	{"_ZN3net5LayerIfE3addIdEEvT_Pf", "8@0 8@8"},
	/* A class of the program's own: what comes behind it may be anywhere. */
	{"_Z4takePf5Shapei", "8@0 ?@? 4@?"},
	{"_Z4takePfN3net6float4Ei", "8@0 ?@? 4@?"},
	{"_Z4takeI5ShapeEvPfT_i", "8@0 ?@? 4@?"},
	/* What is not understood ends it. */
	{"_Z4callPfPFviEi", "8@0"},
	{"_Z4packIfEvPfDpT_", "8@0"},
	{"_Z3mapIZ4mainEUlPKfE_EvT_", ""},
	{"forward", ""},
	{"_Z4copyPf.part.0", "8@0"},
};

static void check_layout(const char *name, const char *layout)
{
	uint16_t bytes[16];
	uint16_t offsets[16];
	char text[200] = "";
	size_t used = 0;
	const uint32_t count = tfs_mangled_layout(name, 16, bytes, offsets);

	for (uint32_t i = 0; i < count; i++) {
		char size[8] = "?", at[8] = "?";

		if (bytes[i] != 0)
			snprintf(size, sizeof(size), "%u", bytes[i]);
		if (offsets[i] != TFS_MANGLED_NOWHERE)
			snprintf(at, sizeof(at), "%u", offsets[i]);
		used += (size_t)snprintf(
			text + used, sizeof(text) - used, "%s%s@%s", i == 0 ? "" : " ", size, at);
	}
	if (!TEST_STR(text, layout))
		printf("  of %s\n", name);
}

static void test_room(void)
{
	uint16_t bytes[2];
	uint16_t offsets[2];

	TEST_EQ(tfs_mangled_layout("_Z4axpyPKfPffi", 2, bytes, offsets), 2);
}

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
	for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++)
		check_layout(layouts[i].name, layouts[i].layout);
	test_room();
	test_deep();
	return test_result();
}
