// The counters of the group that is shown.

async function showCounters({ groupID }) {
  const place = byID("counters");
  try {
    const { counters } = await rpc("getGroupCounters", { groupID });
    const rows = Object.entries(counters).map(([key, value]) => counterRow(groupID, key, value));
    place.replaceChildren(tableOf(rows, "None"), smallButton("Set a counter", () => setCounter(groupID)));
  } catch (error) {
    place.replaceChildren(element("p", { class: "empty" }, error.message));
  }
}

function counterRow(groupID, key, value) {
  const acts = [
    smallButton("Set", () => setCounter(groupID, key, value)), smallButton("Remove", () => removeCounter(groupID, key), "danger"),
  ];
  return element("tr", {},
    element("td", {}, element("code", {}, key)), element("td", { class: "end numeric" }, value.toLocaleString("en")),
    element("td", { class: "end" }, element("div", { class: "acts" }, acts)));
}

function setCounter(groupID, key, value = 0) {
  return changeGroup({
    title: key ? `Set ${key}` : "Set a counter", action: "Set", text: "Members are told of the new value.",
    fields: [
      ...(key ? [] : [{ name: "key", label: "Key", required: true, hint: "Letters, digits and _, at most 32." }]),
      { name: "value", label: "Value", type: "number", value: String(value), required: true },
    ],
    run: (fields) => act("setGroupCounters", { groupID, counters: { [key ?? fields.key]: Number(fields.value) } }),
  });
}

function removeCounter(groupID, key) {
  return changeGroup({
    title: `Remove ${key}?`, action: "Remove", danger: true, text: "It is gone for everybody; the next increment starts at 0.",
    run: () => act("setGroupCounters", { groupID, counters: { [key]: null } }),
  });
}
