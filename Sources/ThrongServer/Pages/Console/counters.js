// The counters of the group that is shown.

async function showCounters({ groupID }) {
  const place = byID("counters");
  const reading = groupReads;
  try {
    const { counters } = await rpc("getGroupCounters", { groupID });
    if (reading === groupReads) drawCounters(groupID, counters);
  } catch (error) {
    if (reading === groupReads) place.replaceChildren(element("p", { class: "empty" }, error.message));
  }
}

function drawCounters(groupID, counters) {
  const rows = Object.entries(counters).map(([key, value]) => counterRow(groupID, key, value));
  byID("counters").dataset.group = groupID;
  byID("counters").replaceChildren(tableOf(rows, "None"), smallButton("Set a counter", () => setCounter(groupID)));
}

/** Reads the counters again. Those that are shown get their new values, and keep their buttons and the focus. */
async function refreshCounters(groupID, isLate) {
  const { counters } = await rpc("getGroupCounters", { groupID });
  if (isLate()) return;
  const rows = [...byID("counters").querySelectorAll("tr")];
  const keys = Object.keys(counters);
  const areSame = byID("counters").dataset.group === groupID && rows.length === keys.length
    && rows.every((row, index) => row.dataset.counter === keys[index]);
  if (!areSame) return drawCounters(groupID, counters);
  for (const row of rows) {
    row.dataset.value = counters[row.dataset.counter];
    row.querySelector(".numeric").textContent = counterWords(counters[row.dataset.counter]);
  }
}

const counterWords = (value) => value.toLocaleString("en");

function counterRow(groupID, key, value) {
  const acts = [
    smallButton("Set", () => setCounter(groupID, key, row.dataset.value)),
    smallButton("Remove", () => removeCounter(groupID, key), "danger"),
  ];
  const row = element("tr", { "data-counter": key, "data-value": value },
    element("td", {}, element("code", {}, key)), element("td", { class: "end numeric" }, counterWords(value)),
    element("td", { class: "end" }, element("div", { class: "acts" }, acts)));
  return row;
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
