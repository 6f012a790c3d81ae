/* SPDX-License-Identifier: MIT */
#include "options.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"FOLDER holds MNIST's four files, unpacked (default: digits)\n"
	"  --data FOLDER      the same\n"
	"  --steps N          end after N steps\n"
	"  --warmup N         leave the first N steps out of the time of a step\n"
	"  --epochs N         end after N epochs (default 4; wide 10)\n"
	"  --batch N          images per step (default 64; wide 768)\n"
	"  --seed N           of the weights and of the order of the images (default 1)\n"
	"  --size small|wide  wide: more than 2 MiB of input per step\n"
	"  --deterministic    the same bits in every run\n"
	"  --quiet            print results only\n"
	"  --dump FILE        write the final weights\n";

static const struct option longs[] = {
	{"data", required_argument, NULL, 'd'},
	{"steps", required_argument, NULL, 'n'},
	{"warmup", required_argument, NULL, 'u'},
	{"epochs", required_argument, NULL, 'e'},
	{"batch", required_argument, NULL, 'b'},
	{"seed", required_argument, NULL, 's'},
	{"size", required_argument, NULL, 'w'},
	{"deterministic", no_argument, NULL, 'D'},
	{"quiet", no_argument, NULL, 'q'},
	{"dump", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static __attribute__((noreturn)) void end(const char *program, int status)
{
	fprintf(status ? stderr : stdout, "usage: %s [options] [FOLDER]\n%s", program, usage);
	exit(status);
}

static unsigned number(const char *program, const char *text, unsigned low, unsigned high)
{
	char *rest;
	unsigned long value = strtoul(text, &rest, 10);

	if (*text < '0' || *text > '9' || *rest || value < low || value > high) {
		fprintf(stderr, "%s: '%s' is no number from %u to %u\n", program, text, low, high);
		end(program, 2);
	}
	return (unsigned)value;
}

void options_parse(int argc, char **argv, struct options *out_options)
{
	struct options o = {.data = "digits", .seed = 1};
	const char *program = argv[0];
	int letter;

	while ((letter = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (letter) {
		case 'd':
			o.data = optarg;
			break;
		case 'n':
			o.steps = number(program, optarg, 1, INT_MAX);
			break;
		case 'u':
			o.warmup = number(program, optarg, 0, INT_MAX);
			break;
		case 'e':
			o.epochs = number(program, optarg, 1, INT_MAX);
			break;
		case 'b':
			o.batch = number(program, optarg, 1, 4096);
			break;
		case 's':
			o.seed = number(program, optarg, 0, UINT_MAX);
			break;
		case 'w':
			o.wide = !strcmp(optarg, "wide");
			if (!o.wide && strcmp(optarg, "small"))
				end(program, 2);
			break;
		case 'D':
			o.deterministic = true;
			break;
		case 'q':
			o.quiet = true;
			break;
		case 'o':
			o.dump = optarg;
			break;
		default:
			end(program, letter == 'h' ? 0 : 2);
		}
	}
	if (optind < argc)
		o.data = argv[optind++];
	if (optind < argc)
		end(program, 2);
	if (!o.batch)
		o.batch = o.wide ? 768 : 64;
	if (!o.epochs)
		o.epochs = o.steps ? UINT_MAX : o.wide ? 10 : 4;
	*out_options = o;
}

float options_rate(const struct options *options, unsigned epoch)
{
	bool large = options->batch > 256;
	float rate = large ? 0.15f : 0.1f;

	for (unsigned i = 0; i < epoch && rate > 0.001f; i++)
		rate *= large ? 0.9f : 0.7f;
	return rate;
}
