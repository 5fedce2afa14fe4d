// What NATS and PostgreSQL alone allow: the calls of stored messages that cross between nodes, and nothing else.
//
//   bus-floor NATS-URL CONNINFO NODES SENDERS SECONDS [REQUEST ANSWER HEADER]
//
// Each node is a process with a connection to NATS and one to PostgreSQL. A sender has one message under way. It
// goes in a frame to another node, with all that its node has by then; that node stores all that has come meanwhile
// in one transaction, with the statements of the server, and answers with the reply and the event. The groups
// floor-0, floor-1 and so on must be there, one for each sender. Prints JSON; the first second is not counted.
//
// REQUEST, ANSWER, HEADER: bytes of a request, of a reply with its event, and of a frame besides.
#include <libpq-fe.h>
#include <nats/nats.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MAX_NODES = 8, MAX_SENDERS = 4096, BUCKETS = 100000, BUCKET_US = 10, WARM_UP = 1, FIRST_NODE = 900000 };

static const char APPEND[] =
    "INSERT INTO message (number, seq, timestamp, sender, kind, isRevoked, isFromManager, needReadReceipt, priority, "
    "platform, msgID, clientMsgID, nameCard, atUserIDList, content) VALUES ("
    "(SELECT g.number FROM groupRecord AS g WHERE g.groupID = $1 AND ((SELECT m.seq FROM message AS m "
    "WHERE m.number = g.number AND m.seq = $2::bigint - 1) IS NOT NULL OR g.firstSeq = $2::bigint)), "
    "$2::bigint, $3::bigint, $4, 'text', false, false, false, 'Normal', 'Web', $5, NULL, '', NULL, $6)";

// What all processes see.
typedef struct {
  atomic_int ready;
  atomic_bool has_begun, is_over;
  atomic_long messages, counted, frames, bytes, transactions;
  atomic_int latencies[BUCKETS];
} shared_counts;

static shared_counts *shared;
static int node_count, sender_count;
static size_t request_size = 230, answer_size = 480, header_size = 90;

// A node's own.
static int own;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t something = PTHREAD_COND_INITIALIZER, work = PTHREAD_COND_INITIALIZER;
// By the other node: senders whose requests, or whose answers, are to leave in the next frame.
static int requests[MAX_NODES][MAX_SENDERS], request_counts[MAX_NODES];
static int answers[MAX_NODES][MAX_SENDERS], answer_counts[MAX_NODES];
// Senders of other nodes whose messages are to be stored.
static int to_store[MAX_SENDERS], to_store_count;
static double begun_at[MAX_SENDERS];
static int64_t last_seq[MAX_SENDERS];

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void fail(const char *what, const char *why) {
  fprintf(stderr, "bus-floor: %s: %s\n", what, why);
  exit(1);
}

static int home(int sender) { return sender % node_count; }

// Every message crosses: the owner of a sender's group is never its own node.
static int owner(int sender) { return (home(sender) + 1 + sender / node_count % (node_count - 1)) % node_count; }

// MARK: Frames

static void count_answer(int sender) {
  atomic_fetch_add(&shared->messages, 1);
  if (!atomic_load(&shared->has_begun) || atomic_load(&shared->is_over)) return;
  atomic_fetch_add(&shared->counted, 1);
  long bucket = (long)((now() - begun_at[sender]) * 1e6 / BUCKET_US);
  atomic_fetch_add(&shared->latencies[bucket < BUCKETS ? bucket : BUCKETS - 1], 1);
}

static void begin_message(int sender) {
  begun_at[sender] = now();
  int target = owner(sender);
  requests[target][request_counts[target]++] = sender;
}

// A frame is its sender's node, two counts, and the senders; the rest is as long as entries of a link are.
static void received(natsConnection *connection, natsSubscription *subscription, natsMsg *message, void *closure) {
  (void)connection, (void)subscription, (void)closure;
  static int words[3 + 2 * MAX_SENDERS];
  size_t size = (size_t)natsMsg_GetDataLength(message);
  memcpy(words, natsMsg_GetData(message), size < sizeof words ? size : sizeof words);
  int requested = words[1], answered = words[2];
  pthread_mutex_lock(&lock);
  for (int i = 0; i < requested; i++) to_store[to_store_count++] = words[3 + i];
  for (int i = 0; i < answered; i++) {
    int sender = words[3 + requested + i];
    count_answer(sender);
    begin_message(sender);
  }
  if (requested) pthread_cond_signal(&work);
  if (answered) pthread_cond_signal(&something);
  pthread_mutex_unlock(&lock);
  natsMsg_Destroy(message);
}

static size_t frame_size(int requested, int answered) {
  size_t size = header_size + (size_t)requested * request_size + (size_t)answered * answer_size;
  size_t needed = sizeof(int) * (size_t)(3 + requested + answered);
  return size < needed ? needed : size;
}

// Sends what is to leave, one frame to each node; with the lock, which it gives away meanwhile.
static bool send_frames(natsConnection *connection) {
  static char frame[MAX_SENDERS * 1024 + 1024];
  bool has_sent = false;
  for (int target = 0; target < node_count; target++) {
    int requested = request_counts[target], answered = answer_counts[target];
    if (!requested && !answered) continue;
    size_t size = frame_size(requested, answered);
    if (size > sizeof frame) fail("a frame", "too long");
    int *words = (int *)frame;
    words[0] = own, words[1] = requested, words[2] = answered;
    memcpy(words + 3, requests[target], sizeof(int) * (size_t)requested);
    memcpy(words + 3 + requested, answers[target], sizeof(int) * (size_t)answered);
    request_counts[target] = answer_counts[target] = 0;
    pthread_mutex_unlock(&lock);
    char subject[32];
    snprintf(subject, sizeof subject, "floor.%d", target);
    natsStatus status = natsConnection_Publish(connection, subject, frame, (int)size);
    if (status != NATS_OK) fail("publish", natsStatus_GetText(status));
    atomic_fetch_add(&shared->frames, 1);
    atomic_fetch_add(&shared->bytes, (long)size);
    has_sent = true;
    pthread_mutex_lock(&lock);
  }
  return has_sent;
}

static natsConnection *connect_to_bus(const char *url) {
  natsOptions *options = NULL;
  natsConnection *connection = NULL;
  natsStatus status = natsOptions_Create(&options);
  if (status == NATS_OK) status = natsOptions_SetURL(options, url);
  if (status == NATS_OK) status = natsOptions_SetSendAsap(options, true);
  if (status == NATS_OK) status = natsConnection_Connect(&connection, options);
  natsOptions_Destroy(options);
  if (status != NATS_OK) fail("NATS", natsStatus_GetText(status));
  natsSubscription *subscription = NULL;
  char subject[32];
  snprintf(subject, sizeof subject, "floor.%d", own);
  status = natsConnection_Subscribe(&subscription, connection, subject, received, NULL);
  if (status == NATS_OK) status = natsConnection_Flush(connection);
  if (status != NATS_OK) fail("subscribe", natsStatus_GetText(status));
  return connection;
}

// MARK: The database

static PGresult *query(PGconn *database, const char *sql) {
  PGresult *result = PQexec(database, sql);
  ExecStatusType status = PQresultStatus(result);
  if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail(sql, PQerrorMessage(database));
  return result;
}

static void prepare(PGconn *database, const char *name, const char *sql) {
  PGresult *result = PQprepare(database, name, sql, 0, NULL);
  if (PQresultStatus(result) != PGRES_COMMAND_OK) fail(sql, PQerrorMessage(database));
  PQclear(result);
}

static PGconn *connect_to_database(const char *conninfo) {
  PGconn *database = PQconnectdb(conninfo);
  if (PQstatus(database) != CONNECTION_OK) fail("PostgreSQL", PQerrorMessage(database));
  char sql[200];
  snprintf(sql, sizeof sql, "INSERT INTO writer (node, batch, isGone) VALUES (%d, 0, false) "
           "ON CONFLICT (node) DO UPDATE SET batch = 0", FIRST_NODE + own);
  PQclear(query(database, sql));
  prepare(database, "begin", "BEGIN");
  prepare(database, "fence", "SELECT throng_fence($1, $2)");
  prepare(database, "append", APPEND);
  prepare(database, "commit", "COMMIT");
  for (int sender = 0; sender < sender_count; sender++) {
    if (owner(sender) != own) continue;
    snprintf(sql, sizeof sql, "SELECT coalesce(max(m.seq), g.firstSeq - 1) FROM groupRecord g LEFT JOIN message m "
             "ON m.number = g.number WHERE g.groupID = 'floor-%d' GROUP BY g.firstSeq", sender);
    PGresult *found = query(database, sql);
    if (PQntuples(found) != 1) fail("a group is missing", sql);
    last_seq[sender] = strtoll(PQgetvalue(found, 0, 0), NULL, 10);
    PQclear(found);
  }
  if (!PQenterPipelineMode(database)) fail("pipeline", PQerrorMessage(database));
  return database;
}

static void send_statement(PGconn *database, const char *name, int count, const char *const *values) {
  if (!PQsendQueryPrepared(database, name, count, values, NULL, NULL, 0)) fail(name, PQerrorMessage(database));
}

static void store(PGconn *database, long batch, const int *senders, int count) {
  static char content[128];
  if (!content[0]) {
    memset(content, 'x', 70);
    memcpy(content, "{\"text\":\"", 9);
  }
  char node[32], number[32];
  snprintf(node, sizeof node, "%d", FIRST_NODE + own);
  snprintf(number, sizeof number, "%ld", batch);
  send_statement(database, "begin", 0, NULL);
  send_statement(database, "fence", 2, (const char *const[]){node, number});
  for (int i = 0; i < count; i++) {
    char group[32], seq[32], time_text[32], user[32], id[64];
    int64_t next = ++last_seq[senders[i]];
    snprintf(group, sizeof group, "floor-%d", senders[i]);
    snprintf(seq, sizeof seq, "%lld", (long long)next);
    snprintf(time_text, sizeof time_text, "%lld", (long long)(time(NULL) * 1000));
    snprintf(user, sizeof user, "sender%d", senders[i]);
    snprintf(id, sizeof id, "floor%d-%lld", senders[i], (long long)next);
    send_statement(database, "append", 6, (const char *const[]){group, seq, time_text, user, id, content});
  }
  send_statement(database, "commit", 0, NULL);
  if (!PQpipelineSync(database)) fail("sync", PQerrorMessage(database));
  for (bool is_done = false; !is_done;) {
    PGresult *result = PQgetResult(database);
    if (!result && PQstatus(database) != CONNECTION_OK) fail("PostgreSQL", PQerrorMessage(database));
    if (!result) continue;  // the end of one statement's results
    ExecStatusType status = PQresultStatus(result);
    if (status == PGRES_PIPELINE_SYNC) is_done = true;
    else if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK) fail("a statement", PQerrorMessage(database));
    PQclear(result);
  }
  atomic_fetch_add(&shared->transactions, 1);
}

// Stores all that has come while the last transaction was under way.
static void *write_batches(void *argument) {
  PGconn *database = argument;
  static int batch[MAX_SENDERS];
  for (long number = 1;; number++) {
    pthread_mutex_lock(&lock);
    while (!to_store_count) pthread_cond_wait(&work, &lock);
    int count = to_store_count;
    memcpy(batch, to_store, sizeof(int) * (size_t)count);
    to_store_count = 0;
    pthread_mutex_unlock(&lock);
    store(database, number, batch, count);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < count; i++) {
      int target = home(batch[i]);
      answers[target][answer_counts[target]++] = batch[i];
    }
    pthread_cond_signal(&something);
    pthread_mutex_unlock(&lock);
  }
  return NULL;
}

// MARK: Processes

static void run_node(const char *url, const char *conninfo) {
  PGconn *database = connect_to_database(conninfo);
  natsConnection *connection = connect_to_bus(url);
  atomic_fetch_add(&shared->ready, 1);
  while (atomic_load(&shared->ready) < node_count) usleep(1000);
  pthread_t writer;
  if (pthread_create(&writer, NULL, write_batches, database)) fail("pthread_create", "no thread");
  pthread_mutex_lock(&lock);
  for (int sender = 0; sender < sender_count; sender++) {
    if (home(sender) == own) begin_message(sender);
  }
  // It is killed in the end.
  for (;;) {
    while (send_frames(connection)) {}
    pthread_cond_wait(&something, &lock);
  }
}

static double cpu_of(pid_t process) {
  char path[64], text[1024];
  snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
  FILE *file = fopen(path, "r");
  size_t count = file ? fread(text, 1, sizeof text - 1, file) : 0;
  if (file) fclose(file);
  text[count] = 0;
  unsigned long user = 0, system = 0;
  const char *behind_name = strrchr(text, ')');
  if (behind_name) sscanf(behind_name + 2, "%*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system);
  return (double)(user + system) / (double)sysconf(_SC_CLK_TCK);
}

static double quantile(double part) {
  long count = 0, wanted;
  for (int i = 0; i < BUCKETS; i++) count += atomic_load(&shared->latencies[i]);
  wanted = (long)(part * (double)count);
  for (int i = 0; i < BUCKETS; i++) {
    wanted -= atomic_load(&shared->latencies[i]);
    if (wanted < 0) return (i + 0.5) * BUCKET_US / 1000;
  }
  return 0;
}

int main(int count, char **words) {
  if (count != 6 && count != 9) {
    fprintf(stderr, "usage: bus-floor NATS-URL CONNINFO NODES SENDERS SECONDS [REQUEST ANSWER HEADER]\n");
    return 64;
  }
  node_count = atoi(words[3]);
  sender_count = atoi(words[4]);
  int seconds = atoi(words[5]);
  if (count == 9) {
    request_size = (size_t)atoi(words[6]), answer_size = (size_t)atoi(words[7]), header_size = (size_t)atoi(words[8]);
  }
  if (node_count < 2 || node_count > MAX_NODES || sender_count < 1 || sender_count > MAX_SENDERS || seconds < 1 ||
      request_size > 400 || answer_size > 600 || header_size > 1000) {
    fprintf(stderr, "bus-floor: 2 to %d nodes, 1 to %d senders, and frames of a message's size\n", MAX_NODES, MAX_SENDERS);
    return 64;
  }
  shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) fail("mmap", "no memory");
  pid_t nodes[MAX_NODES];
  for (own = 0; own < node_count; own++) {
    nodes[own] = fork();
    if (nodes[own] < 0) fail("fork", "no process");
    if (nodes[own] == 0) run_node(words[1], words[2]);
  }
  int failed = 0;
  while (atomic_load(&shared->ready) < node_count && waitpid(-1, &failed, WNOHANG) == 0) usleep(1000);
  sleep(WARM_UP);
  double cpu = 0, start = now();
  for (int i = 0; i < node_count; i++) cpu -= cpu_of(nodes[i]);
  atomic_store(&shared->has_begun, true);
  sleep((unsigned)seconds);
  atomic_store(&shared->is_over, true);
  double length = now() - start;
  for (int i = 0; i < node_count; i++) cpu += cpu_of(nodes[i]);
  bool has_failed = waitpid(-1, &failed, WNOHANG) != 0;
  for (int i = 0; i < node_count; i++) kill(nodes[i], SIGKILL);
  while (wait(NULL) > 0) {}
  long counted = atomic_load(&shared->counted), all = atomic_load(&shared->messages);
  if (has_failed || !counted) fail("a node", "it has ended, or nothing was stored");
  printf("{\"messages\":%ld,\"allMessages\":%ld,\"messagesPerSecond\":%.1f,\"cpuEachUs\":%.2f,\"framesEach\":%.3f,"
         "\"bytesEach\":%.0f,\"messagesPerTransaction\":%.2f,\"latencyMs\":{\"p50\":%.2f,\"p99\":%.2f}}\n",
         counted, all, (double)counted / length, 1e6 * cpu / (double)counted,
         (double)atomic_load(&shared->frames) / (double)all, (double)atomic_load(&shared->bytes) / (double)all,
         (double)all / (double)atomic_load(&shared->transactions), quantile(0.5), quantile(0.99));
  return 0;
}
