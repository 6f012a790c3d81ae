/* SPDX-License-Identifier: MIT */
/* The program of driver_client_early.c. Which of its functions runs is chosen by a lookup while the
 * loader binds it, before any constructor. */
#include <dlfcn.h>
#include <stdio.h>

extern int early_status;

static int chosen(void)
{
	return 0;
}

static int other(void)
{
	return 2;
}

/* Named by the attribute below only. */
__attribute__((used)) static int (*choose(void))(void)
{
	return dlsym(RTLD_DEFAULT, "early_status") ? chosen : other;
}

int when_bound(void) __attribute__((ifunc("choose")));

int main(void)
{
	printf("constructor: %d, when bound: %d\n", early_status, when_bound());
	return early_status != 0 || when_bound() != 0;
}
