/* SPDX-License-Identifier: MIT */
#include <math.h>
#include <stdarg.h>
#include <string.h>

#include "reports/formats/html.h"
#include "reports/formats/utf8.h"

void tfs_html_raw(struct tfs_html *html, const char *markup)
{
	fputs(markup, html->out);
}

/* Text, escaped for element content and for quoted attributes; NULL is empty. */
static void put_text(struct tfs_html *html, const char *text)
{
	while (text && *text) {
		uint32_t code;
		unsigned length = tfs_utf8_next(text, &code);
		if (code == '<')
			fputs("&lt;", html->out);
		else if (code == '>')
			fputs("&gt;", html->out);
		else if (code == '&')
			fputs("&amp;", html->out);
		else if (code == '"')
			fputs("&quot;", html->out);
		else if (code == '\'')
			fputs("&#39;", html->out);
		else if (code == TFS_UTF8_BAD || (code < 0x20 && code != '\n' && code != '\t') ||
			 code == 0x7f)
			fputs("\xef\xbf\xbd", html->out);
		else if (tfs_utf8_hides(code))
			fprintf(html->out, "[U+%04X]", (unsigned)code);
		else
			fwrite(text, 1, length, html->out);
		text += length;
	}
}

static void put_number(struct tfs_html *html, double value)
{
	char text[40];
	if (!isfinite(value))
		value = 0;
	snprintf(text, sizeof(text), "%.2f", value);
	char *end = text + strlen(text);
	while (end[-1] == '0')
		*--end = '\0';
	if (end[-1] == '.')
		*--end = '\0';
	fputs(!strcmp(text, "-0") ? "0" : text, html->out);
}

void tfs_html_print(struct tfs_html *html, const char *markup, ...)
{
	va_list arguments;
	va_start(arguments, markup);
	while (*markup) {
		size_t plain = strcspn(markup, "%");
		fwrite(markup, 1, plain, html->out);
		markup += plain;
		if (!*markup)
			break;
		if (markup[1] == 's')
			put_text(html, va_arg(arguments, const char *));
		else if (markup[1] == 'n')
			put_number(html, va_arg(arguments, double));
		else
			fputc('%', html->out);
		markup += markup[1] ? 2 : 1;
	}
	va_end(arguments);
}

void tfs_html_section(
	struct tfs_html *html, const char *anchor, const char *title, const char *lead)
{
	tfs_html_print(html,
		"<section id=\"%s\" aria-labelledby=\"%s-h\"><h2 id=\"%s-h\">%s</h2>\n", anchor,
		anchor, anchor, title);
	if (lead)
		tfs_html_print(html, "<p class=\"lead\">%s</p>\n", lead);
}

void tfs_html_section_end(struct tfs_html *html)
{
	tfs_html_raw(html, "</section>\n");
}
