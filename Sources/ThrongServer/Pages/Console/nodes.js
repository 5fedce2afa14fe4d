// The nodes of a cluster and their shards. A server that is alone shows nothing of it.

const isClustered = () => lastMetrics?.samples.has("throng_cluster_nodes") ?? false;

/** Reads the nodes, which the database knows: it may be away. */
async function refreshNodes() {
  byID("nodes").hidden = !isClustered();
  if (!isClustered()) return;
  const response = await fetch("/cluster", { cache: "no-store" });
  const place = byID("nodes-list");
  if (!response.ok) {
    place.replaceChildren(element("p", { class: "fault" }, (await response.text()).trim()));
    return;
  }
  const { nodes, shardsWithoutOwner } = await response.json();
  if (!credential) return;
  place.replaceChildren(
    nodeTable(nodes),
    element("p", { id: "ownerless", class: shardsWithoutOwner > 0 ? "fault" : "quiet" },
      shardsWithoutOwner > 0 ? `${shardsWithoutOwner} shards have no owner.` : "Every shard has an owner."));
}

function nodeTable(nodes) {
  const head = element("thead", {}, element("tr", {},
    ...["Node", "Internal address", "Release"].map((name) => element("th", {}, name)),
    ...["Shards", "Sign of life"].map((name) => element("th", { class: "end" }, name)), element("th", {}, "State")));
  return element("table", {}, head, element("tbody", {}, nodes.map(nodeRow)));
}

function nodeRow({ number, name, address, release, shards, heartbeatAgeMs, isDraining, isOwn }) {
  return element("tr", {},
    element("td", {}, name, element("span", { class: "sub" }, `node ${number}${isOwn ? ", which answers here" : ""}`)),
    element("td", { "data-label": "address" }, element("code", {}, address)),
    element("td", { "data-label": "release" }, release),
    element("td", { class: "end", "data-label": "shards" }, shards.toLocaleString("en-US")),
    element("td", { class: "end", "data-label": "sign of life" }, `${(heartbeatAgeMs / 1000).toFixed(1)} s ago`),
    element("td", {}, styled(isDraining ? "badge warning" : "badge accent", isDraining ? "draining" : "serving")));
}
