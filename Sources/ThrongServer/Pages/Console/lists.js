// Tables that are read page by page.

/** A small button of a row. */
function smallButton(words, onclick, kind = "") {
  return element("button", { type: "button", class: `small plain ${kind}`, onclick }, words);
}

/** A table of rows, or a word where there are none. */
function tableOf(rows, empty) {
  return rows.length > 0 ? element("table", {}, element("tbody", {}, rows)) : element("p", { class: "empty" }, empty);
}

/** The last question that each place was filled for. */
const turns = new Map();

/**
 * A list in pages: `read(undefined or the last page's next)` gives `{rows, next}`, where `next` is undefined at the end. What
 * is refused is said in the list's place. `tell` hears how many rows there are, and whether more may follow.
 */
async function showPages(place, empty, read, tell = () => {}) {
  const turn = {};
  turns.set(place, turn);
  const fill = async (from, rows) => {
    const page = await read(from);
    // An answer that comes late must not replace that of a later question.
    if (turns.get(place) !== turn) return;
    const all = [...rows, ...page.rows];
    const more = page.next === undefined ? [] : [smallButton("More", () => guarded(() => fill(page.next, all)))];
    place.replaceChildren(tableOf(all, page.next === undefined ? empty : "None so far."), ...more);
    tell(all.length, page.next !== undefined);
  };
  const guarded = async (step) => {
    try {
      await step();
    } catch (error) {
      if (turns.get(place) === turn) place.replaceChildren(element("p", { class: "empty" }, error.message));
    }
  };
  await guarded(() => fill(undefined, []));
}
