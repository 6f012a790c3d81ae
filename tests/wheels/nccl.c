/* SPDX-License-Identifier: MIT */
/* What NCCL 2.18 and later have, each linked to its own library; see cudart.c. */
#include <stddef.h>
#include <stdio.h>

static void *communicator;
static char id[128];

/* X(name, parameters, arguments) */
#define CALLS(X)                                                                                   \
	X(ncclGetUniqueId, (void *), (id))                                                         \
	X(ncclCommInitAll, (void **, int, const int *), (&communicator, 1, NULL))                  \
	X(ncclGroupStart, (void), ())                                                              \
	X(ncclGroupEnd, (void), ())                                                                \
	X(ncclAllReduce, (const void *, void *, size_t, int, int, void *, void *),                 \
		(NULL, NULL, 0, 7, 0, NULL, NULL))                                                 \
	X(ncclBroadcast, (const void *, void *, size_t, int, int, void *, void *),                 \
		(NULL, NULL, 0, 7, 0, NULL, NULL))                                                 \
	X(ncclCommDestroy, (void *), (NULL))

#define X(name, parameters, arguments) extern int name parameters;
CALLS(X)
#undef X

int main(void)
{
#define X(name, parameters, arguments) printf("%s %d\n", #name, name arguments);
	CALLS(X)
#undef X
	return 0;
}
