#include "upgrade.h"

#include "refusal.h"

#include <libwebsockets.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

// The longest offer of subprotocols that the library can read, and the longest name in it. It copies
// the extensions in front of its answer, where a longer field would not fit.
enum { OFFER_MAX = 126, EXTENSIONS_MAX = 380, NAME_MAX_OFFERED = 62, KEY_MAX = 127 };

static int refuse(struct lws *wsi, int status, const char *reason) {
  char response[REFUSAL_MAX];
  size_t count = refusal_text(response, status, reason);
  lws_write(wsi, (unsigned char *)response, count, LWS_WRITE_HTTP_HEADERS);
  return -1;
}

// The next name of a comma-separated list; moves *at behind it.
static ct_text next_name(const char **at, const char *end) {
  while (*at < end && (**at == ' ' || **at == '\t' || **at == ',')) ++*at;
  ct_text name = {.bytes = *at};
  while (*at < end && **at != ' ' && **at != '\t' && **at != ',') ++*at;
  name.count = (size_t)(*at - name.bytes);
  return name;
}

static bool is_offer_too_long(struct lws *wsi) {
  char offer[OFFER_MAX + 1];
  int count = lws_hdr_total_length(wsi, WSI_TOKEN_PROTOCOL);
  if (!count) return false;
  if (count > OFFER_MAX || lws_hdr_copy(wsi, offer, sizeof offer, WSI_TOKEN_PROTOCOL) < 0) return true;
  const char *at = offer, *end = offer + strlen(offer);
  for (ct_text name; (name = next_name(&at, end)).count;) {
    if (name.count > NAME_MAX_OFFERED) return true;
  }
  return false;
}

// RFC 6455 section 4.2.1 requires these; the library would close without an answer.
static int handshake_fault(struct lws *wsi, const peer *p, const deflate_terms *terms, const char **reason) {
  *reason = HEADERS_TOO_LONG;
  if (head_is_too_long(wsi, p)) return 431;
  *reason = "an upgrade is a GET";
  if (!lws_hdr_total_length(wsi, WSI_TOKEN_GET_URI)) return 405;
  char version[8];
  *reason = "the only version of WebSocket spoken here is 13";
  if (lws_hdr_copy(wsi, version, sizeof version, WSI_TOKEN_VERSION) <= 0 || atoi(version) != 13) return 426;
  int key = lws_hdr_total_length(wsi, WSI_TOKEN_KEY);
  *reason = "an upgrade needs Host and Sec-WebSocket-Key";
  if (!key || key > KEY_MAX || !lws_hdr_total_length(wsi, WSI_TOKEN_HOST)) return 400;
  *reason = "Sec-WebSocket-Extensions is too long";
  int extensions = lws_hdr_total_length(wsi, WSI_TOKEN_EXTENSIONS);
  bool is_read = extensions <= EXTENSIONS_READ || (terms->is_agreed && terms->ends_early);
  if (extensions > EXTENSIONS_MAX || !is_read) return 431;
  *reason = "Sec-WebSocket-Protocol has at most 126 bytes, and a name in it 62";
  return is_offer_too_long(wsi) ? 431 : 0;
}

static bool offers(const ct_text *offer, const char *wanted) {
  const char *at = offer->bytes, *end = at + offer->count;
  for (ct_text name; (name = next_name(&at, end)).count;) {
    if (name.count == strlen(wanted) && !memcmp(name.bytes, wanted, name.count)) return true;
  }
  return false;
}

// The library refuses a client that offers only unknown names. So one protocol has the first name
// offered until it is selected; protocol.c clears the name, which keeps it out of the answer.
static void register_first_name(upgrades *all, const ct_text *offer) {
  const char *at = offer->bytes;
  ct_text name = next_name(&at, at + offer->count);
  snprintf(all->any_protocol, sizeof all->any_protocol, "%.*s", (int)name.count, name.bytes);
}

static deflate_terms terms_of(struct lws *wsi) {
  char field[EXTENSIONS_MAX + 1];
  int count = lws_hdr_copy(wsi, field, sizeof field, WSI_TOKEN_EXTENSIONS);
  return deflate_terms_read(field, count > 0 ? (size_t)count : 0);
}

int upgrade_decide(upgrades *all, struct lws *wsi, const peer *p, char *protocol) {
  // The library has refused an unknown upgrade, and may have freed the header table.
  if (!lws_hdr_total_length(wsi, WSI_TOKEN_UPGRADE)) return -1;
  if (strcasecmp(protocol, "websocket")) {
    protocol[0] = '-';  // h2c: not wanted, so the request is answered as plain HTTP/1.1
    return 0;
  }
  all->any_protocol[0] = '\0';
  deflate_terms *terms = &all->terms;
  *terms = all->options->stream_bytes ? terms_of(wsi) : (deflate_terms){0};
  const ct_callbacks *callbacks = all->callbacks;
  const char *fault;
  int status = handshake_fault(wsi, p, terms, &fault);
  ct_request_head *head = &all->head;
  all->last = wsi;
  if (!head_read(wsi, p, &all->head_text, head)) {
    status = 400;
    fault = HEADERS_MISREAD;
  }
  if (status) {
    callbacks->refused(callbacks->context, head, status, fault, true);
    return refuse(wsi, status, fault);
  }
  char reason[REASON_MAX] = "";
  status = callbacks->upgrade(callbacks->context, head, reason, sizeof reason);
  if (status) return refuse(wsi, status, reason);
  const ct_text *offer = &head->subprotocols;
  if (offer->count && !offers(offer, all->options->subprotocol)) register_first_name(all, offer);
  return 0;
}
