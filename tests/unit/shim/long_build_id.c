/* SPDX-License-Identifier: MIT */
/* A library whose build id is longer than any that a linker makes. */
int long_build_id(void);

int long_build_id(void)
{
	return 1;
}
