// A live trace of one user or group: names, codes and sizes, never contents.

/** The trace that is shown; undefined = none. */
let trace;

async function beginTrace(event) {
  event.preventDefault();
  const kind = byID("trace-kind").value;
  const name = byID("trace-id").value.trim();
  await endTrace();
  try {
    const duration = Number(byID("trace-duration").value);
    const { traceID, endTime } = await act("trace", { [kind]: name, duration });
    trace = { id: traceID, next: 0, endTime, name, shown: 0 };
    byID("trace-entries").tBodies[0].replaceChildren();
    say("trace-fault", "");
  } catch (error) {
    say("trace-fault", error.message);
  }
  showTraceState();
}

async function endTrace() {
  if (!trace) return;
  const ended = trace;
  trace = undefined;
  showTraceState(ended);
  try {
    await act("endTrace", { traceID: ended.id });
  } catch (error) {
    say("trace-fault", error.message);
  }
}

/** Reads what is new, until there is no more of it at the moment. */
async function refreshTrace() {
  const reading = trace;
  if (!reading || reading.isReading) return;
  reading.isReading = true;
  try {
    let page;
    do {
      page = await rpc("getTrace", { traceID: reading.id, nextSeq: reading.next, count: 200 });
      // Another trace was begun meanwhile.
      if (trace !== reading) return;
      for (const entry of page.entryList) byID("trace-entries").tBodies[0].prepend(traceRow(entry));
      reading.shown += page.entryList.length;
      reading.lost = page.lost;
      reading.next = page.nextSeq;
    } while (page.entryList.length === 200 && page.nextSeq !== 0);
    const rows = byID("trace-entries").tBodies[0].rows;
    while (rows.length > 500) rows[rows.length - 1].remove();
    if (page.nextSeq === 0) trace = undefined;
  } catch (error) {
    say("trace-fault", error.message);
    if (trace === reading) trace = undefined;
  } finally {
    reading.isReading = false;
  }
  showTraceState(reading);
}

function showTraceState(last = trace) {
  byID("trace-end").hidden = !trace;
  byID("trace-table").hidden = !last && byID("trace-entries").tBodies[0].rows.length === 0;
  if (trace) {
    const left = Math.max(0, Math.ceil((trace.endTime - Date.now()) / 1000));
    byID("trace-state").textContent = `Tracing ${trace.name}, ${duration(left)} left; ${trace.shown} noted`
      + (trace.lost ? `, ${trace.lost} lost` : "");
  } else {
    byID("trace-state").textContent = last ? `The trace of ${last.name} has ended; ${last.shown} noted.` : "";
  }
}

const exactTime = (time) => new Date(time).toISOString().slice(11, 23);

function traceRow({ time, kind, name, userID, groupID, sessionID, code, bytes, microseconds, unknownParameters }) {
  const cell = (label, text) => text ? element("td", { "data-label": label }, text) : element("td");
  const isBad = kind === "request" ? code !== 0 : kind === "close" && code !== 1000;
  return element("tr", {},
    element("td", { class: "numeric stamp" }, exactTime(time)),
    element("td", {}, styled(kind === "event" ? "badge" : "badge accent", kind), " ", name, " ",
      code !== undefined && (kind === "close" || code !== 0) && styled(isBad ? "badge warning" : "badge", code),
      unknownParameters && element("span", { class: "sub" }, `unknown parameters: ${unknownParameters}`)),
    element("td", {}, userID && element("a", { href: userAddress(userID) }, userID), " ",
      groupID && element("a", { href: groupAddress(groupID) }, groupID), sessionID && element("code", { class: "sub" }, sessionID)),
    cell("took", microseconds !== undefined && `${(microseconds / 1000).toFixed(2)} ms`),
    cell("size", bytes !== undefined && `${bytes.toLocaleString("en-US")} B`));
}

/** Fills in the name that the address has, such as `#trace/user/alice`. */
function showTrace(name) {
  const [kind, ...rest] = name.split("/");
  if (rest.length > 0) {
    byID("trace-kind").value = kind === "group" ? "groupID" : "userID";
    byID("trace-id").value = rest.join("/");
  }
  showTraceState();
}
