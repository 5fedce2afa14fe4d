#include "offer.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

// permessage-deflate (RFC 7692) is agreed on here and not by the library, which would take neither a
// parameter with a value nor a second offer. The library only has to let RSV1 pass: it takes an
// extension that does nothing (extension_callback), and its answer gets our parameters.

enum { LEAST_BITS = 8, MOST_BITS = DEFLATE_WINDOW_BITS };

static const char NAME[] = "permessage-deflate";

// The part of a Sec-WebSocket-Extensions field that is not read yet.
typedef struct {
  const char *at, *end;
} field_text;

static void skip_blanks(field_text *f) {
  while (f->at < f->end && (*f->at == ' ' || *f->at == '\t')) f->at++;
}

static bool is_token_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || (c && strchr("!#$%&'*+-.^_`|~", c));
}

static ct_text next_token(field_text *f) {
  skip_blanks(f);
  ct_text token = {.bytes = f->at};
  while (f->at < f->end && is_token_character(*f->at)) f->at++;
  token.count = (size_t)(f->at - token.bytes);
  skip_blanks(f);
  return token;
}

static bool take(field_text *f, char c) {
  skip_blanks(f);
  if (f->at == f->end || *f->at != c) return false;
  f->at++;
  return true;
}

static bool is(const ct_text *text, const char *word) {
  return text->count == strlen(word) && !strncasecmp(text->bytes, word, text->count);
}

// A token, or one in quotation marks (RFC 6455 section 9.1).
static ct_text next_value(field_text *f) {
  bool is_quoted = take(f, '"');
  ct_text value = next_token(f);
  if (is_quoted && !take(f, '"')) value.count = 0;
  return value;
}

// 0: it is no number of bits. RFC 7692 section 7.1.2: decimal, without a leading zero.
static int window_bits(const ct_text *value) {
  int bits = 0;
  if (!value->count || value->count > 2 || value->bytes[0] == '0') return 0;
  for (size_t i = 0; i < value->count; i++) {
    if (value->bytes[i] < '0' || value->bytes[i] > '9') return 0;
    bits = bits * 10 + (value->bytes[i] - '0');
  }
  return bits >= LEAST_BITS && bits <= MOST_BITS ? bits : 0;
}

// Reads the parameters of one offer up to its comma. False: the offer has to be declined.
static bool read_parameters(field_text *f, deflate_terms *terms, bool *has_any) {
  enum { SERVER_TAKEOVER, CLIENT_TAKEOVER, SERVER_BITS, CLIENT_BITS, PARAMETERS };
  static const char *const names[PARAMETERS] = {
    "server_no_context_takeover", "client_no_context_takeover", "server_max_window_bits", "client_max_window_bits"};
  bool is_good = true, seen[PARAMETERS] = {false};
  while (take(f, ';')) {
    *has_any = true;
    ct_text name = next_token(f), value = {0};
    bool has_value = take(f, '=');
    if (has_value) value = next_value(f);
    int bits = has_value ? window_bits(&value) : 0, i = 0;
    while (i < PARAMETERS && !is(&name, names[i])) i++;
    bool is_flag = i == SERVER_TAKEOVER || i == CLIENT_TAKEOVER;
    bool is_valued = has_value ? !is_flag && bits : is_flag || i == CLIENT_BITS;
    if (i == PARAMETERS || seen[i] || !is_valued) {
      is_good = false;
      continue;
    }
    seen[i] = true;
    if (i == SERVER_TAKEOVER) terms->has_no_takeover = true;
    if (i == SERVER_BITS) terms->window_bits = (uint8_t)bits;
  }
  return is_good;
}

// Skips what cannot be read of an offer, to its comma.
static bool skip_rest(field_text *f) {
  bool is_clean = true, is_quoted = false;
  for (; f->at < f->end && (is_quoted || *f->at != ','); f->at++) {
    if (*f->at == '"') is_quoted = !is_quoted;
    is_clean = false;
  }
  return is_clean;
}

// The library fails the upgrade where a name that it has accepted comes again, unless it accepted it
// with parameters and others behind it: then it reads no further.
deflate_terms deflate_terms_read(const char *text, size_t count) {
  deflate_terms agreed = {0};
  int mentions = 0, accept_at = 0;
  bool ends_early = false;
  for (field_text f = {.at = text, .end = text + count}; f.at < f.end;) {
    deflate_terms terms = {.window_bits = MOST_BITS};
    bool has_any = false;
    ct_text name = next_token(&f);
    bool is_deflate = is(&name, NAME), is_good = read_parameters(&f, &terms, &has_any);
    is_good &= skip_rest(&f);
    if (is_deflate) {
      mentions++;
      if (!ends_early) accept_at = mentions;
      ends_early |= has_any && f.at < f.end && f.at - text <= EXTENSIONS_READ;
      if (is_good && !agreed.is_agreed) {
        agreed = terms;
        agreed.is_agreed = true;
      }
    }
    take(&f, ',');
  }
  agreed.accept_at = accept_at;
  agreed.ends_early = ends_early;
  return agreed;
}

bool deflate_keeps_window(const deflate_terms *terms) {
  return terms->is_agreed && !terms->has_no_takeover && terms->window_bits >= MOST_BITS;
}

bool deflate_confirm(deflate_terms *terms, const char *name) {
  return !strcmp(name, NAME) && terms->is_agreed && --terms->accept_at == 0;
}

// The library has written its answer to the extension last, without a parameter.
void deflate_answer(deflate_terms *terms, struct lws_process_html_args *answer) {
  static const char line[] = "Sec-WebSocket-Extensions: permessage-deflate\r\n";
  enum { COUNT = sizeof line - 1, MORE_MAX = 128 };
  char *end = answer->p;
  bool is_accepted = terms->is_agreed && answer->max_len > MORE_MAX && !memcmp(end - COUNT, line, COUNT);
  terms->is_agreed = is_accepted;
  if (!is_accepted) return;
  // Without a window of the client's, its connection needs no memory between two messages.
  int more = snprintf(
    end - 2, MORE_MAX, "; client_no_context_takeover%s", terms->has_no_takeover ? "; server_no_context_takeover" : "");
  if (terms->window_bits < MOST_BITS) {
    more += snprintf(end - 2 + more, MORE_MAX - (size_t)more, "; server_max_window_bits=%d", terms->window_bits);
  }
  more += snprintf(end - 2 + more, MORE_MAX - (size_t)more, "\r\n");
  answer->p = end - 2 + more;
  answer->max_len -= more - 2;
}

// Nothing is done by the library: not for received messages, which inflate.c reads, and not for
// frames, which are written raw.
int extension_callback(
  struct lws_context *context, const struct lws_extension *extension, struct lws *wsi,
  enum lws_extension_callback_reasons reason, void *user, void *in, size_t count
) {
  (void)context, (void)extension, (void)wsi, (void)user, (void)count;
  static const struct lws_ext_options none[] = {{NULL, EXTARG_NONE}};
  if (reason == LWS_EXT_CB_CONSTRUCT && in) *(const struct lws_ext_options **)in = none;
  return 0;
}
