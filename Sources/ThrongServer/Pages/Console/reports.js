// Reports of messages: each with the message as it was, and what can be done about it.

let shownReports = "Open";

async function showReports() {
  say("reports-fault", "");
  byID("reports-state-filter").value = shownReports;
  const state = shownReports;
  await showPages(byID("reports-list"), state === "Open" ? "None is open." : "None is closed.", async (nextSeq = 0) => {
    const page = await rpc("listReports", { state, nextSeq, count: 20 });
    const people = page.reportList.flatMap(({ reporter, message: { sender } }) => [reporter, sender]);
    const names = await nickNames([...new Set(people)].filter(isUserID));
    return { rows: page.reportList.map((report) => reportRow(report, names)), next: page.nextSeq || undefined };
  });
}

function reportRow(report, names) {
  const { groupID, reporter, message, category, text, time, note } = report;
  const said = [category && styled("badge", chosenText(category)), text && [" ", chosenText(text)]];
  return element("tr", {},
    element("td", { class: "stamp" }, moment(time), element("a", { class: "sub", href: groupAddress(groupID) }, groupID)),
    element("td", {}, element("div", { class: "sender" }, senderName(message)),
      styled("message-text", ...contentWords(message)), styled("sub", moment(message.timestamp))),
    element("td", { "data-label": "reported by" }, userName({ userID: reporter, nickName: names.get(reporter) }), said,
      note && styled("sub", "Note: ", chosenText(note))),
    element("td", { class: "end" }, element("div", { class: "acts" }, reportActs(report))));
}

/** What an administrator does about a report. An administrator's own message has no user behind it. */
function reportActs(report) {
  const { groupID, message: { sender }, state } = report;
  const onUser = isUserID(sender) ? [
    smallButton("Mute", () => muteMember(groupID, sender)), smallButton("Remove or ban", () => removeMember(groupID, sender), "danger"),
    smallButton("Block", () => block(sender), "danger"),
  ] : [];
  return [
    smallButton("Take away", () => takeAway(report), "danger"), ...onUser,
    smallButton(state === "Open" ? "Close" : "Change the note", () => closeReport(report)),
  ];
}

/** A message of a live room is known by its ID alone where it had no place yet. */
function takeAway({ groupID, message: { seq, msgID, sender } }) {
  return changeGroup({
    title: "Take this message away?", action: "Take away", danger: true,
    text: `The message of ${sender} loses its content for everybody in ${groupID}. The report keeps it.`,
    run: () => act("revokeGroupMessage", seq === undefined ? { groupID, msgID } : { groupID, seq }),
  });
}

function closeReport({ reportID, note = "" }) {
  return changeGroup({
    title: "Close this report?", action: "Close",
    text: "It stands among the closed ones until reports.retention is over. Nobody is told.",
    fields: [{ name: "note", label: "Note", value: note, placeholder: "none", hint: "For those who look at it later." }],
    run: (fields) => act("closeReport", given({ reportID, note: fields.note.trim() })),
  });
}
