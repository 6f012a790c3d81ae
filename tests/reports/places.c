/* SPDX-License-Identifier: MIT */
/* Which frames of a call stack are the program's: those of the compiler and of libraries are not.
 */
#include "reports/build/places.h"
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
	struct tfs_arena arena = {0};
	struct tfs_model_place place;
	struct tfs_places *places;
	uint64_t addresses[8];
	unsigned count = 0;
	uint32_t site;

	for (; frames[count].function; count++)
		addresses[count] = TFS_FRAME(builder_string(builder, frames[count].function),
			builder_string(builder, frames[count].place));
	site = builder_site(builder, count, addresses);
	places = tfs_places_create(builder_open(builder), &arena);
	TEST_NEED(places);
	place = tfs_places_find(places, site);
	if (!TEST_EQ(place.frame_count, count))
		printf("%s\n", what);
	for (unsigned i = 0; i < place.frame_count; i++)
		if (!TEST_STR(place.frames[i].function, frames[i].function) ||
			!TEST_EQ(place.frames[i].foreign, frames[i].foreign))
			printf("%s: %s\n", what, frames[i].function);
	tfs_places_destroy(places);
	tfs_arena_finish(&arena);
	builder_destroy(builder);
}

/* A stack, of named frames and addresses, of a program in Python or not. */
struct stack {
	struct builder *builder;
	struct tfs_trace *trace;
	struct tfs_arena arena;
	struct tfs_places *places;
	struct tfs_model_place place;
};

#define ADDRESS UINT64_C(0x401000)

static uint64_t named(struct stack *stack, const char *function, const char *place)
{
	return TFS_FRAME(
		builder_string(stack->builder, function), builder_string(stack->builder, place));
}

static void begin(struct stack *stack, bool python)
{
	*stack = (struct stack){.builder = builder_create()};
	if (python)
		builder_fact(stack->builder, TFS_FACT_python, "3.12", 0);
}

static void find(struct stack *stack, unsigned count, const uint64_t *frames)
{
	const uint32_t site = builder_site(stack->builder, count, frames);

	stack->trace = builder_open(stack->builder);
	TEST_NEED(stack->trace);
	stack->places = tfs_places_create(stack->trace, &stack->arena);
	TEST_NEED(stack->places);
	stack->place = tfs_places_find(stack->places, site);
}

static void end(struct stack *stack)
{
	tfs_places_destroy(stack->places);
	tfs_trace_close(stack->trace);
	tfs_arena_finish(&stack->arena);
	builder_destroy(stack->builder);
}

/* C code that Python code called stands behind the line that called it. */
static void python_above_c(void)
{
	struct stack stack;

	begin(&stack, true);
	find(&stack, 4,
		(uint64_t[]){ADDRESS, ADDRESS + 16, named(&stack, "step", "/x/train.py:12"),
			named(&stack, "<module>", "/x/train.py:40")});
	TEST_EQ(stack.place.frame_count, 4);
	TEST_EQ(stack.place.folded, 2);
	TEST_TRUE(stack.place.frames[0].foreign && stack.place.frames[1].foreign);
	TEST_TRUE(!stack.place.frames[2].foreign);
	TEST_EQ(tfs_model_own_frame(&stack.place), 2);
	TEST_STR(stack.place.frames[2].file, "/x/train.py");
	TEST_EQ(stack.place.frames[2].line, 12);
	TEST_STR(tfs_places_script(stack.places), "/x/train.py");
	end(&stack);
	/* Where C code calls Python's, nothing is folded. */
	begin(&stack, true);
	find(&stack, 3,
		(uint64_t[]){ADDRESS, named(&stack, "step", "/x/train.py:12"), ADDRESS + 16});
	TEST_EQ(stack.place.folded, 0);
	TEST_TRUE(!stack.place.frames[0].foreign);
	TEST_TRUE(!tfs_places_script(stack.places));
	end(&stack);
}

/* A launcher in a library is not the script. */
static void the_script_of_a_launcher(void)
{
	struct stack stack;

	begin(&stack, true);
	find(&stack, 4,
		(uint64_t[]){named(&stack, "forward", "/x/site-packages/torch/nn.py:5"),
			named(&stack, "step", "/x/train.py:12"),
			named(&stack, "<module>", "/x/train.py:40"),
			named(&stack, "<module>", "/x/site-packages/launch.py:9")});
	TEST_EQ(tfs_model_own_frame(&stack.place), 1);
	TEST_STR(tfs_places_script(stack.places), "/x/train.py");
	end(&stack);
}

/* PyTorch's engine runs what no line of Python calls. */
static void a_backward_pass(void)
{
	for (int python = 0; python < 2; python++) {
		struct stack stack;

		begin(&stack, python);
		find(&stack, 2,
			(uint64_t[]){named(&stack, "at::native::mm", ""),
				named(&stack, "torch::autograd::Engine::thread_main", "")});
		TEST_EQ(stack.place.frame_count, 2 + python);
		TEST_STR(stack.place.frames[0].function, python ? "backward" : "at::native::mm");
		TEST_STR(stack.place.frames[python].function, "at::native::mm");
		end(&stack);
	}
}

static uint64_t key_of(const char *function, const char *place, const char *outermost)
{
	struct stack stack;
	uint64_t key;

	begin(&stack, false);
	find(&stack, 3,
		(uint64_t[]){named(&stack, function, place), named(&stack, "main", "train.c:30"),
			named(&stack, outermost, "")});
	TEST_EQ(stack.place.frame_count, 2);
	key = stack.place.key;
	end(&stack);
	return key;
}

/* It is the same wherever the program is built and whatever its lines: names make it. */
static void keys(void)
{
	const uint64_t key = key_of("step", "/x/train.c:20", "_start");

	TEST_TRUE(key_of("step", "/y/z/train.c:25", "_start") == key);
	TEST_TRUE(key_of("step", "/x/train.c:20", "__libc_start_main") == key);
	TEST_TRUE(key_of("other", "/x/train.c:20", "_start") != key);
	TEST_TRUE(key_of("step", "/x/other.c:20", "_start") != key);
}

int main(void)
{
	python_above_c();
	the_script_of_a_launcher();
	a_backward_pass();
	keys();
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
