// What was done here, and what came of it.

const longestLog = 100;

/** Calls a method that changes something, and writes down what came of it. Throws what `rpc` throws. */
async function act(method, params) {
  const words = [method, params.groupID, params.userID ?? params.userIDList?.join(", ")].filter(Boolean).join(" ");
  try {
    const result = await rpc(method, params);
    note(words, outcome(result), false);
    return result;
  } catch (error) {
    note(words, error.message, true);
    throw error;
  }
}

/** A bulk method succeeds as a whole even if it does nothing: its rows say what happened. */
function outcome(result) {
  const rows = result.memberList?.map(({ userID, result: row }) => `${userID}: ${row}`);
  if (rows?.length > 0) return rows.join(", ");
  return Object.keys(result).length > 0 ? JSON.stringify(result) : "done";
}

function note(words, end, isBad) {
  const line = () => [`${words} `, element("span", { class: isBad ? "bad" : "good" }, `→ ${end}`)];
  byID("latest").replaceChildren(...line());
  const time = element("time", { class: "quiet numeric" }, clock(Date.now()));
  byID("entries").prepend(element("li", {}, time, element("span", { class: "wrap" }, line())));
  if (byID("entries").children.length > longestLog) byID("entries").lastChild.remove();
}

/** A small button of a row. */
function smallButton(words, onclick, kind = "") {
  return element("button", { type: "button", class: `small plain ${kind}`, onclick }, words);
}

/** A table of rows, or a word where there are none. */
function tableOf(rows, empty) {
  return rows.length > 0 ? element("table", {}, element("tbody", {}, rows)) : element("p", { class: "empty" }, empty);
}

/**
 * A list in pages: `read(nextSeq or undefined)` gives `{rows, next}`, where `next` is undefined at the end. What is refused
 * is said in the list's place.
 */
async function showPages(place, empty, read) {
  const fill = async (from, rows) => {
    const page = await read(from);
    const all = [...rows, ...page.rows];
    const more = page.next === undefined ? [] : [smallButton("More", () => guarded(() => fill(page.next, all)))];
    place.replaceChildren(tableOf(all, empty), ...more);
  };
  const guarded = async (step) => {
    try {
      await step();
    } catch (error) {
      place.replaceChildren(element("p", { class: "empty" }, error.message));
    }
  };
  await guarded(() => fill(undefined, []));
}
