// What the keyboard does beyond Tab and Enter: arrow keys within lists and menus, Escape out of what is open.

const steps = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** Goes from one button of a list or menu to another; `data-arrows` selects those that are meant. */
function moveByArrows(event) {
  const place = event.target.closest?.("[data-arrows]");
  if (!place || event.altKey || event.ctrlKey || event.metaKey) return;
  const isThere = (button) => button.checkVisibility() && !button.disabled;
  const buttons = [...place.querySelectorAll(place.dataset.arrows)].filter(isThere);
  const index = buttons.indexOf(event.target);
  if (index < 0) return;
  const isVertical = event.key === "ArrowUp" || event.key === "ArrowDown";
  const columns = "isGrid" in place.dataset ? getComputedStyle(place).gridTemplateColumns.split(" ").length : 1;
  const step = (steps[event.key] ?? 0) * (isVertical ? columns : 1);
  const next = event.key === "Home" ? 0 : event.key === "End" ? buttons.length - 1 : step !== 0 ? index + step : undefined;
  if (next === undefined) return;
  event.preventDefault();
  buttons[Math.max(0, Math.min(buttons.length - 1, next))].focus();
}

/** Closes the nearest thing that is open, and goes back to where it was opened. */
function escape(event) {
  const { target } = event;
  if (event.defaultPrevented || target.closest("dialog")) return;
  const pins = target.closest("#pins[open]");
  if (chat.current?.timeline.isMenuOpen) {
    chat.current.timeline.close();
  } else if (openMember !== null) {
    toggleMember(openMember);
  } else if (pins) {
    pins.open = false;
    pins.querySelector("summary").focus();
  } else if (chat.current && areMembersOpen && !wide.matches) {
    byID("close-members").click();
  } else if (chat.current && target.closest("#scroller")) {
    byID("text").focus();
  } else {
    return;
  }
  event.preventDefault();
}

document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") escape(event);
  else moveByArrows(event);
});
