/* SPDX-License-Identifier: MIT */
/* Where the step opens, and which places belong to it. */
#include <string.h>

#include "shim/steps/loops/loops_log.h"

#define ROUNDS 64u  /* the latest ones that are looked at */
#define LONGER 1.25 /* than the median: an iteration in which something else was done, too */

/* Calls from behind one update up to the next. */
struct round {
	uint32_t first;
	uint32_t end;
};

/* A place in the function of the step's loop. */
struct place {
	uint64_t address;
	uint32_t latest; /* 1 + index of the round in which control last came by */
	uint32_t times;  /* in that round */
	uint32_t once;   /* rounds in which it came by, */
	uint32_t more;   /* and of these, more than once */
};

struct search {
	struct tfs_loops *loops;
	const struct tfs_log_site *own; /* the update's */
	uint32_t level;
	uint64_t round_count; /* all; the latest are kept */
	struct round rounds[ROUNDS];
	uint32_t kept; /* rounds without anything else */
	uint32_t place_count;
	struct place places[TFS_LOOPS_PLACES];
};

static const struct tfs_log_site *site_of(const struct search *search, uint32_t call)
{
	return &search->loops->sites[search->loops->calls[call].site];
}

static bool is_inside(const struct search *search, uint32_t call)
{
	const struct tfs_log_site *site = site_of(search, call);

	return site->depth > search->level && memcmp(site->frames, search->own->frames,
						      search->level * sizeof(site->frames[0])) == 0;
}

/* Rounds in which control never left the function. */
static void find_rounds(struct search *search, const struct tfs_log_pair *pair)
{
	struct round round = {.first = pair->first};
	bool inside = true;

	for (uint32_t call = pair->first; call < pair->last; call++) {
		inside = inside && is_inside(search, call);
		if (!tfs_log_is_update(search->loops, pair, call))
			continue;
		round.end = call + 1;
		if (inside)
			search->rounds[search->round_count++ % ROUNDS] = round;
		round.first = call + 1;
		inside = true;
	}
}

static uint32_t rounds_there(const struct search *search)
{
	return search->round_count < ROUNDS ? (uint32_t)search->round_count : ROUNDS;
}

static uint32_t median_calls(const struct search *search)
{
	const uint32_t count = rounds_there(search);
	uint32_t sorted[ROUNDS];

	for (uint32_t i = 0; i < count; i++) {
		const uint32_t calls = search->rounds[i].end - search->rounds[i].first;
		uint32_t at = i;

		for (; at > 0 && sorted[at - 1] > calls; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = calls;
	}
	return count > 0 ? sorted[count / 2] : 0;
}

static void come_by(struct search *search, uint64_t address)
{
	uint32_t at = 0;

	while (at < search->place_count && search->places[at].address != address)
		at++;
	if (at == TFS_LOOPS_PLACES)
		return;
	if (at == search->place_count)
		search->places[search->place_count++] = (struct place){.address = address};
	struct place *place = &search->places[at];
	if (place->latest != search->kept) {
		place->latest = search->kept;
		place->times = 0;
	}
	place->times++;
	place->once += place->times == 1;
	place->more += place->times == 2;
}

static uint64_t address_of(const struct search *search, uint32_t call)
{
	return site_of(search, call)->frames[search->level];
}

static void take_round(struct search *search, const struct round *round)
{
	search->kept++;
	for (uint32_t call = round->first; call < round->end; call++)
		if (!is_inside(search, call - 1) ||
			address_of(search, call) != address_of(search, call - 1))
			come_by(search, address_of(search, call));
}

static struct place *place_of(struct search *search, uint32_t call)
{
	if (is_inside(search, call))
		for (uint32_t i = 0; i < search->place_count; i++)
			if (search->places[i].address == address_of(search, call))
				return &search->places[i];
	return NULL;
}

/* May it open the step? */
static bool comes_once(const struct search *search, const struct place *place)
{
	return 8 * place->once >= 7 * search->kept && 8 * place->more <= search->kept;
}

/* Where control came into the loop; NULL if it was in there before the log began. */
static const struct place *find_entry(struct search *search)
{
	const uint32_t count = search->loops->call_count;
	uint32_t call = 0;

	if (place_of(search, 0))
		return NULL;
	for (; call < count; call++) {
		const struct place *place = place_of(search, call);

		if (place && comes_once(search, place))
			return place;
	}
	return NULL;
}

/* Most compilers lay most loops out from their lowest address on. */
static const struct place *find_lowest(const struct search *search)
{
	const struct place *first = NULL;

	for (uint32_t i = 0; i < search->place_count; i++) {
		const struct place *place = &search->places[i];

		if (comes_once(search, place) && (!first || place->address < first->address))
			first = place;
	}
	return first;
}

static uint64_t count_arrivals(const struct search *search, uint64_t address)
{
	uint64_t arrivals = 0;
	bool there = false;

	for (uint32_t call = 0; call < search->loops->call_count; call++) {
		const bool now = is_inside(search, call) && address_of(search, call) == address;

		arrivals += now && !there;
		there = now;
	}
	return arrivals;
}

static void fill_in(const struct search *search, const struct place *first)
{
	struct tfs_log_step *step = &search->loops->step;

	*step = (struct tfs_log_step){.level = search->level,
		.anchor = first->address,
		.lowest = first->address,
		.highest = first->address,
		.before = count_arrivals(search, first->address),
		.member_count = search->place_count};
	memcpy(step->prefix, search->own->frames, search->level * sizeof(step->prefix[0]));
	for (uint32_t i = 0; i < search->place_count; i++) {
		const uint64_t address = search->places[i].address;

		step->members[i] = address;
		step->lowest = address < step->lowest ? address : step->lowest;
		step->highest = address > step->highest ? address : step->highest;
	}
}

bool tfs_log_place(struct tfs_loops *loops, const struct tfs_log_pair *pair, uint32_t level)
{
	struct search search = {.loops = loops, .own = &loops->sites[pair->site], .level = level};
	const struct place *first;
	uint32_t usual;

	find_rounds(&search, pair);
	usual = median_calls(&search);
	for (uint32_t i = 0; i < rounds_there(&search); i++)
		if (search.rounds[i].end - search.rounds[i].first <= LONGER * usual)
			take_round(&search, &search.rounds[i]);
	first = find_entry(&search);
	if (!first)
		first = find_lowest(&search);
	if (first)
		fill_in(&search, first);
	return first != NULL;
}
