#include "tls_output.h"

#include <errno.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/uio.h>

// OpenSSL calls the system for each record of 16 KB, and a flush of a busy topic is often a little
// longer. Such a call costs its way through TCP, far more than the bytes. So records are joined, up
// to a bound, and leave with the last one.
//
// A full socket takes a part. We keep the joined records that are left, and OpenSSL keeps the last
// one: for OpenSSL and the library the write is blocked, so they hold back what follows, and their
// next attempt begins with what we keep.

enum { RECORD = SSL3_RT_MAX_PLAIN_LENGTH, JOINED = 4 * RECORD };

static const int KIND = BIO_TYPE_SOURCE_SINK;  // of our BIO; those of OpenSSL have a number, too

// Of a connection: the data of its BIO.
typedef struct {
  tls_output *of_loop;
  bytes unsent;  // whole records but for the first; while there are any, OpenSSL has one more
  int descriptor;
} writer;

// Returns how much of the record the socket has taken, or -1 with the reason in errno.
static ssize_t send_behind(int descriptor, bytes *before, const char *record, size_t count) {
  enum { FLAGS = MSG_NOSIGNAL | MSG_DONTWAIT };
  size_t waiting = bytes_count(before);
  if (!waiting) return send(descriptor, record, count, FLAGS);
  struct iovec parts[] = {{(void *)bytes_first(before), waiting}, {(void *)record, count}};
  struct msghdr message = {.msg_iov = parts, .msg_iovlen = 2};
  ssize_t sent = sendmsg(descriptor, &message, FLAGS);
  if (sent < 0) return -1;
  size_t gone = (size_t)sent < waiting ? (size_t)sent : waiting;
  bytes_drop_first(before, gone);
  return sent - (ssize_t)gone;
}

static void keep_unsent(writer *w, bytes *joined) {
  if (bytes_count(joined)) bytes_append(&w->unsent, bytes_first(joined), bytes_count(joined));
  else if (!bytes_count(&w->unsent)) bytes_free(&w->unsent);
  bytes_clear(joined);
}

static int write_record(BIO *bio, const char *record, int count) {
  writer *w = BIO_get_data(bio);
  bytes *joined = &w->of_loop->joined;
  BIO_clear_retry_flags(bio);
  if (w->of_loop->is_joining) {
    bytes_append(joined, record, (size_t)count);
    return count;
  }
  // Never both: see may_join.
  bytes *before = bytes_count(joined) ? joined : &w->unsent;
  ssize_t sent = send_behind(w->descriptor, before, record, (size_t)count);
  if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return -1;
  keep_unsent(w, joined);
  if (sent > 0) return (int)sent;
  BIO_set_retry_write(bio);
  return -1;
}

static long control(BIO *bio, int command, long number, void *pointer) {
  (void)bio, (void)number, (void)pointer;
  return command == BIO_CTRL_FLUSH;  // nothing is held back but what is blocked
}

// The socket may be closed already.
static int end(BIO *bio) {
  writer *w = BIO_get_data(bio);
  bytes_free(&w->unsent);
  free(w);
  return 1;
}

void tls_output_init(tls_output *all) {
  all->method = ct_checked(BIO_meth_new(KIND, "joined records"));
  BIO_meth_set_write(all->method, write_record);
  BIO_meth_set_ctrl(all->method, control);
  BIO_meth_set_destroy(all->method, end);
}

void tls_output_free(tls_output *all) {
  BIO_meth_free(all->method);
  bytes_free(&all->joined);
}

// Every record of the connection is sent by us from now on, those of the library too. Reading stays
// with the socket's own BIO, which also tells the library its descriptor.
static void take_over(tls_output *all, SSL *tls) {
  writer *w = ct_allocate(1, sizeof *w);
  w->of_loop = all;
  w->descriptor = SSL_get_fd(tls);
  BIO *bio = ct_checked(BIO_new(all->method));
  BIO_set_data(bio, w);
  BIO_set_init(bio, 1);
  SSL_set0_wbio(tls, bio);
}

// A connection that never gets more than a record at once stays as it is, and so does one for which
// the kernel encrypts, as the system's openssl.cnf may have it. Behind records that are kept, joined
// ones could only be kept as well.
static bool may_join(tls_output *all, SSL *tls) {
  BIO *bio = SSL_get_wbio(tls);
  if (BIO_method_type(bio) == KIND) return !bytes_count(&((writer *)BIO_get_data(bio))->unsent);
  if (BIO_get_ktls_send(bio)) return false;
  take_over(all, tls);
  return true;
}

// OpenSSL keeps its buffer of a record for the last one.
static int join(tls_output *all, SSL *tls, const uint8_t *from, size_t count) {
  SSL_clear_mode(tls, SSL_MODE_RELEASE_BUFFERS);
  all->is_joining = true;
  int result = SSL_write(tls, from, (int)count);
  all->is_joining = false;
  SSL_set_mode(tls, SSL_MODE_RELEASE_BUFFERS);
  return result;
}

// The result of a write that OpenSSL has stopped. Joined records that nobody has kept are lost, and
// the connection is with them.
static ssize_t stopped(tls_output *all, int reason, size_t taken) {
  bool has_lost = bytes_count(&all->joined) > 0;
  bytes_clear(&all->joined);
  return !has_lost && (reason == SSL_ERROR_WANT_WRITE || reason == SSL_ERROR_WANT_READ) ? (ssize_t)taken : -1;
}

ssize_t tls_output_write(tls_output *all, SSL *tls, const uint8_t *from, size_t count) {
  size_t taken = 0;
  ERR_clear_error();
  while (taken < count) {
    size_t part = count - taken > JOINED ? JOINED : count - taken;
    if (part > RECORD && !may_join(all, tls)) part = RECORD;
    size_t joined = (part - 1) / RECORD * RECORD;
    int result = joined ? join(all, tls, from + taken, joined) : 1;
    if (result > 0) {
      taken += joined;
      result = SSL_write(tls, from + taken, (int)(part - joined));
    }
    if (result <= 0) return stopped(all, SSL_get_error(tls, result), taken);
    taken += (size_t)result;
  }
  return (ssize_t)taken;
}
