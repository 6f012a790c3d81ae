/* SPDX-License-Identifier: MIT */
#ifndef TFS_SHIM_PYTHON_LAYOUT_H
#define TFS_SHIM_PYTHON_LAYOUT_H

/*
 * Where CPython of each version keeps what a call stack is read from. Offsets are in bytes.
 *
 * Up to 3.12 they are those of the version's headers; from 3.13 on the interpreter states most of
 * them in a table at the start of _PyRuntime. To add a version: a row in layout.c, with the test
 * tests/python run by an interpreter of that version.
 */

#include <stdbool.h>
#include <stdint.h>

enum tfs_python_lines {
	TFS_PYTHON_LNOTAB,    /* 3.9: Objects/lnotab_notes.txt */
	TFS_PYTHON_RANGES,    /* 3.10: PEP 626 */
	TFS_PYTHON_LOCATIONS, /* 3.11 and later: PEP 657 */
};

struct tfs_python_layout {
	uint32_t version; /* major << 8 | minor */
	uint32_t finalizing;
	struct {
		uint16_t id;
		uint16_t frame; /* the innermost frame, or what holds it */
	} thread;
	bool holds;     /* the thread has the address of a struct with the frame's address in it, */
	uint16_t held;  /* here */
	uint16_t owner; /* a frame's; 0 = frames do not say */
	struct {
		uint16_t code;
		uint16_t previous;
		uint16_t instruction;
		uint16_t bytes; /* enough for all of these; worked out */
	} frame;
	uint16_t scale; /* bytes to a frame's instruction number; 0 = it is an address */
	struct {
		uint16_t file;
		uint16_t name;
		uint16_t first_line;
		uint16_t table;
		uint16_t stamp;        /* a number that no other code object had; 0 = none */
		uint16_t instructions; /* 0 = where instructions are numbers */
	} code;
	struct {
		uint16_t state;
		uint16_t ascii;   /* where the text of an ASCII string begins */
		uint16_t compact; /* where that of another begins */
	} text;
	enum tfs_python_lines lines;
};

/* Common to all: PyObject and PyVarObject are part of the stable ABI. */
#define TFS_PYTHON_TYPE 8u
#define TFS_PYTHON_SIZE 16u
#define TFS_PYTHON_FRAME_BYTES 256u /* no version's frame.bytes is more */
#define TFS_PYTHON_BYTES 32u        /* a bytes object's first */

/* That of an interpreter whose Py_Version is `version`, and whose _PyRuntime begins with `bytes` at
 * `runtime`. False where the version is not known, or built in a way that is not. */
bool tfs_python_layout(
	uint32_t version, const void *runtime, uint64_t bytes, struct tfs_python_layout *out);

#endif
