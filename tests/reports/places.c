/* SPDX-License-Identifier: MIT */
/* Which frames of a call stack are the program's: those of the compiler and of libraries are not.
 */
#include "reports/model/places.h"
#include "tests/test.h"
#include "tests/unit/scenes/builder.h"

struct frame {
	const char *function, *place;
	bool foreign;
};

/* From the innermost on, to main(). */
static void check(const char *what, const struct frame *frames)
{
	struct builder *builder = builder_create();
	struct tfs_region region = {0};
	struct tfs_model_place place;
	struct tfs_places *places;
	uint64_t addresses[8];
	unsigned count = 0;
	uint32_t site;

	for (; frames[count].function; count++)
		addresses[count] = TFS_FRAME(builder_string(builder, frames[count].function),
			builder_string(builder, frames[count].place));
	site = builder_site(builder, count, addresses);
	places = tfs_places_create(builder_open(builder), &region);
	TEST_NEED(places);
	place = tfs_places_find(places, site);
	if (!TEST_EQ(place.frame_count, count))
		printf("%s\n", what);
	for (unsigned i = 0; i < place.frame_count; i++)
		if (!TEST_STR(place.frames[i].function, frames[i].function) ||
			!TEST_EQ(place.frames[i].foreign, frames[i].foreign))
			printf("%s: %s\n", what, frames[i].function);
	tfs_places_destroy(places);
	tfs_region_finish(&region);
	builder_destroy(builder);
}

int main(void)
{
	check("a runtime that is linked in",
		(const struct frame[]){{"cudart::cudaApiLaunch", "", true},
			{"libcudart_static_3a5c", "", true}, {"cudaLaunchKernel", "", true},
			{"__cudaLaunchKernel", "", true}, {"__cudaRegister", "", true},
			{"train", "train.cu:20", false}, {"main", "train.cu:30", false}, {0}});
	check("what only begins like it",
		(const struct frame[]){{"cudagrad", "", false}, {"__cudagrad", "", false},
			{"_cudaLaunch", "", false}, {"cudart", "", false},
			/* Lines are the program's own. */
			{"__cudaLaunchKernel", "mine.c:3", false}, {"main", "mine.c:9", false},
			{0}});
	check("a kernel that a stub launches",
		(const struct frame[]){{"__device_stub__Z5scalePf", "tmp.cudafe1.stub.c:7", true},
			{"ours::scale<float>", "train.cu:8", true}, {"step", "train.cu:20", false},
			{"main", "train.cu:30", false}, {0}});
	check("another function behind a stub",
		(const struct frame[]){{"__wrapper__device_stub_scale", "tmp.stub.c:7", true},
			{"step", "train.cu:20", false}, {"scale", "train.cu:8", false},
			{"main", "train.cu:30", false}, {0}});
	return test_result();
}
