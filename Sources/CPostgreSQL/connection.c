#include "CPostgreSQL.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <postgresql/libpq-fe.h>

enum { BINARY = 1, MAX_ARGUMENTS = 64 };

struct cpg_connection {
  PGconn *handle;
  // PQgetResult returns a NULL behind each statement's results: it is passed over.
  bool is_lost;
  // libpq's words about a URL that it cannot read may repeat a part of a password.
  bool is_malformed;
};

// cpg_result is a PGresult; the type has another name so that users need no header of libpq's.
static PGresult *native(const cpg_result *result) { return (PGresult *)result; }

static bool begin_pipeline(cpg_connection *connection) {
  return PQenterPipelineMode(connection->handle) == 1 && PQsetnonblocking(connection->handle, 1) == 0;
}

// libpq prints notices to the standard error otherwise, between the lines of the log.
static void ignore_notice(void *argument, const PGresult *result) {
  (void)argument;
  (void)result;
}

cpg_connection *cpg_connect(const char *url, int timeout_seconds) {
  cpg_connection *connection = calloc(1, sizeof *connection);
  if (connection == NULL) return NULL;
  char timeout[16];
  snprintf(timeout, sizeof timeout, "%d", timeout_seconds);
  // The URL comes last, so that an operator's own settings win.
  const char *keywords[] = {
      "connect_timeout", "keepalives_idle", "keepalives_interval", "keepalives_count", "tcp_user_timeout",
      "target_session_attrs", "client_encoding", "fallback_application_name", "dbname", NULL};
  const char *values[] = {timeout, "5", "2", "3", "10000", "read-write", "UTF8", "throng", url, NULL};
  connection->handle = PQconnectdbParams(keywords, values, 1);
  if (PQstatus(connection->handle) == CONNECTION_OK) {
    PQsetNoticeReceiver(connection->handle, ignore_notice, NULL);
    connection->is_lost = !begin_pipeline(connection);
  } else {
    connection->is_lost = true;
    PQconninfoOption *read = PQconninfoParse(url, NULL);
    connection->is_malformed = read == NULL;
    PQconninfoFree(read);
  }
  return connection;
}

void cpg_close(cpg_connection *connection) {
  PQfinish(connection->handle);
  free(connection);
}

bool cpg_is_open(const cpg_connection *connection) { return !connection->is_lost; }

const char *cpg_error(const cpg_connection *connection) {
  if (connection->is_malformed) return "libpq cannot read the URL: see its percent signs, & and = (%25, %26, %3D in a value)";
  return PQerrorMessage(connection->handle);
}

int cpg_server_version(const cpg_connection *connection) { return PQserverVersion(connection->handle); }
int cpg_backend_pid(const cpg_connection *connection) { return PQbackendPID(connection->handle); }

static bool noted(cpg_connection *connection, bool succeeded) {
  if (!succeeded) connection->is_lost = true;
  return succeeded;
}

bool cpg_send_prepare(cpg_connection *connection, const char *name, const char *sql, int count, const uint32_t *types) {
  if (connection->is_lost) return false;
  return noted(connection, PQsendPrepare(connection->handle, name, sql, count, (const Oid *)types) == 1);
}

bool cpg_send_execute(
    cpg_connection *connection, const char *name, int count, const char *bytes, const int32_t *lengths) {
  if (connection->is_lost) return false;
  if (count > MAX_ARGUMENTS) return noted(connection, false);
  const char *values[MAX_ARGUMENTS];
  int sizes[MAX_ARGUMENTS], formats[MAX_ARGUMENTS];
  for (int index = 0; index < count; index++) {
    values[index] = lengths[index] < 0 ? NULL : bytes;
    sizes[index] = lengths[index] < 0 ? 0 : lengths[index];
    formats[index] = BINARY;
    bytes += sizes[index];
  }
  return noted(
      connection, PQsendQueryPrepared(connection->handle, name, count, values, sizes, formats, BINARY) == 1);
}

bool cpg_send_sync(cpg_connection *connection) {
  if (connection->is_lost) return false;
  return noted(connection, PQpipelineSync(connection->handle) == 1);
}

static int64_t now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

// Writes what is left, and reads meanwhile: a server that waits for us to read would not read itself.
static bool wait_until_ready(cpg_connection *connection, int64_t deadline) {
  for (;;) {
    int unsent = PQflush(connection->handle);
    if (unsent < 0) return false;
    if (unsent == 0 && !PQisBusy(connection->handle)) return true;
    int64_t left = deadline - now_ms();
    if (left <= 0) return false;
    struct pollfd descriptor = {.fd = PQsocket(connection->handle), .events = POLLIN};
    if (unsent > 0) descriptor.events |= POLLOUT;
    int ready = poll(&descriptor, 1, (int)left);
    if (ready < 0 && errno != EINTR) return false;
    if (ready > 0 && (descriptor.revents & ~POLLOUT) && PQconsumeInput(connection->handle) == 0) return false;
  }
}

static cpg_outcome lost(cpg_connection *connection) {
  connection->is_lost = true;
  return CPG_LOST;
}

cpg_outcome cpg_wait(cpg_connection *connection, int timeout_ms, cpg_result **result) {
  *result = NULL;
  int64_t deadline = now_ms() + timeout_ms;
  bool was_empty = false;
  while (!connection->is_lost) {
    if (!wait_until_ready(connection, deadline)) return lost(connection);
    PGresult *found = PQgetResult(connection->handle);
    if (found == NULL) {
      // One is behind each statement; two mean that nothing is left to wait for.
      if (was_empty) return lost(connection);
      was_empty = true;
      continue;
    }
    switch (PQresultStatus(found)) {
      case PGRES_COMMAND_OK:
      case PGRES_TUPLES_OK:
        *result = (cpg_result *)found;
        return CPG_RESULT;
      case PGRES_PIPELINE_SYNC:
        PQclear(found);
        return CPG_SYNC;
      case PGRES_PIPELINE_ABORTED:
        PQclear(found);
        return CPG_SKIPPED;
      default:
        *result = (cpg_result *)found;
        // After such an error there is no connection; the error itself is of use.
        if (PQstatus(connection->handle) != CONNECTION_OK) connection->is_lost = true;
        return CPG_FAILED;
    }
  }
  return CPG_LOST;
}

int cpg_row_count(const cpg_result *result) { return PQntuples(native(result)); }

int64_t cpg_changed_count(const cpg_result *result) { return strtoll(PQcmdTuples(native(result)), NULL, 10); }

const uint8_t *cpg_value(const cpg_result *result, int row, int column, int *length) {
  if (PQgetisnull(native(result), row, column)) return NULL;
  *length = PQgetlength(native(result), row, column);
  return (const uint8_t *)PQgetvalue(native(result), row, column);
}

const char *cpg_column_name(const cpg_result *result, int column) {
  const char *name = PQfname(native(result), column);
  return name == NULL ? "?" : name;
}

const char *cpg_sqlstate(const cpg_result *result) {
  const char *state = PQresultErrorField(native(result), PG_DIAG_SQLSTATE);
  return state == NULL ? "" : state;
}

const char *cpg_message(const cpg_result *result) {
  const char *message = PQresultErrorField(native(result), PG_DIAG_MESSAGE_PRIMARY);
  return message == NULL ? PQresultErrorMessage(native(result)) : message;
}

void cpg_free(cpg_result *result) { PQclear(native(result)); }

cpg_outcome cpg_run_script(cpg_connection *connection, const char *sql, cpg_result **error) {
  *error = NULL;
  if (connection->is_lost) return CPG_LOST;
  if (PQsetnonblocking(connection->handle, 0) != 0 || PQexitPipelineMode(connection->handle) != 1) return lost(connection);
  PGresult *result = PQexec(connection->handle, sql);
  ExecStatusType status = PQresultStatus(result);
  bool succeeded = status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
  if (PQstatus(connection->handle) != CONNECTION_OK || !begin_pipeline(connection)) connection->is_lost = true;
  if (succeeded) {
    PQclear(result);
    return connection->is_lost ? CPG_LOST : CPG_RESULT;
  }
  *error = (cpg_result *)result;
  return CPG_FAILED;
}

bool cpg_wait_for_input(cpg_connection *connection, int wake_descriptor, int timeout_ms) {
  if (connection->is_lost) return false;
  struct pollfd descriptors[] = {
      {.fd = PQsocket(connection->handle), .events = POLLIN}, {.fd = wake_descriptor, .events = POLLIN}};
  if (poll(descriptors, 2, timeout_ms) < 0 && errno != EINTR) return noted(connection, false);
  return noted(connection, PQconsumeInput(connection->handle) == 1);
}

static PGnotify *native_notification(const cpg_notification *notification) { return (PGnotify *)notification; }

cpg_notification *cpg_next_notification(cpg_connection *connection) {
  return (cpg_notification *)PQnotifies(connection->handle);
}

const char *cpg_channel(const cpg_notification *notification) { return native_notification(notification)->relname; }

const char *cpg_payload(const cpg_notification *notification) { return native_notification(notification)->extra; }

void cpg_free_notification(cpg_notification *notification) { PQfreemem(notification); }
