// What the server is set to: its limits and what its types of group allow. Both are read only here.

async function showServer() {
  say("server-fault", "");
  const { version, protocol, limits, groupTypes } = await rpc("getServerInfo");
  if (!credential) return;
  byID("server-version").textContent = `Throng ${version}, protocol ${protocol}`;
  const row = ([key, value]) => element("tr", {},
    element("td", {}, element("code", {}, key)), element("td", { class: "end" }, value.toLocaleString("en-US")));
  byID("limits").replaceChildren(tableOf(Object.entries(limits).map(row), "None"));
  byID("types").replaceChildren(typeTable(groupTypes, "rights"), typeTable(groupTypes, "policy"));
}

/** A table of the group types side by side: the least role of each right, or each policy and whether a group may change it. */
function typeTable(groupTypes, part) {
  const names = [...new Set(groupTypes.flatMap((type) => Object.keys(type[part] ?? {})))];
  const head = element("thead", {}, element("tr", {},
    element("th", {}, part === "rights" ? "Least role" : "Policy"), groupTypes.map(({ groupType }) => element("th", {}, groupType))));
  const rows = names.map((name) => element("tr", {},
    element("td", {}, element("code", {}, name)),
    groupTypes.map((type) => element("td", { "data-label": type.groupType }, typeWords(type[part]?.[name])))));
  return element("table", {}, head, element("tbody", {}, rows));
}

function typeWords(value) {
  if (value === undefined) return "–";
  if (typeof value !== "object") return String(value);
  return [String(value.default), value.settable && styled("sub", "a group may change it")];
}
