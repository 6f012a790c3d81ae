/* SPDX-License-Identifier: MIT */
/* Takes room for static thread storage: copies of it are loaded until there is none. */
__thread char inject_filler[40] __attribute__((tls_model("initial-exec")));

__attribute__((visibility("default"))) char *inject_filler_address(void);

char *inject_filler_address(void)
{
	return inject_filler;
}
