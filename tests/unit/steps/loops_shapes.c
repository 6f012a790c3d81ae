/* SPDX-License-Identifier: MIT */
/*
 * The search for the training step, on trainers of all shapes: loops_shapes [all]: a thousand of
 * them, or each fourth.
 */
#include "tests/unit/steps/made_up_program.h"

#define SHAPES 1000u

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
static void test_shapes(unsigned apart)
{
	for (uint64_t n = 0; n < SHAPES; n += apart) {
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
			printf("  in: %u layers, %u micro-batches, epochs of %u, evaluations of %u, "
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

int main(int count, char **words)
{
	test_shapes(count > 1 && strcmp(words[1], "all") == 0 ? 1 : 4);
	free(run.loops);
	return test_result();
}
