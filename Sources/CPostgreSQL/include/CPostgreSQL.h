// One connection to PostgreSQL by libpq, always in pipeline mode: statements are sent without waiting,
// and their results are read in order. A connection belongs to one thread at a time.
#ifndef CPOSTGRESQL_H
#define CPOSTGRESQL_H

#include <stdbool.h>
#include <stdint.h>

typedef struct cpg_connection cpg_connection;
typedef struct cpg_result cpg_result;

/// How a wait has ended.
typedef enum cpg_outcome {
  /// A statement's result: rows, or their number.
  CPG_RESULT = 0,
  /// A statement has failed; those behind it up to the next sync are skipped.
  CPG_FAILED = 1,
  /// A statement was skipped behind a failed one.
  CPG_SKIPPED = 2,
  /// All statements before a sync have ended.
  CPG_SYNC = 3,
  /// The connection is lost, or the deadline has passed: it is of no use any more.
  CPG_LOST = 4,
} cpg_outcome;

/// Connects, and blocks meanwhile. Never NULL, except without memory; `cpg_is_open` tells the outcome.
/// @param url a URL or a string of libpq's keywords
cpg_connection *cpg_connect(const char *url, int timeout_seconds);
void cpg_close(cpg_connection *connection);
bool cpg_is_open(const cpg_connection *connection);
/// Lives until the next call with this connection.
const char *cpg_error(const cpg_connection *connection);
/// 150018 for 15.18.
int cpg_server_version(const cpg_connection *connection);
/// The server's process for this connection.
int cpg_backend_pid(const cpg_connection *connection);

// The functions below return false where the connection is lost.

/// Sends a statement to be prepared under a name.
bool cpg_send_prepare(
    cpg_connection *connection, const char *name, const char *sql, int count, const uint32_t *types);
/// Sends a prepared statement with its arguments in binary form, one behind the other in `bytes`. The
/// rows come in binary form, too. A length of -1 is NULL.
bool cpg_send_execute(
    cpg_connection *connection, const char *name, int count, const char *bytes, const int32_t *lengths);
/// Ends what was sent so far, and begins to write it to the socket.
bool cpg_send_sync(cpg_connection *connection);

/// Waits for the next result.
/// @param timeout_ms for the whole wait
/// @param result set for CPG_RESULT and CPG_FAILED, to be freed by `cpg_free`
cpg_outcome cpg_wait(cpg_connection *connection, int timeout_ms, cpg_result **result);

int cpg_row_count(const cpg_result *result);
/// How many rows a statement has changed or returned.
int64_t cpg_changed_count(const cpg_result *result);
/// The bytes of a value, which live as long as the result; NULL for NULL.
const uint8_t *cpg_value(const cpg_result *result, int row, int column, int *length);
/// A column's name.
const char *cpg_column_name(const cpg_result *result, int column);
/// The five characters of an error's SQLSTATE; "" where there is none.
const char *cpg_sqlstate(const cpg_result *result);
/// An error's first line, without values of rows.
const char *cpg_message(const cpg_result *result);
void cpg_free(cpg_result *result);

/// Runs statements without arguments and waits for their end; outside of a pipeline.
/// @return NULL on success; otherwise the error, to be freed by `cpg_free`, or a lost connection
cpg_outcome cpg_run_script(cpg_connection *connection, const char *sql, cpg_result **error);

typedef struct cpg_notification cpg_notification;

/// Waits until something has come from the server, or another thread has written to a pipe.
/// @return false where the connection is lost
bool cpg_wait_for_input(cpg_connection *connection, int wake_descriptor, int timeout_ms);
/// The next notification that has come, to be freed by `cpg_free_notification`; NULL = none.
cpg_notification *cpg_next_notification(cpg_connection *connection);
/// Both live as long as the notification.
const char *cpg_channel(const cpg_notification *notification);
const char *cpg_payload(const cpg_notification *notification);
void cpg_free_notification(cpg_notification *notification);

#endif
