#include "listener.h"

#include "bytes.h"
#include "head.h"
#include "wheel.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ev.h>
#include <fcntl.h>
#include <libwebsockets.h>
#include <limits.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum {
  ACCEPTS_PER_TURN = 4,  // many new clients must not delay the connected ones for long
  PAUSE_MS = 500,
  RESERVED_DESCRIPTORS = 64  // that connections of the public listener leave to the others
};

typedef struct {
  listeners *all;
  ev_io watcher;
  uint64_t paused_until;  // tick; 0: it is accepting
  int descriptor_limit;   // a connection with this descriptor or a higher one is refused
  bool is_internal;
} listener;

struct listeners {
  struct ev_loop *events;
  const ct_callbacks *callbacks;
  arrivals *arrivals;
  wheel *wheel;
  listener listeners[2];
  int count;
};

listeners *listeners_create(struct ev_loop *events, const ct_callbacks *callbacks, arrivals *arrivals, wheel *wheel) {
  listeners *all = ct_allocate(1, sizeof *all);
  *all = (listeners){.events = events, .callbacks = callbacks, .arrivals = arrivals, .wheel = wheel};
  return all;
}

void listeners_free(listeners *all) { free(all); }

static int fail(char *error, size_t error_size, const char *text) {
  snprintf(error, error_size, "%s", text);
  return -1;
}

static int bind_one(const struct addrinfo *address, bool shared) {
  int fd = socket(address->ai_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0), one = 1, zero = 0;
  if (fd < 0) return -1;
  setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
  if (shared) setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one);
  if (address->ai_family == AF_INET6) setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &zero, sizeof zero);
  if (bind(fd, address->ai_addr, address->ai_addrlen) == 0) return fd;
  int reason = errno;
  close(fd);
  errno = reason;
  return -1;
}

// The system binds a shared socket beside another process's shared one, but not an unshared one.
static bool is_free(const struct addrinfo *address) {
  int fd = bind_one(address, false);
  if (fd < 0) return false;
  bool is_free = listen(fd, 1) == 0;
  int reason = errno;
  close(fd);
  errno = reason;
  return is_free;
}

static int bound_port(int fd) {
  struct sockaddr_storage address;
  socklen_t size = sizeof address;
  if (getsockname(fd, (struct sockaddr *)&address, &size)) return -1;
  return ntohs(address.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&address)->sin6_port
                                             : ((struct sockaddr_in *)&address)->sin_port);
}

static int listen_on(const struct addrinfo *address, int *port, bool shared, bool first, char *error, size_t error_size) {
  if (first && shared && *port && !is_free(address)) return fail(error, error_size, strerror(errno));
  int fd = bind_one(address, shared);
  if (fd < 0) return fail(error, error_size, strerror(errno));
  if (listen(fd, SOMAXCONN) == 0 && (*port = bound_port(fd)) > 0) return fd;
  fail(error, error_size, strerror(errno));
  close(fd);
  return -1;
}

int ct_listen(const char *host, int *port, bool shared, bool first, char *error, size_t error_size) {
  char service[16];
  struct addrinfo wish = {.ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE | AI_NUMERICSERV}, *found;
  if (*port < 0 || *port > 65535) return fail(error, error_size, "no such port");
  snprintf(service, sizeof service, "%d", *port);
  int reason = getaddrinfo(host, service, &wish, &found);
  if (reason) return fail(error, error_size, gai_strerror(reason));
  int fd = listen_on(found, port, shared, first, error, error_size);
  freeaddrinfo(found);
  return fd;
}

// Whether a process accepts connections there. One that is slow to do so counts.
static bool is_listening(const struct sockaddr_un *address) {
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  bool is_refused = fd >= 0 && connect(fd, (const struct sockaddr *)address, sizeof *address) && errno == ECONNREFUSED;
  if (fd >= 0) close(fd);
  return !is_refused;
}

static const char *remove_stale(const struct sockaddr_un *address) {
  struct stat found;
  if (lstat(address->sun_path, &found)) return errno == ENOENT ? NULL : strerror(errno);
  if (!S_ISSOCK(found.st_mode)) return "there is a file that is no socket";
  if (is_listening(address)) return "a process listens there";
  return unlink(address->sun_path) ? strerror(errno) : NULL;
}

enum { SOCKET_MODE = 0660 };

// The mode of the unbound socket is an upper bound of the file's, so that there is no moment in
// which others may connect; the umask may still have taken the group's part.
static bool bind_file(int fd, const struct sockaddr_un *address, ct_socket_file *file) {
  struct stat made;
  if (fchmod(fd, SOCKET_MODE) || bind(fd, (const struct sockaddr *)address, sizeof *address)) return false;
  if (chmod(address->sun_path, SOCKET_MODE) || lstat(address->sun_path, &made) || listen(fd, SOMAXCONN)) {
    int reason = errno;
    unlink(address->sun_path);
    errno = reason;
    return false;
  }
  *file = (ct_socket_file){.device = made.st_dev, .inode = made.st_ino};
  return true;
}

int ct_listen_file(const char *path, ct_socket_file *file, char *error, size_t error_size) {
  struct sockaddr_un address = {.sun_family = AF_UNIX};
  if (strlen(path) >= sizeof address.sun_path) return fail(error, error_size, strerror(ENAMETOOLONG));
  memcpy(address.sun_path, path, strlen(path) + 1);
  const char *obstacle = remove_stale(&address);
  if (obstacle) return fail(error, error_size, obstacle);
  int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
  if (fd >= 0 && bind_file(fd, &address, file)) return fd;
  fail(error, error_size, strerror(errno));
  if (fd >= 0) close(fd);
  return -1;
}

void ct_remove_socket(const char *path, ct_socket_file file) {
  struct stat found;
  if (!lstat(path, &found) && found.st_dev == file.device && found.st_ino == file.inode) unlink(path);
}

int ct_duplicate(int descriptor) { return fcntl(descriptor, F_DUPFD_CLOEXEC, 0); }

// As inet_ntop does, which takes a format for it.
static void write_ipv4(const uint8_t address[4], char *to) {
  for (int i = 0; i < 4; i++) {
    unsigned number = address[i];
    if (i) *to++ = '.';
    if (number >= 100) *to++ = (char)('0' + number / 100);
    if (number >= 10) *to++ = (char)('0' + number / 10 % 10);
    *to++ = (char)('0' + number % 10);
  }
  *to = '\0';
}

static void write_address(const struct sockaddr_storage *from, char to[CT_ADDRESS_SIZE]) {
  const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)from;
  if (from->ss_family == AF_UNIX) {
    strcpy(to, "unix");
  } else if (from->ss_family == AF_INET) {
    write_ipv4((const uint8_t *)&((const struct sockaddr_in *)from)->sin_addr, to);
  } else if (IN6_IS_ADDR_V4MAPPED(&six->sin6_addr)) {
    write_ipv4(six->sin6_addr.s6_addr + 12, to);
  } else {
    inet_ntop(AF_INET6, &six->sin6_addr, to, CT_ADDRESS_SIZE);
  }
}

// The PROXY header comes before TLS and HTTP.
static void receive(listener *l, int fd, const struct sockaddr_storage *from) {
  peer p = {.is_internal = l->is_internal};
  const ct_callbacks *callbacks = l->all->callbacks;
  write_address(from, p.address);
  bool has_header =
    !l->is_internal && callbacks->announces_client && callbacks->announces_client(callbacks->context, peer_address(&p));
  arrival_begin(l->all->arrivals, fd, &p, has_header);
}

// Without descriptors or memory the client stays queued, and polling for it would be a busy loop.
static void pause_accepting(listener *l, const char *reason) {
  lwsl_warn("accept: %s; paused\n", reason);
  ev_io_stop(l->all->events, &l->watcher);
  l->paused_until = tick_now(l->all->wheel) + ticks(PAUSE_MS);
}

static bool is_exhaustion(int reason) {
  return reason == EMFILE || reason == ENFILE || reason == ENOBUFS || reason == ENOMEM;
}

// The same socket under the lowest free number.
static int lowest(int fd) {
  int lower = ct_duplicate(fd);
  if (lower < 0 || lower > fd) {
    if (lower >= 0) close(lower);
    return fd;
  }
  close(fd);
  return lower;
}

static void on_acceptable(struct ev_loop *events, ev_io *watcher, int revents) {
  (void)events, (void)revents;
  listener *l = watcher->data;
  for (int i = 0; i < ACCEPTS_PER_TURN; i++) {
    struct sockaddr_storage from;
    socklen_t size = sizeof from;
    int fd = accept4(watcher->fd, (struct sockaddr *)&from, &size, SOCK_NONBLOCK | SOCK_CLOEXEC);
    // Connections without a request give way to those that may have one.
    if (fd < 0 && errno == EMFILE && arrivals_make_room(l->all->arrivals, l->is_internal)) continue;
    if (fd >= l->descriptor_limit && arrivals_make_room(l->all->arrivals, l->is_internal)) fd = lowest(fd);
    if (fd >= l->descriptor_limit) {
      close(fd);
      pause_accepting(l, strerror(EMFILE));
      return;
    }
    if (fd >= 0) {
      receive(l, fd, &from);
    } else if (is_exhaustion(errno)) {
      pause_accepting(l, strerror(errno));
      return;
    } else if (errno == EAGAIN) {
      return;
    }  // else that client has gone; the next may not have
  }
}

// Monitoring must get an answer, and the store open its files, at any number of clients.
static int descriptor_limit_of(bool is_internal) {
  struct rlimit files;
  if (is_internal || getrlimit(RLIMIT_NOFILE, &files) || files.rlim_cur > INT_MAX) return INT_MAX;
  int limit = (int)files.rlim_cur, quarter = limit / 4;
  return limit - (quarter < RESERVED_DESCRIPTORS ? quarter : RESERVED_DESCRIPTORS);
}

void listeners_add(listeners *all, int descriptor, bool is_internal) {
  listener *l = &all->listeners[all->count++];
  l->all = all;
  l->is_internal = is_internal;
  l->descriptor_limit = descriptor_limit_of(is_internal);
  ev_io_init(&l->watcher, on_acceptable, descriptor, EV_READ);
  l->watcher.data = l;
  ev_io_start(all->events, &l->watcher);
}

static void close_one(listener *l) {
  if (l->watcher.fd < 0) return;
  ev_io_stop(l->all->events, &l->watcher);
  close(l->watcher.fd);
  l->watcher.fd = -1;
  l->paused_until = 0;
}

void listeners_close(listeners *all) {
  for (int i = 0; i < all->count; i++) close_one(&all->listeners[i]);
}

static void resume_one(listener *l, uint64_t now) {
  if (!l->paused_until || now < l->paused_until) return;
  l->paused_until = 0;
  ev_io_start(l->all->events, &l->watcher);
}

void listeners_resume(listeners *all) {
  for (int i = 0; i < all->count; i++) resume_one(&all->listeners[i], wheel_tick(all->wheel));
}
