/* SPDX-License-Identifier: MIT */
/*
 * The search for the training step, on trainers that are made of functions and loops within loops:
 * which loop is taken, and what counts as inside it. A made-up program keeps its own stack of
 * return addresses; a call's place is the whole stack, as in a recording.
 */
#include "shim/loops.h"

#include "tests/test.h"

#define DEEPEST 24u
#define READ 1
#define WRITE 2
#define MAYBE 7 /* or either */

static struct {
	struct tfs_loops *loops;
	uint64_t stack[DEEPEST];
	unsigned depth;
	unsigned long calls;
	unsigned long found_at;
	/* Since it was found. */
	unsigned opened;
	unsigned outside;
	bool was_at_anchor;
	bool last_outside;
} run;

static void begin(void)
{
	free(run.loops);
	memset(&run, 0, sizeof(run));
	run.loops = tfs_loops_init(calloc(1, tfs_loops_bytes()));
	TEST_NEED(run.loops != NULL);
	run.stack[run.depth++] = 0x100;
}

/* What the shim does once the step is known. */
static void mark(const uint64_t *frames)
{
	const bool anchor = tfs_loops_opens(run.loops, frames, run.depth + 1);

	run.last_outside = tfs_loops_outside(run.loops, frames, run.depth + 1);
	run.outside += run.last_outside;
	run.opened += anchor && !run.was_at_anchor;
	run.was_at_anchor = anchor;
}

/* A call of the library from line `line` of the running function. */
static void call(unsigned line, const struct tfs_loops_operand *operands, unsigned count)
{
	uint64_t frames[DEEPEST + 1];
	uint32_t site = 2166136261u;

	run.stack[run.depth] = (run.stack[run.depth - 1] << 8 & 0xffff0000u) + 0x1000u + line;
	for (unsigned i = 0; i <= run.depth; i++) {
		frames[i] = run.stack[run.depth - i];
		site = (site ^ (uint32_t)frames[i]) * 16777619u;
	}
	run.calls++;
	if (run.found_at != 0)
		mark(frames);
	else if (tfs_loops_feed(run.loops, site, frames, run.depth + 1, operands, count))
		run.found_at = run.calls;
}

static void use(unsigned line, uint64_t one, int how_one, uint64_t other, int how_other)
{
	const struct tfs_loops_operand operands[] = {
		{one, (how_one & READ) != 0, (how_one & WRITE) != 0, how_one == MAYBE},
		{other, (how_other & READ) != 0, (how_other & WRITE) != 0, how_other == MAYBE}};

	call(line, operands, other != 0 ? 2 : 1);
}

static void enter(unsigned line)
{
	run.stack[run.depth] = run.stack[run.depth - 1] * 16 + line;
	run.depth++;
}

static void leave(void)
{
	run.depth--;
}

/* Steps, of which the first `warm` may pass before the step is known. */
static void expect(const char *what, unsigned steps, unsigned warm)
{
	if (!TEST_TRUE(run.found_at != 0) || !TEST_IN(run.opened, steps - warm, steps - 1))
		printf("  in: %s, found at call %lu of %lu\n", what, run.found_at, run.calls);
}

#define SHAPES 1000u
#define WARM 16u
#define WEIGHT(i) (0x1000000u + 0x1000u * (i))
#define GRAD(i) (0x2000000u + 0x1000u * (i))
#define ACT(i) (0x3000000u + 0x1000u * (i))
#define INPUT 0x4000000u
#define LOSS 0x4100000u

static void forward(unsigned layers)
{
	for (unsigned i = 0; i < layers; i++) {
		use(1, WEIGHT(i), READ, ACT(i), READ);
		use(2, ACT(i + 1), WRITE, 0, 0);
	}
}

static void backward(unsigned layers)
{
	for (unsigned i = layers; i-- > 0;)
		use(3, GRAD(i), READ | WRITE, ACT(i), READ);
}

/* One helper updates every parameter. */
static void update(unsigned layers)
{
	for (unsigned i = 0; i < layers; i++) {
		enter(4);
		use(1, WEIGHT(i), READ | WRITE, GRAD(i), READ);
		leave();
	}
}

static void step(unsigned layers)
{
	use(1, INPUT, WRITE, 0, 0);
	enter(2);
	forward(layers);
	leave();
	enter(3);
	backward(layers);
	leave();
	enter(4);
	update(layers);
	leave();
}

static void test_plain(void)
{
	begin();
	for (unsigned i = 0; i < 60; i++) {
		enter(1);
		step(3);
		leave();
	}
	expect("plain", 60, WARM);
	TEST_EQ(run.outside, 0);
}

/* Epochs of batches, each in a function, with an evaluation after each epoch. */
static void test_epochs(void)
{
	unsigned evaluations = 0;

	begin();
	for (unsigned epoch = 0; epoch < 6; epoch++) {
		enter(1);
		for (unsigned i = 0; i < 20; i++) {
			enter(2);
			step(3);
			leave();
		}
		leave();
		enter(5);
		for (unsigned i = 0; i < 12; i++) {
			enter(2);
			forward(3);
			leave();
			use(3, ACT(3), READ, 0, 0);
			evaluations += run.found_at != 0 && run.last_outside;
		}
		leave();
	}
	expect("epochs", 120, WARM);
	TEST_EQ(evaluations, 72);
}

/* The same, all in one function. */
static void test_inlined_epochs(void)
{
	begin();
	for (unsigned epoch = 0; epoch < 6; epoch++) {
		for (unsigned i = 0; i < 20; i++) {
			enter(2);
			step(3);
			leave();
		}
		enter(9);
		forward(3);
		leave();
	}
	expect("inlined epochs", 120, WARM);
}

/* Gradients added up over four micro-batches: the update makes the step. */
static void test_micro_batches(void)
{
	begin();
	for (unsigned i = 0; i < 40; i++) {
		for (unsigned micro = 0; micro < 4; micro++) {
			use(1, INPUT, WRITE, 0, 0);
			enter(2);
			forward(3);
			leave();
			enter(3);
			backward(3);
			leave();
			use(4, LOSS, READ | WRITE, 0, 0);
		}
		use(5, LOSS, READ, 0, 0);
		enter(6);
		update(3);
		leave();
		for (unsigned layer = 0; layer < 3; layer++)
			use(7, GRAD(layer), WRITE, 0, 0);
	}
	expect("micro-batches", 40, WARM);
}

/* A loss is read every tenth step, and in the middle of the loop a validation every twentieth. */
static void test_conditions(void)
{
	begin();
	for (unsigned i = 0; i < 100; i++) {
		if (i % 20 == 0) {
			enter(1);
			forward(3);
			leave();
		}
		enter(2);
		step(3);
		leave();
		use(3, LOSS, READ | WRITE, 0, 0);
		if (i % 10 == 9)
			use(4, LOSS, READ, 0, 0);
	}
	expect("conditions", 100, WARM + 8);
}

/* Loops over many layers that hand one buffer on, changed in place by one kernel and read by the
 * next: they go round more often than it takes to confirm a step, within the first one. */
static void test_layers(void)
{
	const unsigned layers = 24;

	begin();
	for (unsigned i = 0; i < 40; i++) {
		use(1, INPUT, WRITE, 0, 0);
		enter(2);
		for (unsigned layer = 0; layer < layers; layer++) {
			use(1, WEIGHT(layer), READ, ACT(layer % 2), READ);
			use(2, ACT((layer + 1) % 2), WRITE, 0, 0);
			use(3, ACT((layer + 1) % 2), READ | WRITE, 0, 0);
		}
		leave();
		enter(3);
		backward(layers);
		leave();
		enter(4);
		update(layers);
		leave();
	}
	expect("layers", 40, WARM);
}

/* Nothing but kernels of its own, of which nobody knows what they do with their pointers; one
 * scratch buffer serves all layers; one kernel updates all weights, which are one range. */
static void test_own_kernels(void)
{
	const unsigned layers = 12;

	begin();
	for (unsigned i = 0; i < 40; i++) {
		use(1, WEIGHT(0), MAYBE, INPUT, MAYBE);
		for (unsigned layer = 0; layer < layers; layer++) {
			use(2, ACT(100), MAYBE, WEIGHT(3 * layer + 1), MAYBE);
			use(3, ACT(100), MAYBE, WEIGHT(3 * layer + 2), MAYBE);
			use(4, ACT(layer), MAYBE, WEIGHT(3 * layer + 3), MAYBE);
		}
		use(5, LOSS, MAYBE, ACT(100), MAYBE);
		for (unsigned layer = layers; layer-- > 0;) {
			use(6, ACT(101), MAYBE, GRAD(3 * layer + 3), MAYBE);
			use(7, ACT(101), MAYBE, GRAD(3 * layer + 2), MAYBE);
			use(8, ACT(101), MAYBE, GRAD(3 * layer + 1), MAYBE);
			use(9, ACT(101), MAYBE, ACT(layer), MAYBE);
		}
		use(10, WEIGHT(0), MAYBE, GRAD(0), MAYBE);
	}
	expect("own kernels", 40, WARM);
}

/* The same in functions, each with its loop over the layers. */
static void test_own_functions(void)
{
	const unsigned layers = 48;

	begin();
	for (unsigned i = 0; i < 40; i++) {
		enter(1);
		use(1, WEIGHT(0), MAYBE, INPUT, MAYBE);
		for (unsigned layer = 0; layer < layers; layer++) {
			use(2, ACT(100), MAYBE, WEIGHT(2 * layer + 1), MAYBE);
			use(3, ACT(100), MAYBE, WEIGHT(2 * layer + 2), MAYBE);
		}
		leave();
		enter(2);
		for (unsigned layer = layers; layer-- > 0;) {
			use(6, ACT(101), MAYBE, GRAD(2 * layer + 2), MAYBE);
			use(7, ACT(101), MAYBE, GRAD(2 * layer + 1), MAYBE);
		}
		leave();
		enter(3);
		use(1, WEIGHT(0), MAYBE, GRAD(0), MAYBE);
		leave();
	}
	expect("own functions", 40, WARM);
}

/* Two inputs by turns, as those do who copy ahead. */
static void test_double_buffer(void)
{
	begin();
	for (unsigned i = 0; i < 60; i++) {
		use(1, INPUT + i % 2 * 64, MAYBE, 0, 0);
		use(2, WEIGHT(0), MAYBE, INPUT + i % 2 * 64, MAYBE);
		use(3, ACT(i % 2), MAYBE, WEIGHT(0), MAYBE);
		use(4, GRAD(0), MAYBE, ACT(i % 2), MAYBE);
		use(5, WEIGHT(0), MAYBE, GRAD(0), MAYBE);
	}
	expect("double buffer", 60, WARM);
}

/* Nothing is learned: no step, whatever loops there are. */
static void test_inference(void)
{
	begin();
	for (unsigned i = 0; i < 100; i++) {
		use(1, INPUT, WRITE, 0, 0);
		enter(2);
		forward(20);
		leave();
		use(3, ACT(20), READ, 0, 0);
	}
	TEST_EQ(run.found_at, 0);
}

/* A trainer of any shape. */
struct shape {
	unsigned layers;
	unsigned micro;      /* batches of a step */
	unsigned epoch;      /* steps */
	unsigned evaluation; /* batches after each epoch */
	unsigned sequence;   /* times that a state is carried on within each batch */
	bool own;            /* kernels of its own: whether they write is not known */
	bool constant;       /* but for what they only read */
	bool helpers;        /* the update is a function, called for each parameter */
	bool residual;       /* all layers add to one buffer */
	bool shared;         /* and hand on another */
	bool momentum;
	bool inlined;  /* the loop over batches is in the same function as that over epochs */
	bool resident; /* all input is on the device, at another place for each batch */
};

static struct shape shape;

static int in_doubt(int how)
{
	if (!shape.own || (shape.constant && how == READ))
		return how;
	return MAYBE;
}

static uint64_t activation(unsigned layer)
{
	return ACT(shape.shared ? layer % 2 : layer);
}

static void shape_forward(unsigned batch)
{
	const uint64_t input = INPUT + (shape.resident ? batch * 4096u : 0);

	enter(1);
	use(9, ACT(700), WRITE, 0, 0);
	for (unsigned i = 0; i < shape.sequence; i++) {
		use(10, ACT(700), in_doubt(READ | WRITE), WEIGHT(900), in_doubt(READ));
		use(11, ACT(701 + i), in_doubt(WRITE), ACT(700), in_doubt(READ));
	}
	for (unsigned i = 0; i < shape.layers; i++) {
		use(1, WEIGHT(2 * i), in_doubt(READ), i ? activation(i) : input, in_doubt(READ));
		use(2, activation(i + 1), in_doubt(WRITE), WEIGHT(2 * i), in_doubt(READ));
		use(3, activation(i + 1), in_doubt(READ | WRITE), WEIGHT(2 * i + 1),
			in_doubt(READ));
		if (shape.residual)
			use(4, ACT(500), in_doubt(READ | WRITE), activation(i + 1), in_doubt(READ));
	}
	leave();
}

static void shape_backward(void)
{
	enter(2);
	for (unsigned i = shape.layers; i-- > 0;) {
		use(1, GRAD(2 * i), in_doubt(READ | WRITE), activation(i), in_doubt(READ));
		use(2, GRAD(2 * i + 1), in_doubt(READ | WRITE), WEIGHT(2 * i), in_doubt(READ));
		use(3, ACT(600 + i % 2), in_doubt(WRITE), WEIGHT(2 * i), in_doubt(READ));
	}
	leave();
}

static void shape_update(void)
{
	for (unsigned i = 0; i < 2 * shape.layers; i++) {
		if (shape.helpers)
			enter(3);
		if (shape.momentum)
			use(4, ACT(1000 + i), in_doubt(READ | WRITE), GRAD(i), in_doubt(READ));
		use(5, WEIGHT(i), in_doubt(READ | WRITE), GRAD(i), in_doubt(READ));
		if (shape.helpers)
			leave();
	}
	for (unsigned i = 0; i < 2 * shape.layers; i++)
		use(7, GRAD(i), WRITE, 0, 0);
}

static void shape_batch(unsigned batch)
{
	if (!shape.resident)
		use(1, INPUT, WRITE, 0, 0);
	if (shape.residual)
		use(2, ACT(500), WRITE, 0, 0);
	shape_forward(batch);
	shape_backward();
}

static unsigned run_shape(void)
{
	unsigned steps = 0;

	begin();
	for (unsigned epoch = 0; steps < 120; epoch++) {
		if (!shape.inlined)
			enter(8);
		for (unsigned i = 0; i < shape.epoch; i++, steps++) {
			for (unsigned micro = 0; micro < shape.micro; micro++)
				shape_batch(steps * shape.micro + micro);
			shape_update();
		}
		if (!shape.inlined)
			leave();
		enter(9);
		for (unsigned i = 0; i < shape.evaluation; i++) {
			if (!shape.resident)
				use(1, INPUT, WRITE, 0, 0);
			if (shape.residual)
				use(2, ACT(500), WRITE, 0, 0);
			shape_forward(100000 + i);
			use(3, activation(shape.layers), READ, 0, 0);
		}
		leave();
	}
	return steps;
}

static unsigned pick(uint64_t *seed, unsigned below)
{
	*seed = *seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
	return (unsigned)(*seed >> 40) % below;
}

/* A step is late where most of what a step touches is new to it: its input. */
static void test_shapes(void)
{
	for (uint64_t n = 0; n < SHAPES; n++) {
		uint64_t seed = n << 32;

		shape = (struct shape){.layers = 2 + 11 * pick(&seed, 3) + pick(&seed, 6),
			.micro = pick(&seed, 2) ? 1 : 2 + pick(&seed, 7),
			.epoch = 20 + pick(&seed, 100),
			.evaluation = pick(&seed, 20),
			.sequence = 20 * pick(&seed, 2),
			.own = pick(&seed, 2),
			.constant = pick(&seed, 2),
			.helpers = pick(&seed, 2),
			.residual = pick(&seed, 2),
			.shared = pick(&seed, 2),
			.momentum = pick(&seed, 2),
			.inlined = pick(&seed, 2),
			.resident = pick(&seed, 2)};
		/* Nothing tells a state that is carried through many times from weights, then. */
		if (shape.own && !shape.constant && shape.sequence > 0)
			shape.sequence = 4;
		const unsigned steps = run_shape(), late = shape.resident ? 64 : 24;

		if (!TEST_IN(run.opened, steps - late, steps - 1))
			printf("  in: %u layers, %u micro-batches, epochs of %u, evaluations of "
			       "%u, "
			       "sequences of %u%s%s%s%s%s%s%s%s\n",
				shape.layers, shape.micro, shape.epoch, shape.evaluation,
				shape.sequence, shape.own ? ", own" : "",
				shape.constant ? ", constant" : "",
				shape.helpers ? ", helpers" : "",
				shape.residual ? ", residual" : "", shape.shared ? ", shared" : "",
				shape.momentum ? ", momentum" : "",
				shape.inlined ? ", inlined" : "",
				shape.resident ? ", resident" : "");
	}
}

int main(void)
{
	test_plain();
	test_epochs();
	test_inlined_epochs();
	test_micro_batches();
	test_conditions();
	test_layers();
	test_own_kernels();
	test_own_functions();
	test_double_buffer();
	test_inference();
	test_shapes();
	free(run.loops);
	return test_result();
}
