/* SPDX-License-Identifier: MIT */
#include "shim/state/mangled.h"

#include <stdbool.h>
#include <string.h>

#define SUBSTITUTIONS 64u
#define DEEPEST 32u

/* What must be known of a type. */
enum kind { OTHER, CONSTANT, POINTER_TO_CONSTANT };

struct parser {
	const char *at;
	uint32_t depth;
	uint32_t count; /* of substitutions, which repeat an earlier part of the name */
	enum kind substitutions[SUBSTITUTIONS];
};

static bool type(struct parser *parser, enum kind *out);

static bool add(struct parser *parser, enum kind kind)
{
	if (parser->count == SUBSTITUTIONS)
		return false;
	parser->substitutions[parser->count++] = kind;
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
static bool substitution(struct parser *parser, enum kind *out, bool *out_standard)
{
	uint32_t index = 0;

	*out_standard = false;
	parser->at++;
	if (take(parser, "t")) {
		*out = OTHER;
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
	enum kind ignored;

	if (!type(parser, &ignored))
		return false;
	take(parser, "n");
	while (is_digit(*parser->at))
		parser->at++;
	return take(parser, "E");
}

/* I...E */
static bool template_arguments(struct parser *parser)
{
	enum kind ignored;

	if (!take(parser, "I"))
		return false;
	while (!take(parser, "E")) {
		if (take(parser, "L")) {
			if (!literal(parser))
				return false;
		} else if (!type(parser, &ignored)) {
			return false;
		}
	}
	return true;
}

/* N...E, behind its N. Every prefix can be repeated, the whole can only where it is a type. */
static bool nested_name(struct parser *parser, bool is_type, bool *out_template)
{
	enum kind ignored;
	bool standard = false;

	while (!take(parser, "E")) {
		*out_template = *parser->at == 'I';
		if (*parser->at == 'S') {
			if (!substitution(parser, &ignored, &standard))
				return false;
			continue;
		}
		if (*out_template ? !template_arguments(parser)
				  : (take(parser, "L"), !source_name(parser)))
			return false;
		if ((is_type || *parser->at != 'E') && !add(parser, OTHER))
			return false;
	}
	return true;
}

/* A class, perhaps made from a template. */
static bool named_type(struct parser *parser)
{
	bool ignored;

	if (take(parser, "N"))
		return nested_name(parser, true, &ignored);
	if (!source_name(parser) || !add(parser, OTHER))
		return false;
	return *parser->at != 'I' || (template_arguments(parser) && add(parser, OTHER));
}

/* S..., perhaps a template's name with arguments, or a name in std. */
static bool substituted_type(struct parser *parser, enum kind *out)
{
	bool standard;

	if (!substitution(parser, out, &standard))
		return false;
	if (standard && (!source_name(parser) || !add(parser, OTHER)))
		return false;
	if (*parser->at != 'I')
		return true;
	*out = OTHER;
	return template_arguments(parser) && add(parser, OTHER);
}

/* T_, T0_: a template's parameter; the argument may be anything. */
static bool template_parameter(struct parser *parser)
{
	parser->at++;
	while (is_digit(*parser->at))
		parser->at++;
	return take(parser, "_") && add(parser, OTHER);
}

static bool pointer(struct parser *parser, enum kind *out)
{
	const bool is_pointer = *parser->at++ == 'P';
	enum kind target;

	if (!type(parser, &target))
		return false;
	*out = is_pointer && target == CONSTANT ? POINTER_TO_CONSTANT : OTHER;
	return add(parser, *out);
}

/* Qualifiers come in one order, and are repeated together. */
static bool qualified(struct parser *parser, enum kind *out)
{
	enum kind inner;
	bool constant;

	take(parser, "r");
	const bool is_volatile = take(parser, "V");
	constant = take(parser, "K");
	if (!type(parser, &inner))
		return false;
	*out = constant && !is_volatile ? CONSTANT : OTHER;
	return add(parser, *out);
}

static bool one_type(struct parser *parser, enum kind *out)
{
	*out = OTHER;
	if (*parser->at == '\0')
		return false;
	if (strchr("rVK", *parser->at))
		return qualified(parser, out);
	if (strchr("PRO", *parser->at))
		return pointer(parser, out);
	if (strchr("vwbcahstijlmxynofdegz", *parser->at)) {
		parser->at++;
		return true;
	}
	if (*parser->at == 'S')
		return substituted_type(parser, out);
	if (*parser->at == 'T')
		return template_parameter(parser);
	return (*parser->at == 'N' || is_digit(*parser->at)) && named_type(parser);
}

static bool type(struct parser *parser, enum kind *out)
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
	return !*out_template || (add(parser, OTHER) && template_arguments(parser));
}

uint32_t tfs_mangled_constant(const char *name)
{
	struct parser parser = {.at = name};
	uint32_t constant = 0;
	enum kind kind;
	bool is_template;

	if (!take(&parser, "_Z") || !function_name(&parser, &is_template) ||
		(is_template && !type(&parser, &kind)))
		return 0;
	for (uint32_t i = 0; *parser.at != '\0' && *parser.at != '.'; i++) {
		if (!type(&parser, &kind))
			return 0;
		if (i < 32 && kind == POINTER_TO_CONSTANT)
			constant |= UINT32_C(1) << i;
	}
	return constant;
}
