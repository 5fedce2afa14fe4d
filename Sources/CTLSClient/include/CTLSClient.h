// The client's side of TLS over a non-blocking socket (OpenSSL). OpenSSL's headers stay inside
// CTLSClient.c.
//
// Threads: one at a time per context and its connections. No call blocks.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// Which certificates are accepted, and the settings of all connections.
typedef struct ssl_ctx_st tc_context;
/// The TLS state of one socket.
typedef struct ssl_st tc_connection;

/// Why a call stopped.
typedef enum {
  /// It did all that was asked for.
  TC_DONE,
  /// It goes on when the socket can be read.
  TC_WANTS_READ,
  /// It goes on when the socket can be written.
  TC_WANTS_WRITE,
  /// The server has ended the stream.
  TC_ENDED,
  /// The handshake has refused the certificate; `tc_reason` says why.
  TC_UNTRUSTED,
  /// The connection is broken; `tc_reason` says why.
  TC_FAILED,
} tc_status;

/// Creates a context; NULL, and a sentence in `reason`, on failure. `verifying`: the server's
/// certificate must be valid for its name. `authorities_file`: PEM of the trusted authorities;
/// NULL: those of the system. OpenSSL writes without MSG_NOSIGNAL: a thread that uses the connections
/// ignores or blocks SIGPIPE.
tc_context *tc_context_create(bool verifying, const char *authorities_file, char *reason, size_t capacity);

/// Releases a context; connections that use it may live longer.
void tc_context_release(tc_context *context);

/// Creates the TLS state of a connected socket to `host`, a name or an IP address; NULL without
/// memory. The socket stays the caller's.
tc_connection *tc_create(tc_context *context, int socket, const char *host);

/// Releases the TLS state without a message to the server.
void tc_release(tc_connection *connection);

/// Goes on with the handshake.
tc_status tc_handshake(tc_connection *connection);

/// Reads until `capacity` bytes are there (TC_DONE) or for another reason. `count` is valid with
/// every status.
tc_status tc_read(tc_connection *connection, void *bytes, size_t capacity, size_t *count);

/// Writes until all bytes are written (TC_DONE) or for another reason. `count` is valid with every
/// status. After TC_WANTS_… the bytes that are left, and maybe more behind them, have to be written
/// next.
tc_status tc_write(tc_connection *connection, const void *bytes, size_t length, size_t *count);

/// The bytes read from the socket so far: records, and the handshake's messages.
size_t tc_bytes_read(const tc_connection *connection);

/// Writes why the last call failed, a part of a sentence.
void tc_reason(tc_connection *connection, char *reason, size_t capacity);

/// Writes the `Sec-WebSocket-Accept` of a key of up to 64 characters (RFC 6455, section 4.2.2), with
/// its final NUL.
void tc_websocket_accept(const char *key, char accept[29]);
