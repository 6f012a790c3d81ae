/* SPDX-License-Identifier: MIT */
/* A library that looks like the interpreter of Python 3.MINOR, as far as its version shows. */
#include <stdint.h>

#define SHOWN __attribute__((visibility("default")))

SHOWN uint64_t _PyRuntime[64];
SHOWN uint64_t PyCode_Type[64];
SHOWN int PyModule_AddType(void);
SHOWN int PyModule_AddType(void)
{
	return 39;
}
#if MINOR >= 10
SHOWN int PyModule_AddObjectRef(void);
SHOWN int PyModule_AddObjectRef(void)
{
	return 310;
}
#endif
#if MINOR >= 11
SHOWN const unsigned long Py_Version = (3ul << 8 | MINOR) << 16;
#endif
