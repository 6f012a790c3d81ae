/* SPDX-License-Identifier: MIT */
/*
 * The LeNet trainers' mathematics in plain loops, without any library: what their weights are
 * compared with after a few steps. Slow, and meant to be read against lenet_naive.c.
 */

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lenet.h"
#include "rng.h"

/* One tensor of values and its gradient; images or maps of side by side. */
struct layer {
	unsigned maps, side;
	float *value, *grad;
};

struct reference {
	unsigned batch;
	bool average;
	struct layer image, conv1, pool1, conv2, pool2, hidden, logits;
	float *weight[PARAMETERS], *grad[PARAMETERS];
};

static const struct {
	unsigned count, inputs;
} shapes[PARAMETERS] = {
	{CONV1_MAPS * 25, 25},
	{CONV1_MAPS, 0},
	{CONV2_MAPS * CONV1_MAPS * 25, CONV1_MAPS * 25},
	{CONV2_MAPS, 0},
	{HIDDEN * FLAT, FLAT},
	{HIDDEN, 0},
	{MNIST_CLASSES * HIDDEN, HIDDEN},
	{MNIST_CLASSES, 0},
};

static void *zeros(size_t count)
{
	void *memory = calloc(count, sizeof(float));

	if (!memory) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	return memory;
}

static struct layer layer(unsigned batch, unsigned maps, unsigned side)
{
	size_t count = (size_t)batch * maps * side * side;

	return (struct layer){maps, side, zeros(count), zeros(count)};
}

/* Where a value of one image, map, row and column lies. */
static size_t at(const struct layer *l, size_t image, size_t map, size_t row, size_t column)
{
	return ((image * l->maps + map) * l->side + row) * l->side + column;
}

/*
 * Every pair of an input and an output that a weight of a convolution joins, one after the other.
 * A dense layer is one whose kernel is as large as its input.
 */
struct pair {
	size_t image, in_map, out_map, row, column, i, j;
	size_t in, out, weight;
};

static bool next_pair(
	const struct layer *in, const struct layer *out, unsigned batch, struct pair *p)
{
	unsigned kernel = in->side - out->side + 1;

	if (p->out == (size_t)-1)
		memset(p, 0, sizeof(*p));
	else if (++p->j == kernel && (p->j = 0, ++p->i) == kernel &&
		 (p->i = 0, ++p->in_map) == in->maps && (p->in_map = 0, ++p->column) == out->side &&
		 (p->column = 0, ++p->row) == out->side &&
		 (p->row = 0, ++p->out_map) == out->maps && (p->out_map = 0, ++p->image) == batch)
		return false;
	p->in = at(in, p->image, p->in_map, p->row + p->i, p->column + p->j);
	p->out = at(out, p->image, p->out_map, p->row, p->column);
	p->weight = ((p->out_map * in->maps + p->in_map) * kernel + p->i) * kernel + p->j;
	return true;
}

static void convolve(
	struct reference *r, const struct layer *in, struct layer *out, unsigned w, bool relu)
{
	size_t area = out->side * out->side, count = r->batch * out->maps * area;
	struct pair p = {.out = (size_t)-1};

	for (size_t i = 0; i < count; i++)
		out->value[i] = r->weight[w + 1][i / area % out->maps];
	while (next_pair(in, out, r->batch, &p))
		out->value[p.out] += r->weight[w][p.weight] * in->value[p.in];
	for (size_t i = 0; i < count && relu; i++)
		out->value[i] = out->value[i] > 0 ? out->value[i] : 0;
}

static void convolve_back(
	struct reference *r, struct layer *in, struct layer *out, unsigned w, bool relu)
{
	size_t area = out->side * out->side, count = r->batch * out->maps * area;
	struct pair p = {.out = (size_t)-1};

	for (size_t i = 0; i < count && relu; i++)
		out->grad[i] = out->value[i] > 0 ? out->grad[i] : 0;
	memset(in->grad, 0, sizeof(float) * r->batch * in->maps * in->side * in->side);
	memset(r->grad[w], 0, sizeof(float) * shapes[w].count);
	memset(r->grad[w + 1], 0, sizeof(float) * shapes[w + 1].count);
	for (size_t i = 0; i < count; i++)
		r->grad[w + 1][i / area % out->maps] += out->grad[i];
	while (next_pair(in, out, r->batch, &p)) {
		r->grad[w][p.weight] += in->value[p.in] * out->grad[p.out];
		in->grad[p.in] += r->weight[w][p.weight] * out->grad[p.out];
	}
}

/* The four inputs of a pooled value. */
static void window(const struct layer *in, const struct layer *out, size_t o, size_t four[4])
{
	size_t column = o % out->side, row = o / out->side % out->side;
	size_t first = at(in, 0, o / out->side / out->side, 2 * row, 2 * column);

	four[0] = first;
	four[1] = first + 1;
	four[2] = first + in->side;
	four[3] = first + in->side + 1;
}

static void pool(const struct reference *r, const struct layer *in, struct layer *out)
{
	for (size_t o = 0; o < (size_t)r->batch * out->maps * out->side * out->side; o++) {
		const float *x = in->value;
		size_t w[4];

		window(in, out, o, w);
		out->value[o] = r->average
					? (x[w[0]] + x[w[1]] + x[w[2]] + x[w[3]]) / 4
					: fmaxf(fmaxf(x[w[0]], x[w[1]]), fmaxf(x[w[2]], x[w[3]]));
	}
}

static void pool_back(const struct reference *r, struct layer *in, const struct layer *out)
{
	memset(in->grad, 0, sizeof(float) * r->batch * in->maps * in->side * in->side);
	for (size_t o = 0; o < (size_t)r->batch * out->maps * out->side * out->side; o++) {
		size_t w[4], best = 0;

		window(in, out, o, w);
		while (in->value[w[best]] < out->value[o] && best < 3)
			best++;
		for (unsigned i = 0; i < 4 && r->average; i++)
			in->grad[w[i]] = out->grad[o] / 4;
		if (!r->average)
			in->grad[w[best]] = out->grad[o];
	}
}

/* Log softmax, mean loss and its gradient. */
static float softmax(struct reference *r, const float *onehot)
{
	float loss = 0;

	for (unsigned row = 0; row < r->batch; row++) {
		const float *x = r->logits.value + row * MNIST_CLASSES;
		const float *right = onehot + row * MNIST_CLASSES;
		float *d = r->logits.grad + row * MNIST_CLASSES, largest = x[0], sum = 0;

		for (unsigned i = 1; i < MNIST_CLASSES; i++)
			largest = fmaxf(largest, x[i]);
		for (unsigned i = 0; i < MNIST_CLASSES; i++)
			sum += expf(x[i] - largest);
		for (unsigned i = 0; i < MNIST_CLASSES; i++) {
			float log_prob = x[i] - largest - logf(sum);

			loss -= right[i] * log_prob / (float)r->batch;
			d[i] = (expf(log_prob) - right[i]) / (float)r->batch;
		}
	}
	return loss;
}

static float train_step(struct reference *r, const float *onehot, float rate)
{
	struct layer flat = {FLAT, 1, r->pool2.value, r->pool2.grad};
	float loss;

	convolve(r, &r->image, &r->conv1, CONV1_W, true);
	pool(r, &r->conv1, &r->pool1);
	convolve(r, &r->pool1, &r->conv2, CONV2_W, true);
	pool(r, &r->conv2, &r->pool2);
	convolve(r, &flat, &r->hidden, DENSE1_W, true);
	convolve(r, &r->hidden, &r->logits, DENSE2_W, false);
	loss = softmax(r, onehot);
	convolve_back(r, &r->hidden, &r->logits, DENSE2_W, false);
	convolve_back(r, &flat, &r->hidden, DENSE1_W, true);
	pool_back(r, &r->conv2, &r->pool2);
	convolve_back(r, &r->pool1, &r->conv2, CONV2_W, true);
	pool_back(r, &r->conv1, &r->pool1);
	convolve_back(r, &r->image, &r->conv1, CONV1_W, true);
	for (unsigned i = 0; i < PARAMETERS; i++)
		for (unsigned j = 0; j < shapes[i].count; j++)
			r->weight[i][j] -= rate * r->grad[i][j];
	return loss;
}

static void init(struct reference *r, const struct options *options)
{
	uint64_t seed = options->seed;
	unsigned batch = options->batch;

	r->batch = batch;
	r->average = options->deterministic;
	r->image = layer(batch, 1, MNIST_SIDE);
	r->conv1 = layer(batch, CONV1_MAPS, CONV1_SIDE);
	r->pool1 = layer(batch, CONV1_MAPS, POOL1_SIDE);
	r->conv2 = layer(batch, CONV2_MAPS, CONV2_SIDE);
	r->pool2 = layer(batch, CONV2_MAPS, POOL2_SIDE);
	r->hidden = layer(batch, HIDDEN, 1);
	r->logits = layer(batch, MNIST_CLASSES, 1);
	for (unsigned i = 0; i < PARAMETERS; i++) {
		float limit = shapes[i].inputs ? sqrtf(6.0f / (float)shapes[i].inputs) : 0;

		r->weight[i] = zeros(shapes[i].count);
		r->grad[i] = zeros(shapes[i].count);
		for (unsigned j = 0; j < shapes[i].count; j++)
			r->weight[i][j] = rng_uniform(&seed, -limit, limit);
	}
}

static int dump(const struct reference *r, const char *path)
{
	FILE *file = fopen(path, "wb");
	bool bad = !file;

	for (unsigned i = 0; i < PARAMETERS && !bad; i++)
		bad = fwrite(r->weight[i], sizeof(float), shapes[i].count, file) != shapes[i].count;
	if (file && fclose(file))
		bad = true;
	if (bad)
		fprintf(stderr, "%s: not written\n", path);
	return bad;
}

int main(int argc, char **argv)
{
	struct options options;
	struct reference r;
	struct mnist training;
	char error[4400];
	unsigned *order;
	float *onehot;
	uint64_t rng;

	options_parse(argc, argv, &options);
	if (mnist_load(options.data, "train", error, sizeof(error), &training)) {
		fprintf(stderr, "%s\n", error);
		return 1;
	}
	if (options.steps == 0 || options.steps > training.count / options.batch) {
		fprintf(stderr, "it does --steps of the first epoch only\n");
		return 2;
	}
	init(&r, &options);
	order = zeros(training.count);
	onehot = zeros(options.batch * (size_t)MNIST_CLASSES);
	rng = options.seed + 1;
	mnist_shuffle(&rng, training.count, order);
	for (unsigned step = 0; step < options.steps; step++) {
		mnist_batch(&training, order + step * options.batch, options.batch, r.image.value,
			onehot);
		printf("step %u loss %.6f\n", step + 1,
			train_step(&r, onehot, options_rate(&options, 0)));
	}
	return options.dump ? dump(&r, options.dump) : 0;
}
