/* SPDX-License-Identifier: MIT */
#include "loader.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "check.h"
#include "rng.h"

/* One image on its way. */
struct task {
	struct loader_slot *slot;
	unsigned place; /* in the batch */
	unsigned image;
	uint64_t seed;
};

/* The next image of the order; a new order when it is used up. */
static unsigned draw_image(struct loader *loader)
{
	unsigned at, image;

	if (!loader->left)
		loader->left = loader->set->count;
	at = rng_below(&loader->rng, loader->left--);
	image = loader->order[at];
	loader->order[at] = loader->order[loader->left];
	loader->order[loader->left] = image;
	return image;
}

/* Waits for something to do; false when it is over. */
static bool take_task(struct loader *loader, struct task *out_task)
{
	bool over;

	pthread_mutex_lock(&loader->lock);
	while (!loader->over && loader->begun >= loader->given + loader->slot_count)
		pthread_cond_wait(&loader->changed, &loader->lock);
	over = loader->over;
	if (!over) {
		out_task->slot = &loader->slots[loader->begun % loader->slot_count];
		out_task->place = loader->next++;
		out_task->image = draw_image(loader);
		out_task->seed =
			loader->seed + (uint64_t)loader->begun * loader->batch + out_task->place;
		if (loader->next == loader->batch) {
			loader->next = 0;
			loader->begun++;
		}
	}
	pthread_mutex_unlock(&loader->lock);
	return !over;
}

static void *work(void *argument)
{
	struct loader *loader = argument;
	const struct timespec disk = {.tv_nsec = loader->disk_ns};
	struct task task;

	while (take_task(loader, &task)) {
		float *row = task.slot->onehot + task.place * loader->row;
		struct image_cut cut = {.x = rng_below(&task.seed, IMAGE_SHIFTS)};

		if (loader->disk_ns)
			nanosleep(&disk, NULL);
		cut.y = rng_below(&task.seed, IMAGE_SHIFTS);
		cut.flip = rng_below(&task.seed, 2);
		images_cut(loader->set, task.image, cut,
			task.slot->images + task.place * IMAGE_FLOATS);
		memset(row, 0, loader->row * sizeof(*row));
		row[loader->set->labels[task.image]] = 1;
		pthread_mutex_lock(&loader->lock);
		if (++task.slot->filled == loader->batch)
			pthread_cond_broadcast(&loader->changed);
		pthread_mutex_unlock(&loader->lock);
	}
	return NULL;
}

void loader_start(struct loader *loader, unsigned threads)
{
	loader->order = malloc(loader->set->count * sizeof(*loader->order));
	if (!loader->order)
		fail("no memory for the order of the images");
	for (unsigned i = 0; i < loader->set->count; i++)
		loader->order[i] = i;
	loader->rng = loader->seed;
	pthread_mutex_init(&loader->lock, NULL);
	pthread_cond_init(&loader->changed, NULL);
	for (; loader->thread_count < threads; loader->thread_count++)
		if (pthread_create(&loader->threads[loader->thread_count], NULL, work, loader))
			fail("no thread for the images");
}

void loader_stop(struct loader *loader)
{
	pthread_mutex_lock(&loader->lock);
	loader->over = true;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
	for (unsigned i = 0; i < loader->thread_count; i++)
		pthread_join(loader->threads[i], NULL);
	pthread_cond_destroy(&loader->changed);
	pthread_mutex_destroy(&loader->lock);
	free(loader->order);
}

struct loader_slot *loader_take(struct loader *loader, unsigned n)
{
	struct loader_slot *slot = &loader->slots[n % loader->slot_count];

	pthread_mutex_lock(&loader->lock);
	while (slot->filled < loader->batch)
		pthread_cond_wait(&loader->changed, &loader->lock);
	pthread_mutex_unlock(&loader->lock);
	return slot;
}

void loader_give(struct loader *loader)
{
	pthread_mutex_lock(&loader->lock);
	loader->slots[loader->given++ % loader->slot_count].filled = 0;
	pthread_cond_broadcast(&loader->changed);
	pthread_mutex_unlock(&loader->lock);
}
