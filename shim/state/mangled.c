/* SPDX-License-Identifier: MIT */
#include "shim/state/mangled.h"

#include <stdbool.h>
#include <string.h>

#define SUBSTITUTIONS 64u
#define DEEPEST 32u
#define ARGUMENTS 16u

/* What must be known of a type. */
enum kind { OTHER, CONSTANT, POINTER_TO_CONSTANT };

struct type {
	enum kind kind;
	uint8_t bytes, align; /* of a value; 0 = unknown */
};

#define POINTER_BYTES 8u

struct parser {
	const char *at;
	uint32_t depth;
	uint32_t count; /* of substitutions, which repeat an earlier part of the name */
	struct type substitutions[SUBSTITUTIONS];
	uint32_t argument_count; /* of the template that the function is made from */
	struct type arguments[ARGUMENTS];
};

static const struct type other;

static bool type(struct parser *parser, struct type *out);

static bool add(struct parser *parser, struct type one)
{
	if (parser->count == SUBSTITUTIONS)
		return false;
	parser->substitutions[parser->count++] = one;
	return true;
}

static bool take(struct parser *parser, const char *text)
{
	const size_t length = strlen(text);

	if (strncmp(parser->at, text, length) != 0)
		return false;
	parser->at += length;
	return true;
}

static bool is_digit(char character)
{
	return character >= '0' && character <= '9';
}

/* 4name */
static bool source_name(struct parser *parser)
{
	size_t length = 0;

	while (is_digit(*parser->at) && length < 10000)
		length = 10 * length + (size_t)(*parser->at++ - '0');
	if (length == 0 || length >= 10000 || strnlen(parser->at, length) < length)
		return false;
	parser->at += length;
	return true;
}

/* S_ is the first one, S0_ the second; St is the standard library's namespace. */
static bool substitution(struct parser *parser, struct type *out, bool *out_standard)
{
	uint32_t index = 0;

	*out_standard = false;
	parser->at++;
	if (take(parser, "t")) {
		*out = other;
		*out_standard = true;
		return true;
	}
	if (take(parser, "_")) {
		*out = parser->substitutions[0];
		return parser->count > 0;
	}
	for (; *parser->at != '_'; parser->at++) {
		if (is_digit(*parser->at))
			index = 36 * index + (uint32_t)(*parser->at - '0');
		else if (*parser->at >= 'A' && *parser->at <= 'Z')
			index = 36 * index + (uint32_t)(*parser->at - 'A') + 10;
		else
			return false;
		if (index >= SUBSTITUTIONS)
			return false;
	}
	parser->at++;
	if (index + 1 >= parser->count)
		return false;
	*out = parser->substitutions[index + 1];
	return true;
}

/* Lj4E, Lb1E: a number; other literals are not understood. */
static bool literal(struct parser *parser)
{
	struct type ignored;

	if (!type(parser, &ignored))
		return false;
	take(parser, "n");
	while (is_digit(*parser->at))
		parser->at++;
	return take(parser, "E");
}

/* I...E. Those of the function itself, of which its parameters may be, are kept: the last ones of
 * its name. */
static bool template_arguments(struct parser *parser, bool own)
{
	uint32_t count = 0;

	if (!take(parser, "I"))
		return false;
	if (own)
		parser->argument_count = 0;
	while (!take(parser, "E")) {
		struct type one = other;

		if (take(parser, "L") ? !literal(parser) : !type(parser, &one))
			return false;
		if (own && count < ARGUMENTS)
			parser->arguments[count++] = one;
	}
	if (own)
		parser->argument_count = count;
	return true;
}

/* N...E, behind its N. Every prefix can be repeated, the whole can only where it is a type. */
static bool nested_name(struct parser *parser, bool is_type, bool *out_template)
{
	struct type ignored;
	bool standard = false;

	while (!take(parser, "E")) {
		*out_template = *parser->at == 'I';
		if (*parser->at == 'S') {
			if (!substitution(parser, &ignored, &standard))
				return false;
			continue;
		}
		if (*out_template ? !template_arguments(parser, !is_type)
				  : (take(parser, "L"), !source_name(parser)))
			return false;
		if ((is_type || *parser->at != 'E') && !add(parser, other))
			return false;
	}
	return true;
}

/* The classes of CUDA's headers that kernels take by value. */
static struct type known_class(const char *name)
{
	static const struct {
		const char *name;
		uint8_t bytes, align;
	} classes[] = {{"6__half", 2, 2}, {"13__nv_bfloat16", 2, 2}, {"7__half2", 4, 4},
		{"14__nv_bfloat162", 4, 4}, {"6float2", 8, 8}, {"6float3", 12, 4},
		{"6float4", 16, 16}, {"4int2", 8, 8}, {"4int3", 12, 4}, {"4int4", 16, 16},
		{"5uint2", 8, 8}, {"5uint4", 16, 16}, {"7double2", 16, 16}, {"4dim3", 12, 4}};

	for (size_t i = 0; i < sizeof(classes) / sizeof(*classes); i++)
		if (strncmp(name, classes[i].name, strlen(classes[i].name)) == 0)
			return (struct type){OTHER, classes[i].bytes, classes[i].align};
	return other;
}

/* A class, perhaps made from a template. */
static bool named_type(struct parser *parser, struct type *out)
{
	bool ignored;

	if (take(parser, "N"))
		return nested_name(parser, true, &ignored);
	*out = known_class(parser->at);
	if (!source_name(parser) || !add(parser, *out))
		return false;
	if (*parser->at != 'I')
		return true;
	*out = other;
	return template_arguments(parser, false) && add(parser, other);
}

/* S..., perhaps a template's name with arguments, or a name in std. */
static bool substituted_type(struct parser *parser, struct type *out)
{
	bool standard;

	if (!substitution(parser, out, &standard))
		return false;
	if (standard && (!source_name(parser) || !add(parser, other)))
		return false;
	if (*parser->at != 'I')
		return true;
	*out = other;
	return template_arguments(parser, false) && add(parser, other);
}

/* T_ is the template's first argument, T0_ the second. */
static bool template_parameter(struct parser *parser, struct type *out)
{
	uint32_t index = 0;

	parser->at++;
	if (*parser->at != '_') {
		while (is_digit(*parser->at) && index < ARGUMENTS)
			index = 10 * index + (uint32_t)(*parser->at++ - '0');
		index++;
	}
	if (index < parser->argument_count)
		*out = parser->arguments[index];
	return take(parser, "_") && add(parser, *out);
}

static bool pointer(struct parser *parser, struct type *out)
{
	const bool is_pointer = *parser->at++ == 'P';
	struct type target;

	if (!type(parser, &target))
		return false;
	*out = (struct type){is_pointer && target.kind == CONSTANT ? POINTER_TO_CONSTANT : OTHER,
		POINTER_BYTES, POINTER_BYTES};
	return add(parser, *out);
}

/* Qualifiers come in one order, and are repeated together. */
static bool qualified(struct parser *parser, struct type *out)
{
	bool constant;

	take(parser, "r");
	const bool is_volatile = take(parser, "V");
	constant = take(parser, "K");
	if (!type(parser, out))
		return false;
	out->kind = constant && !is_volatile ? CONSTANT : OTHER;
	return add(parser, *out);
}

/* As Linux has them on 64 bits, on the host and on the device. */
static uint8_t builtin_bytes(char letter)
{
	static const struct {
		const char *letters;
		uint8_t bytes;
	} sizes[] = {{"bcah", 1}, {"st", 2}, {"wijf", 4}, {"lmxyd", 8}, {"no", 16}};

	for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++)
		if (strchr(sizes[i].letters, letter))
			return sizes[i].bytes;
	return 0;
}

static bool one_type(struct parser *parser, struct type *out)
{
	*out = other;
	if (*parser->at == '\0')
		return false;
	if (strchr("rVK", *parser->at))
		return qualified(parser, out);
	if (strchr("PRO", *parser->at))
		return pointer(parser, out);
	if (strchr("vwbcahstijlmxynofdegz", *parser->at)) {
		out->bytes = out->align = builtin_bytes(*parser->at++);
		return true;
	}
	if (*parser->at == 'S')
		return substituted_type(parser, out);
	if (*parser->at == 'T')
		return template_parameter(parser, out);
	return (*parser->at == 'N' || is_digit(*parser->at)) && named_type(parser, out);
}

static bool type(struct parser *parser, struct type *out)
{
	if (parser->depth == DEEPEST)
		return false;
	parser->depth++;
	const bool understood = one_type(parser, out);
	parser->depth--;
	return understood;
}

/* The function's own name; says whether it is made from a template, as the type of what it returns
 * then comes before its parameters. */
static bool function_name(struct parser *parser, bool *out_template)
{
	*out_template = false;
	if (take(parser, "N"))
		return nested_name(parser, false, out_template);
	take(parser, "L");
	if (!source_name(parser))
		return false;
	*out_template = *parser->at == 'I';
	return !*out_template || (add(parser, other) && template_arguments(parser, true));
}

/* Up to the first parameter. */
static bool begin(struct parser *parser, const char *name)
{
	struct type returned;
	bool is_template;

	parser->at = name;
	return take(parser, "_Z") && function_name(parser, &is_template) &&
	       (!is_template || type(parser, &returned));
}

static bool ended(const struct parser *parser)
{
	return *parser->at == '\0' || *parser->at == '.';
}

uint32_t tfs_mangled_constant(const char *name)
{
	struct parser parser = {0};
	uint32_t constant = 0;
	struct type one;

	if (!begin(&parser, name))
		return 0;
	for (uint32_t i = 0; !ended(&parser); i++) {
		if (!type(&parser, &one))
			return 0;
		if (i < 32 && one.kind == POINTER_TO_CONSTANT)
			constant |= UINT32_C(1) << i;
	}
	return constant;
}

uint32_t tfs_mangled_layout(
	const char *name, uint32_t room, uint16_t *out_bytes, uint16_t *out_offsets)
{
	struct parser parser = {0};
	uint32_t count = 0;
	uint32_t offset = 0;
	struct type one;

	if (!begin(&parser, name) || strcmp(parser.at, "v") == 0)
		return 0;
	for (; count < room && !ended(&parser) && type(&parser, &one); count++) {
		if (one.bytes == 0)
			offset = TFS_MANGLED_NOWHERE;
		if (offset != TFS_MANGLED_NOWHERE)
			offset = (offset + one.align - 1) / one.align * one.align;
		out_bytes[count] = one.bytes;
		out_offsets[count] = (uint16_t)offset;
		if (offset != TFS_MANGLED_NOWHERE)
			offset += one.bytes;
	}
	return count;
}
