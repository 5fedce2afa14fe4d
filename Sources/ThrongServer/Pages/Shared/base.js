// Helpers of both pages. Texts from the network become text nodes and attribute values: nothing is
// ever parsed as HTML.

/** An element with attributes (`on…` are listeners; false, null and undefined are left out) and children, nodes or text. */
function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else made.setAttribute(name, value === true ? "" : String(value));
  }
  made.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A stretch of text with a class. */
function styled(kind, ...children) {
  return element("span", { class: kind }, ...children);
}

/** The element with this id. */
function byID(id) {
  return document.getElementById(id);
}

/** Shows words in their place; no words hide it. */
function say(id, words) {
  byID(id).textContent = words;
  byID(id).hidden = !words;
}

const twoDigits = (number) => String(number).padStart(2, "0");

/** The time of a day: 09:05. */
function clock(milliseconds) {
  const date = new Date(milliseconds);
  return `${twoDigits(date.getHours())}:${twoDigits(date.getMinutes())}`;
}

/** The day of an instant: 21 Nov 2026. */
function day(milliseconds) {
  return new Date(milliseconds).toLocaleDateString("en-GB", { day: "numeric", month: "short", year: "numeric" });
}

/** Day and time; a dash for 0, which is no instant. */
function moment(milliseconds) {
  return milliseconds ? `${day(milliseconds)}, ${clock(milliseconds)}` : "–";
}

/** A duration in its two largest units: 3 d 4 h. */
function duration(seconds) {
  const parts = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]].map(([size, unit], index, sizes) => {
    const above = index === 0 ? Infinity : sizes[index - 1][0];
    return [Math.floor((seconds % above) / size), unit];
  });
  const first = parts.findIndex(([count]) => count > 0);
  if (first < 0) return "0 s";
  return parts.slice(first, first + 2).filter(([count]) => count > 0).map(([count, unit]) => `${count} ${unit}`).join(" ");
}

/** One of a field's input elements, filled in. */
function inputFor(field, id) {
  const attributes = { id, name: field.name, required: field.required, placeholder: field.placeholder };
  if (field.options) {
    const options = field.options.map(([value, text]) => element("option", { value, selected: value === field.value }, text));
    return element("select", attributes, options);
  }
  const input = field.lines
    ? element("textarea", { ...attributes, rows: field.lines })
    : element("input", { ...attributes, type: field.type ?? "text", min: field.min, autocomplete: "off", spellcheck: "false" });
  input.value = field.value ?? "";
  return input;
}

/**
 * Asks in a dialog, and does it: `run` gets the values of the fields and may refuse by throwing; its message is shown and the
 * dialog stays. Resolves to whether it was done.
 */
function ask({ title, text, fields = [], action, danger = false, run }) {
  const fault = element("p", { class: "fault", role: "alert", hidden: true });
  const confirm = element("button", { type: "submit", class: danger ? "primary danger" : "primary" }, action);
  const cancel = element("button", { type: "button", onclick: () => dialog.close() }, "Cancel");
  const rows = fields.map((field) => {
    const id = `ask-${field.name}`;
    const hint = field.hint ? element("p", { class: "hint" }, field.hint) : null;
    return element("div", { class: "field" }, element("label", { for: id }, field.label), inputFor(field, id), hint);
  });
  const form = element("form", { class: "stack" },
    element("h2", { id: "ask-title" }, title), text && element("p", {}, text), rows, fault,
    element("footer", {}, cancel, confirm));
  const dialog = element("dialog", { "aria-labelledby": "ask-title" }, form);
  let done = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    confirm.disabled = true;
    fault.hidden = true;
    try {
      await run(Object.fromEntries(new FormData(form)));
      done = true;
      dialog.close();
    } catch (error) {
      fault.textContent = error.message;
      fault.hidden = false;
      confirm.disabled = false;
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  if (danger && fields.length === 0) cancel.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      resolve(done);
    });
  });
}
