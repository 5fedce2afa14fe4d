#define _GNU_SOURCE
#include "CHTTPClient.h"

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
  CURL *easy;
  /// The lines of the request that is prepared or runs.
  struct curl_slist *headers;
  uint8_t *body;
  size_t length, capacity, head_length, max_bytes;
  bool is_running, is_too_large;
  char reason[CURL_ERROR_SIZE];
} slot_state;

struct hc_client {
  CURLM *multi;
  int slot_count;
  slot_state slots[];
};

// MARK: - Answers

// Called by curl within hc_wait; `bytes` live as long as the call. A return of another count ends the transfer.
static size_t receive_body(char *bytes, size_t one, size_t count, void *context) {
  slot_state *slot = context;
  (void)one;
  if (count > slot->max_bytes - slot->length) {
    slot->is_too_large = true;
    return 0;
  }
  if (slot->length + count > slot->capacity) {
    size_t capacity = slot->capacity ? slot->capacity : 1024;
    while (capacity < slot->length + count) capacity *= 2;
    uint8_t *larger = realloc(slot->body, capacity);
    if (!larger) return 0;
    slot->body = larger;
    slot->capacity = capacity;
  }
  memcpy(slot->body + slot->length, bytes, count);
  slot->length += count;
  return count;
}

// As receive_body. The headers are counted only: curl keeps each of them until the request ends.
static size_t receive_head(char *bytes, size_t one, size_t count, void *context) {
  slot_state *slot = context;
  (void)bytes;
  (void)one;
  slot->head_length += count;
  slot->is_too_large = slot->head_length > slot->max_bytes;
  return slot->is_too_large ? 0 : count;
}

static hc_outcome outcome(const slot_state *slot, CURLcode code) {
  long sent = 0;
  curl_easy_getinfo(slot->easy, CURLINFO_REQUEST_SIZE, &sent);
  switch (code) {
  case CURLE_OK: return HC_ANSWERED;
  case CURLE_OPERATION_TIMEDOUT: return HC_TIMED_OUT;
  case CURLE_COULDNT_RESOLVE_HOST: return HC_UNRESOLVED;
  case CURLE_COULDNT_CONNECT: return HC_UNREACHABLE;
  case CURLE_PEER_FAILED_VERIFICATION:
  case CURLE_SSL_CACERT_BADFILE: return HC_UNTRUSTED;
  case CURLE_SSL_CONNECT_ERROR:
  case CURLE_SSL_CIPHER:
  case CURLE_SSL_ENGINE_INITFAILED: return HC_TLS_FAILED;
  case CURLE_URL_MALFORMAT:
  // An answer that is no HTTP has the same code.
  case CURLE_UNSUPPORTED_PROTOCOL: return sent > 0 ? HC_BROKEN : HC_BAD_URL;
  case CURLE_WRITE_ERROR: return slot->is_too_large ? HC_TOO_LARGE : HC_BROKEN;
  default: return HC_BROKEN;
  }
}

// MARK: - Clients

static void initialize(void) {
  curl_global_init(CURL_GLOBAL_DEFAULT);
  struct sigaction action;
  // A handler of the process stays.
  if (sigaction(SIGPIPE, NULL, &action) == 0 && action.sa_handler == SIG_DFL) signal(SIGPIPE, SIG_IGN);
}

static bool prepare(slot_state *slot, const hc_options *options) {
  slot->max_bytes = options->max_answer_bytes;
  CURL *easy = slot->easy = curl_easy_init();
  if (!easy) return false;
  CURLcode failed = CURLE_OK;
  // A configured proxy of the environment is for other programs: the server's settings are its own keys.
  failed |= curl_easy_setopt(easy, CURLOPT_PROXY, "");
  failed |= curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
  // Over HTTP/2 a connection outlives requests that time out, so a dead one fails all that follow.
  failed |= curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, (long)CURL_HTTP_VERSION_1_1);
  failed |= curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
  failed |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 1L);
  failed |= curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 2L);
  failed |= curl_easy_setopt(easy, CURLOPT_SSLVERSION, (long)CURL_SSLVERSION_TLSv1_2);
  if (options->authorities_file) failed |= curl_easy_setopt(easy, CURLOPT_CAINFO, options->authorities_file);
  // No signals for time limits (threads), and no waiting for the thread of a slow name lookup:
  // it ends by itself, later than the request.
  failed |= curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
  failed |= curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
  failed |= curl_easy_setopt(easy, CURLOPT_TCP_KEEPALIVE, 1L);
  failed |= curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->reason);
  failed |= curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, receive_body);
  failed |= curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
  failed |= curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, receive_head);
  failed |= curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
  failed |= curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
  return failed == CURLE_OK;
}

hc_client *hc_client_create(const hc_options *options) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, initialize);
  hc_client *client = calloc(1, sizeof(hc_client) + (size_t)options->slots * sizeof(slot_state));
  if (!client) return NULL;
  client->slot_count = options->slots;
  client->multi = curl_multi_init();
  bool prepared = client->multi && curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)options->slots) == CURLM_OK &&
                  curl_multi_setopt(client->multi, CURLMOPT_MAX_TOTAL_CONNECTIONS, (long)options->slots) == CURLM_OK;
  for (int slot = 0; prepared && slot < options->slots; slot++) prepared = prepare(&client->slots[slot], options);
  if (prepared) return client;
  hc_client_free(client);
  return NULL;
}

void hc_client_free(hc_client *client) {
  for (int slot = 0; slot < client->slot_count; slot++) {
    if (client->slots[slot].is_running) hc_cancel(client, slot);
    curl_easy_cleanup(client->slots[slot].easy);
    curl_slist_free_all(client->slots[slot].headers);
    free(client->slots[slot].body);
  }
  curl_multi_cleanup(client->multi);
  free(client);
}

void hc_enter_thread(int niceness) {
  pthread_setname_np(pthread_self(), "throng-http");
  // Linux has a niceness for each thread. It cannot fail: a process may always give way.
  (void)!nice(niceness);
}

// MARK: - Requests

bool hc_add_header(hc_client *client, int number, const char *line) {
  slot_state *slot = &client->slots[number];
  struct curl_slist *headers = curl_slist_append(slot->headers, line);
  if (headers) slot->headers = headers;
  return headers != NULL;
}

static void finish(hc_client *client, slot_state *slot) {
  curl_multi_remove_handle(client->multi, slot->easy);
  curl_slist_free_all(slot->headers);
  slot->headers = NULL;
  slot->is_running = false;
}

// failed: what has failed so far.
static bool start(hc_client *client, slot_state *slot, const char *url, long timeout, CURLcode failed) {
  slot->length = slot->head_length = 0;
  slot->is_too_large = false;
  slot->reason[0] = 0;
  failed |= curl_easy_setopt(slot->easy, CURLOPT_URL, url);
  failed |= curl_easy_setopt(slot->easy, CURLOPT_HTTPHEADER, slot->headers);
  failed |= curl_easy_setopt(slot->easy, CURLOPT_TIMEOUT_MS, timeout);
  slot->is_running = failed == CURLE_OK && curl_multi_add_handle(client->multi, slot->easy) == CURLM_OK;
  if (!slot->is_running) {
    curl_slist_free_all(slot->headers);
    slot->headers = NULL;
  }
  return slot->is_running;
}

bool hc_start(hc_client *client, int number, const char *url, const uint8_t *body, size_t length, long timeout) {
  slot_state *slot = &client->slots[number];
  // Without the empty line curl asks for leave to send a larger body, and waits for it.
  CURLcode failed = hc_add_header(client, number, "Expect:") ? CURLE_OK : CURLE_OUT_OF_MEMORY;
  failed |= curl_easy_setopt(slot->easy, CURLOPT_POST, 1L);
  failed |= curl_easy_setopt(slot->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)length);
  // Without any bytes curl would ask a callback for them.
  failed |= curl_easy_setopt(slot->easy, CURLOPT_COPYPOSTFIELDS, length ? (const char *)body : "");
  return start(client, slot, url, timeout, failed);
}

bool hc_start_get(hc_client *client, int number, const char *url, long timeout) {
  slot_state *slot = &client->slots[number];
  return start(client, slot, url, timeout, curl_easy_setopt(slot->easy, CURLOPT_HTTPGET, 1L));
}

void hc_cancel(hc_client *client, int number) { finish(client, &client->slots[number]); }

bool hc_wait(hc_client *client, int timeout) {
  int running = 0;
  return curl_multi_poll(client->multi, NULL, 0, timeout, NULL) == CURLM_OK &&
         curl_multi_perform(client->multi, &running) == CURLM_OK;
}

void hc_wakeup(hc_client *client) { curl_multi_wakeup(client->multi); }

bool hc_next_ended(hc_client *client, hc_ended *ended) {
  int left = 0;
  CURLMsg *message = curl_multi_info_read(client->multi, &left);
  while (message && message->msg != CURLMSG_DONE) message = curl_multi_info_read(client->multi, &left);
  if (!message) return false;
  // The message ends with the handle's removal.
  CURLcode code = message->data.result;
  slot_state *slot = NULL;
  long status = 0;
  curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, (char **)&slot);
  curl_easy_getinfo(message->easy_handle, CURLINFO_RESPONSE_CODE, &status);
  finish(client, slot);
  *ended = (hc_ended){
      .slot = (int)(slot - client->slots),
      .outcome = outcome(slot, code),
      .status = (int)status,
      .body = slot->body,
      .body_length = slot->length,
      .reason = code == CURLE_OK ? "" : slot->reason[0] ? slot->reason : curl_easy_strerror(code),
  };
  return true;
}
