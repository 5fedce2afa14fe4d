// The server's metrics, of all nodes of a cluster, read every two seconds while the overview is shown: what has happened
// between two readings.

const metricsInterval = 2000;
/** Five minutes of points. */
const longestSeries = 150;

/** The samples of a text of Prometheus: by name, each with its labels and its value. */
function parseMetrics(text) {
  const samples = new Map();
  for (const line of text.split("\n")) {
    const match = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (\S+)$/.exec(line);
    if (!match) continue;
    const [, name, inside = "", number] = match;
    const labels = {};
    for (const [, label, value] of inside.matchAll(/([a-zA-Z_]\w*)="((?:[^"\\]|\\.)*)"/g)) {
      labels[label] = value.replace(/\\(.)/g, (_, escaped) => (escaped === "n" ? "\n" : escaped));
    }
    if (!samples.has(name)) samples.set(name, []);
    samples.get(name).push({ labels, value: number === "+Inf" ? Infinity : Number(number) });
  }
  return samples;
}

/** The sum of the samples with these labels. */
function total(samples, name, wanted = {}) {
  let sum = 0;
  for (const { labels, value } of samples.get(name) ?? []) {
    if (Object.entries(wanted).every(([label, text]) => labels[label] === text)) sum += value;
  }
  return sum;
}

/** The sums of the samples, by the node's number and a key; those without a key are left out. */
function sums(samples, name, keyOf) {
  const found = new Map();
  for (const { labels, value } of samples.get(name) ?? []) {
    const key = keyOf(labels);
    if (key === undefined) continue;
    const ofNode = found.get(labels.instance) ?? new Map();
    ofNode.set(key, (ofNode.get(key) ?? 0) + value);
    found.set(labels.instance, ofNode);
  }
  return found;
}

const nodesOf = (samples) => new Set((samples.get("throng_ready") ?? []).map(({ labels }) => labels.instance));

/** How much counters have grown, by a key. One that begins anew counts from zero; a node that has just come does not count. */
function growths({ before, now }, name, keyOf) {
  const known = nodesOf(before);
  const earlier = sums(before, name, keyOf);
  const grown = new Map();
  for (const [node, ofNode] of sums(now, name, keyOf)) {
    if (!known.has(node)) continue;
    for (const [key, value] of ofNode) {
      const was = earlier.get(node)?.get(key) ?? 0;
      grown.set(key, (grown.get(key) ?? 0) + (value >= was ? value - was : value));
    }
  }
  return grown;
}

/** How much a counter has grown in a second. */
function rate(interval, name, wanted = {}) {
  const isWanted = (labels) => Object.entries(wanted).every(([label, text]) => labels[label] === text);
  return (growths(interval, name, (labels) => (isWanted(labels) ? "all" : undefined)).get("all") ?? 0) / interval.seconds;
}

/** A quantile of a histogram's observations in between, as Prometheus estimates it; undefined where there was none. */
function quantile(interval, part, name, isWanted = () => true) {
  const boundOf = (labels) => (labels.le === "+Inf" ? Infinity : Number(labels.le));
  const counts = growths(interval, `${name}_bucket`, (labels) => (isWanted(labels) ? boundOf(labels) : undefined));
  const buckets = [...counts].sort(([a], [b]) => a - b);
  const all = buckets.at(-1)?.[1] ?? 0;
  if (all === 0) return undefined;
  const rank = part * all;
  let [lowerBound, lowerCount] = [0, 0];
  for (const [bound, count] of buckets) {
    if (count >= rank) {
      if (bound === Infinity) return lowerBound;
      return lowerBound + (bound - lowerBound) * (count > lowerCount ? (rank - lowerCount) / (count - lowerCount) : 1);
    }
    [lowerBound, lowerCount] = [bound, count];
  }
  return lowerBound;
}

const sends = new Set(["sendGroupTextMessage", "sendGroupCustomMessage"]);
const milliseconds = (value) => value === undefined ? undefined : value * 1000;

/** The charts: each line has a name and its value of an interval. */
const charts = [
  {
    id: "connections", title: "Connections", lines: [
      ["connections", ({ now }) => total(now, "throng_connections")], ["sessions", ({ now }) => total(now, "throng_sessions")],
    ],
  },
  {
    id: "messages", title: "Messages in", unit: "/s", lines: [
      ["accepted", (interval) => rate(interval, "throng_messages_accepted_total")],
      ["delivered", (interval) => rate(interval, "throng_messages_delivered_total")],
    ],
  },
  {
    id: "deliveries", title: "Messages out", unit: "/s",
    lines: [["deliveries", (interval) => rate(interval, "throng_fanout_deliveries_total")]],
  },
  {
    id: "sends", title: "Time of a send", unit: " ms", lines: [
      ["p99", (interval) =>
        milliseconds(quantile(interval, 0.99, "throng_request_duration_seconds", ({ method }) => sends.has(method)))],
      ["p50", (interval) =>
        milliseconds(quantile(interval, 0.5, "throng_request_duration_seconds", ({ method }) => sends.has(method)))],
    ],
  },
  {
    id: "drops", title: "Dropped, by priority", unit: "/s",
    lines: ["High", "Normal", "Low", "Lowest"].map((priority) =>
      [priority, (interval) => rate(interval, "throng_messages_dropped_total", { priority })]),
  },
  {
    id: "lag", title: "Loop lag", unit: " ms", lines: [
      ["p99", (interval) => milliseconds(quantile(interval, 0.99, "throng_loop_lag_seconds"))],
    ],
  },
  {
    id: "commits", title: "Time of a commit", unit: " ms", lines: [
      ["p99", (interval) => milliseconds(quantile(interval, 0.99, "throng_store_commit_duration_seconds"))],
    ],
  },
  { id: "webhooks", title: "Webhooks pending", lines: [["pending", ({ now }) => total(now, "throng_webhooks_pending")]] },
  { id: "nodes", title: "Nodes that answer", metric: "throng_cluster_nodes", lines: [["nodes", ({ now }) => nodesOf(now).size]] },
  {
    id: "shards", title: "Shards with an owner", metric: "throng_cluster_shards",
    lines: [["shards", ({ now }) => total(now, "throng_cluster_shards")]],
  },
  {
    id: "bus", title: "Messages between nodes", unit: "/s", metric: "throng_bus_messages_total",
    lines: ["published", "received"].map((direction) =>
      [direction, (interval) => rate(interval, "throng_bus_messages_total", { direction })]),
  },
];

/** Charts of a cluster are for servers that measure it. */
const isMeasured = ({ metric }) => !metric || (lastMetrics?.samples.has(metric) ?? false);

/** The values of each chart's lines, the newest last; undefined where nothing was measured. */
let series = new Map();
let lastMetrics;

/** Reads the metrics, and adds a point to each line. */
async function readMetrics() {
  const response = await fetch("/metrics?nodes=all", { cache: "no-store" });
  if (!response.ok) throw new Error(`The metrics cannot be read: HTTP ${response.status}`);
  const now = { at: performance.now(), samples: parseMetrics(await response.text()) };
  const before = lastMetrics;
  // Rates of an instant say nothing: the reader has come back to this part in between.
  if (before && now.at - before.at < metricsInterval / 2) return;
  lastMetrics = now;
  // After a pause the difference says nothing about a second of it.
  if (!before || now.at - before.at > 10 * metricsInterval) {
    series = new Map();
    return;
  }
  const interval = { before: before.samples, now: now.samples, seconds: Math.max(0.001, (now.at - before.at) / 1000) };
  for (const { id, lines } of charts) {
    const points = series.get(id) ?? lines.map(() => []);
    lines.forEach(([, read], index) => {
      points[index].push(read(interval));
      if (points[index].length > longestSeries) points[index].shift();
    });
    series.set(id, points);
  }
}
