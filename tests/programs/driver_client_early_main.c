/* SPDX-License-Identifier: MIT */
/* The program of driver_client_early.c. */
#include <stdio.h>

extern int early_status;

int main(void)
{
	printf("constructor: %d\n", early_status);
	return early_status != 0;
}
