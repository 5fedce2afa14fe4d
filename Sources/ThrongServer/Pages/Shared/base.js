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
  made.append(...present(children));
  return made;
}

/** The children that are there, of lists in lists. */
function present(children) {
  return children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false && child !== "");
}

/** A text that people chose, as a part of others' words: nothing in it turns the words around it (U+202E). */
function chosenText(text) {
  let isolates = 0;
  // A U+2069 that ends no isolate of the text itself would end that of its element, and let its directions out.
  const contained = String(text).replace(/[\u2066-\u2069]/g, (character) => {
    if (character !== "\u2069") isolates += 1;
    else if (isolates === 0) return "";
    else isolates -= 1;
    return character;
  });
  return element("bdi", {}, contained);
}

/** Letters that are written from right to left, by their blocks (DerivedBidiClass of Unicode), and marks like them. */
const rightToLeft = /[\u0590-\u08ff\u200f\ufb1d-\ufdff\ufe70-\ufefc\u{10800}-\u{10fff}\u{1e800}-\u{1efff}]/u;

/**
 * A text that people chose, as a part of an attribute or a title: without the characters that turn texts around, and
 * between U+2068 and U+2069 where its own letters would.
 */
function plainText(text) {
  const plain = String(text).replace(/[\u202a-\u202e\u2066-\u2069]/g, "");
  return rightToLeft.test(plain) ? `\u2068${plain}\u2069` : plain;
}

/** A template whose values may be elements, as children of an element: phrase`${chosenText(name)} left`. */
function phrase(texts, ...values) {
  return texts.flatMap((text, index) => (index === 0 ? [text] : [values[index - 1], text]));
}

/** The text of children. */
function textOfChildren(children) {
  return present([children]).map((child) => child.textContent ?? String(child)).join("");
}

/** JSON in which no character turns the text around, or is invisible. */
function shownJSON(value, indent) {
  const escaped = (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return JSON.stringify(value, null, indent).replace(/[\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g, escaped);
}

/** The nodes of a place as these are: what is equal stays, and with it the focus and what has been read aloud. */
function renew(place, nodes) {
  while (place.childNodes.length > nodes.length) place.lastChild.remove();
  nodes.forEach((node, index) => {
    const old = place.childNodes[index];
    if (!old) place.append(node);
    else if (!old.isEqualNode(node)) old.replaceWith(node);
  });
}

/**
 * Makes a place anew. Where that removes the element that has the focus, the one with the same `data-key` gets it, in the
 * part with the same `data-id` where there are such, or the first with a key there.
 */
function keepingFocus(place, change) {
  const { activeElement } = document;
  const key = place.contains(activeElement) ? activeElement.dataset.key : undefined;
  const id = activeElement?.closest("[data-id]")?.dataset.id;
  change();
  if (key === undefined || place.contains(document.activeElement)) return;
  const part = id === undefined ? place : [...place.querySelectorAll("[data-id]")].find((one) => one.dataset.id === id);
  const buttons = [...(part?.querySelectorAll("[data-key]") ?? [])];
  (buttons.find((button) => button.dataset.key === key) ?? buttons[0])?.focus();
}

/** A stretch of text with a class. */
function styled(kind, ...children) {
  return element("span", { class: kind }, ...children);
}

/** The element with this id. */
function byID(id) {
  return document.getElementById(id);
}

/** Shows words, or children, in their place; no words hide it. The same words are not read aloud again. */
function say(id, words) {
  const place = byID(id);
  const text = textOfChildren(words);
  if (place.textContent !== text) place.replaceChildren(...present([words]));
  place.hidden = !text;
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

/** Enter sends what is written in several lines, Shift and Enter begins a line. */
function sendByEnter(event) {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
  event.preventDefault();
  event.target.form.requestSubmit();
}

/** A button that is at work keeps the focus, which a disabled one loses. */
function setBusy(button, isBusyNow) {
  button.setAttribute("aria-disabled", isBusyNow);
}

const isBusy = (button) => button.getAttribute("aria-disabled") === "true";

/**
 * Notes which element has the focus; the answer gives it back where it is lost: to that element as it was made anew
 * meanwhile, or else to the title of the part that is shown.
 */
function rememberFocus() {
  const { activeElement } = document;
  const { key } = activeElement?.dataset ?? {};
  const id = activeElement?.closest("[data-id]")?.dataset.id;
  return () => {
    if (document.activeElement && document.activeElement !== document.body) return;
    const isKnown = key !== undefined && id !== undefined;
    const again = isKnown && document.querySelector(`[data-id="${CSS.escape(id)}"] [data-key="${CSS.escape(key)}"]`);
    (again || [...document.querySelectorAll("h2[tabindex]")].find((title) => title.checkVisibility()))?.focus();
  };
}

/** One of a field's input elements, filled in. */
function inputFor(field, id) {
  const attributes = { id, name: field.name, required: field.required, placeholder: field.placeholder };
  if (field.options) {
    const options = field.options.map(([value, text]) => element("option", { value, selected: value === field.value }, text));
    return element("select", attributes, options);
  }
  const input = field.lines
    ? element("textarea", { ...attributes, rows: field.lines, dir: "auto", onkeydown: field.isSentByEnter ? sendByEnter : null })
    : element("input", { ...attributes, type: field.type ?? "text", min: field.min, autocomplete: "off", spellcheck: "false" });
  input.value = field.value ?? "";
  return input;
}

/**
 * Asks in a dialog, and does it: `run` gets the values of the fields and may refuse by throwing; its message is shown and the
 * dialog stays. `cancel` null: there is nothing to decide. Enter submits, also in the lines of a field with `isSentByEnter`.
 * Resolves to whether it was done.
 */
function ask({ title, text, fields = [], action, danger = false, cancel: cancelWords = "Cancel", run }) {
  const giveFocusBack = rememberFocus();
  const fault = element("p", { class: "fault", role: "alert", hidden: true });
  const confirm = element("button", { type: "submit", class: danger ? "primary danger" : "primary" }, action);
  const cancel = cancelWords && element("button", { type: "button", onclick: () => dialog.close() }, cancelWords);
  const rows = fields.map((field) => {
    const id = `ask-${field.name}`;
    const hint = field.hint ? element("p", { class: "hint" }, field.hint) : null;
    return element("div", { class: "field" }, element("label", { for: id }, field.label), inputFor(field, id), hint);
  });
  const form = element("form", { class: "stack" },
    element("h2", { id: "ask-title" }, title), text && element("p", { id: "ask-text", class: "wrap" }, text), rows, fault,
    element("footer", {}, cancel, confirm));
  const dialog = element("dialog", { "aria-labelledby": "ask-title", "aria-describedby": text ? "ask-text" : null }, form);
  let done = false;
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    if (isBusy(confirm)) return;
    setBusy(confirm, true);
    fault.hidden = true;
    try {
      await run(Object.fromEntries(new FormData(form)));
      done = true;
      dialog.close();
    } catch (error) {
      fault.textContent = error.message;
      fault.dataset.about = error.about ?? "";
      fault.hidden = false;
      setBusy(confirm, false);
    }
  });
  document.body.append(dialog);
  dialog.showModal();
  if (danger && fields.length === 0) cancel?.focus();
  return new Promise((resolve) => {
    dialog.addEventListener("close", () => {
      dialog.remove();
      giveFocusBack();
      resolve(done);
    });
  });
}
