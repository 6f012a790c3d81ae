/* SPDX-License-Identifier: MIT */
/* A second preloaded library, which wraps malloc as many do: it asks for the next one, and again
 * each time. If that gave the same function back, it would never end. */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

static __thread int depth;

void *malloc(size_t bytes)
{
	void *(*next)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	void *(*again)(size_t) = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
	void *memory;

	if (depth > 4 || !next || next != again || next == malloc) {
		static const char text[] = "malloc: the next one is not found\n";

		if (write(1, text, sizeof(text) - 1) < 0)
			_exit(98);
		_exit(99);
	}
	depth++;
	memory = next(bytes);
	depth--;
	return memory;
}
