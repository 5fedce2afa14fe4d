// The list of what was done here, and what came of it.

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
  return Object.keys(result).length > 0 ? shownJSON(result) : "done";
}

function note(words, end, isBad) {
  const line = () => [`${words} `, styled(isBad ? "bad" : "good", `→ ${end}`)];
  byID("latest").replaceChildren(...line());
  const time = element("time", { class: "quiet numeric" }, clock(Date.now()));
  byID("entries").prepend(element("li", {}, time, styled("wrap", line())));
  if (byID("entries").children.length > longestLog) byID("entries").lastChild.remove();
}
