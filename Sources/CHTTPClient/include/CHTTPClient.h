// POST and GET requests over libcurl's multi interface. curl's headers stay inside CHTTPClient.c.
//
// Threads: one at a time per client; `hc_wakeup` may be called by any. No call but `hc_wait` blocks.
// Lifetime: what is given to a call is copied; what a call gives says how long it lives.
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/// Several slots, each for one request at a time, that share connections.
typedef struct hc_client hc_client;

/// How a request ended.
typedef enum {
  /// A whole answer came, of any status.
  HC_ANSWERED,
  /// The time was up.
  HC_TIMED_OUT,
  /// The host has no address, or none in time for the resolver.
  HC_UNRESOLVED,
  /// No connection: refused, or no way to the host.
  HC_UNREACHABLE,
  /// The certificate is not accepted, or the authorities cannot be read.
  HC_UNTRUSTED,
  /// TLS failed otherwise.
  HC_TLS_FAILED,
  /// The answer's body or its headers are over the limit.
  HC_TOO_LARGE,
  /// The URL is none of http or https.
  HC_BAD_URL,
  /// The connection broke, or the answer is no HTTP.
  HC_BROKEN,
} hc_outcome;

/// The settings of a client.
typedef struct {
  /// How many requests run at once, and how many connections there are at most.
  int slots;
  /// The limit of an answer's body, and of its headers.
  size_t max_answer_bytes;
  /// PEM of the trusted authorities; NULL: those of the system.
  const char *authorities_file;
} hc_options;

/// A request that has ended.
typedef struct {
  int slot;
  hc_outcome outcome;
  /// The HTTP status; 0 without an answer.
  int status;
  /// The body of the answer. Lives until the slot's next `hc_start`, or `hc_client_free`.
  const uint8_t *body;
  size_t body_length;
  /// What went wrong, a part of a sentence, empty without a fault. Lives as `body` does.
  const char *reason;
} hc_ended;

/// Creates a client; NULL without memory. From then on the process ignores SIGPIPE: OpenSSL writes
/// without MSG_NOSIGNAL.
hc_client *hc_client_create(const hc_options *options);

/// Ends all requests and closes the connections.
void hc_client_free(hc_client *client);

/// Names the calling thread, which is to make all calls but `hc_wakeup`, and lets it give way to the
/// others of the process where cores are scarce: 0 = not, to 19.
void hc_enter_thread(int niceness);

/// Adds a line "name: value" to the next request of a free slot. False without memory.
bool hc_add_header(hc_client *client, int slot, const char *line);

/// Posts a body from a free slot, which has to end within `timeout` milliseconds. False without
/// memory: the slot stays free.
bool hc_start(hc_client *client, int slot, const char *url, const uint8_t *body, size_t length, long timeout);

/// The same for a GET.
bool hc_start_get(hc_client *client, int slot, const char *url, long timeout);

/// Ends a slot's request at once, prepared or running; `hc_next_ended` does not tell of it any more.
void hc_cancel(hc_client *client, int slot);

/// Waits until something happens, for `timeout` milliseconds at most or until `hc_wakeup`, and goes
/// on with the requests. False where libcurl cannot go on: the caller ends the requests.
bool hc_wait(hc_client *client, int timeout);

/// Ends the present or the next `hc_wait`.
void hc_wakeup(hc_client *client);

/// The next request that has ended; its slot is free. False where there is none.
bool hc_next_ended(hc_client *client, hc_ended *ended);
