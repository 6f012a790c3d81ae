/* SPDX-License-Identifier: MIT */
#include "settings.h"

#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char usage[] =
	"A residual net of 22 layers on images that it makes up by itself\n"
	"  --steps N          end after N steps (default 400)\n"
	"  --warmup N         leave the first N steps out of the time of a step\n"
	"  --passes N         so many passes for one update (default 2)\n"
	"  --threads N        decode images by N threads\n"
	"  --rows             copy each row of a batch by itself\n"
	"  --part NAME        do one thing more in each step: habits, full, attend, pixels, layout,\n"
	"                     anew, memory, disk, saves, graph\n"
	"  --seed N           of the images and of the weights (default 1)\n"
	"  --deterministic    the same bits in every run\n"
	"  --quiet            print results only\n"
	"  --checkpoint FILE  write the weights there every 20 steps\n"
	"  --dump FILE        write the final weights\n";

static const struct option longs[] = {
	{"steps", required_argument, NULL, 'n'},
	{"warmup", required_argument, NULL, 'u'},
	{"passes", required_argument, NULL, 'p'},
	{"threads", required_argument, NULL, 't'},
	{"rows", no_argument, NULL, 'r'},
	{"part", required_argument, NULL, 'a'},
	{"seed", required_argument, NULL, 's'},
	{"deterministic", no_argument, NULL, 'D'},
	{"quiet", no_argument, NULL, 'q'},
	{"checkpoint", required_argument, NULL, 'c'},
	{"dump", required_argument, NULL, 'o'},
	{"help", no_argument, NULL, 'h'},
	{NULL, 0, NULL, 0},
};

static __attribute__((noreturn)) void end(const char *program, int status)
{
	fprintf(status ? stderr : stdout, "usage: %s [options]\n%s", program, usage);
	exit(status);
}

static unsigned number(const char *program, const char *text, unsigned low, unsigned high)
{
	char *rest;
	unsigned long value = strtoul(text, &rest, 10);

	if (*text < '0' || *text > '9' || *rest || value < low || value > high) {
		fprintf(stderr, "%s: '%s' is not a number from %u to %u\n", program, text, low,
			high);
		end(program, 2);
	}
	return (unsigned)value;
}

static enum resnet_part part(const char *program, const char *name)
{
	static const char *const names[RESNET_PARTS] = {[RESNET_HABITS] = "habits",
		[RESNET_FULL] = "full",
		[RESNET_ATTEND] = "attend",
		[RESNET_PIXELS] = "pixels",
		[RESNET_LAYOUT] = "layout",
		[RESNET_ANEW] = "anew",
		[RESNET_MEMORY] = "memory",
		[RESNET_DISK] = "disk",
		[RESNET_SAVES] = "saves",
		[RESNET_GRAPH] = "graph"};

	for (unsigned i = RESNET_PLAIN + 1; i < RESNET_PARTS; i++)
		if (!strcmp(name, names[i]))
			return (enum resnet_part)i;
	fprintf(stderr, "%s: there is no part '%s'\n", program, name);
	end(program, 2);
}

void resnet_settings_parse(int argc, char **argv, struct resnet_settings *out_settings)
{
	struct resnet_settings s = {.steps = 400, .passes = 2, .seed = 1};
	const char *program = argv[0];
	int letter;

	while ((letter = getopt_long(argc, argv, "h", longs, NULL)) != -1) {
		switch (letter) {
		case 'n':
			s.steps = number(program, optarg, 1, INT_MAX);
			break;
		case 'u':
			s.warmup = number(program, optarg, 0, INT_MAX);
			break;
		case 'p':
			s.passes = number(program, optarg, 1, 8);
			break;
		case 't':
			s.threads = number(program, optarg, 1, 64);
			break;
		case 'r':
			s.rows = true;
			break;
		case 'a':
			s.part = part(program, optarg);
			break;
		case 's':
			s.seed = number(program, optarg, 0, UINT_MAX);
			break;
		case 'D':
			s.deterministic = true;
			break;
		case 'q':
			s.quiet = true;
			break;
		case 'c':
			s.checkpoint = optarg;
			break;
		case 'o':
			s.dump = optarg;
			break;
		default:
			end(program, letter == 'h' ? 0 : 2);
		}
	}
	if (optind < argc)
		end(program, 2);
	*out_settings = s;
}
