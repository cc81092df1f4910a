// Keys, words for saved and failed requests, and where the focus goes. The page works without this, by mouse.
(() => {
  "use strict";
  const find = (id) => document.getElementById(id);
  let busy = null; // the request that will replace the page: until then keys would be about a case that is being left
  let sending = null; // the decision that is on its way, with the draft of its note

  // -------------------------------------------------------------------------------------------------------- words
  function say(words, failed = false) {
    const said = find("said");
    said.classList.toggle("failed", failed);
    said.textContent = words;
  }

  // --------------------------------------------------------------------------------------------------------- keys
  function press(id) {
    const element = find(id);
    if (element) element.click();
  }

  function openAnd(id, inner) {
    const details = find(id);
    if (!details) return;
    details.open = true;
    details.querySelector(inner)?.focus();
  }

  function toggle(id) {
    const details = find(id);
    if (details) details.open = !details.open;
  }

  // In a list of cases: to the next or the previous one.
  function move(step) {
    const cases = [...document.querySelectorAll("a.open-case")];
    const at = cases.indexOf(document.activeElement);
    cases[at < 0 ? (step > 0 ? 0 : cases.length - 1) : Math.min(Math.max(at + step, 0), cases.length - 1)]?.focus();
  }

  function send(form) {
    find(form)?.requestSubmit();
  }

  const KEYS = {
    a: () => press("accept"),
    o: () => openAnd("override", "input, select, button"),
    n: () => find("note")?.focus(),
    u: () => send("undo"),
    j: () => press("after"),
    k: () => press("before"),
    ArrowRight: () => press("after"),
    ArrowLeft: () => press("before"),
    w: () => openAnd("what-if", "input:not([type=hidden]), select"),
    v: () => toggle("values"),
    l: () => press("list"),
    ArrowDown: () => move(1),
    ArrowUp: () => move(-1),
    "/": () => find("find")?.focus(),
    "?": () => find("keys")?.showModal(),
  };

  const typing = (target) => target.closest("input:not([type=radio]), textarea, select, [contenteditable]") !== null;
  // Arrows move inside these: radio buttons that switch views, and tables that scroll.
  const arrowsTaken = (target) => target.closest("input, [role=region], .wide, pre") !== null;

  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.repeat || event.isComposing) return;
    const target = event.target instanceof Element ? event.target : document.body;
    if (event.key === "Escape") return leave(target);
    if (event.key === "Enter" && target.id === "number") {
      event.preventDefault();
      return press("set-number");
    }
    if (typing(target) || busy || find("keys")?.open) return;
    if (event.key.startsWith("Arrow") && arrowsTaken(target) && !target.matches("a.open-case")) return;
    const chosen = find("override")?.open && /^[1-9]$/.test(event.key) && document.querySelector(`[data-key="${event.key}"]`);
    const act = chosen ? () => chosen.click() : KEYS[event.key];
    if (!act || (/^Arrow(Up|Down)$/.test(event.key) && !document.querySelector("a.open-case"))) return;
    event.preventDefault();
    act();
  });

  function leave(target) {
    const override = find("override");
    if (override?.open) {
      override.open = false;
      override.querySelector("summary").focus();
    } else if (typing(target)) find("case")?.focus();
  }

  document.addEventListener("click", (event) => {
    if (event.target instanceof Element && event.target.closest("#show-keys")) find("keys").showModal();
  });

  // The class is chosen from a list: go where it leads.
  document.addEventListener("change", (event) => {
    const list = event.target instanceof Element ? event.target.closest("select[data-go]") : null;
    if (list) window.location.assign(list.dataset.go + (list.value === "" ? "" : `&label=${encodeURIComponent(list.value)}`));
  });

  // ------------------------------------------------------------------------------------------------------- drafts
  // A note that was typed and not saved is there again when its case is; in this tab only, until it is saved.
  const drafts = {
    change(act) {
      try {
        return act(window.sessionStorage);
      } catch {
        return null; // a browser that keeps nothing
      }
    },
    keep: (note) => drafts.change((kept) => (note.value ? kept.setItem(note.dataset.draft, note.value) : kept.removeItem(note.dataset.draft))),
    drop: (name) => drafts.change((kept) => kept.removeItem(name)),
    show(note) {
      if (note?.value) drafts.keep(note); // what was undone is back in the field
      else if (note) note.value = drafts.change((kept) => kept.getItem(note.dataset.draft)) ?? "";
    },
  };
  document.addEventListener("input", (event) => {
    if (event.target instanceof Element && event.target.id === "note") drafts.keep(event.target);
  });

  // ----------------------------------------------------------------------------------------------------- requests
  document.addEventListener("htmx:beforeRequest", (event) => {
    const { elt, target, xhr } = event.detail;
    if (target?.id === "page") busy = xhr;
    if (!elt?.matches?.("form.decide, form.undo")) return;
    sending = { xhr, draft: elt.querySelector("#note")?.dataset.draft };
    say("Saving …");
  });
  document.addEventListener("htmx:afterRequest", (event) => {
    if (event.detail.xhr === busy) busy = null;
  });
  document.addEventListener("htmx:responseError", (event) => {
    const { xhr } = event.detail;
    const plain = (xhr.getResponseHeader("content-type") ?? "").startsWith("text/plain");
    const known = xhr.status >= 500 ? "Reload the page to see what is saved." : "Nothing was saved.";
    say(plain ? xhr.responseText : `The server reported an error (${xhr.status}). ${known}`, true);
  });
  for (const name of ["htmx:sendError", "htmx:timeout"]) {
    document.addEventListener(name, () =>
      say("The server does not respond, so the decision may not be saved. It is still on this page; try again when the server is running.", true),
    );
  }
  document.addEventListener("htmx:beforeSwap", (event) => {
    find("said").classList.remove("failed");
    if (event.detail.xhr !== sending?.xhr) return;
    if (!event.detail.isError && sending.draft) drafts.drop(sending.draft);
    sending = null;
  });
  document.addEventListener("htmx:afterSettle", (event) => {
    if (event.detail.target?.id !== "page" && event.detail.elt?.id !== "page") return;
    ready();
    find("case")?.focus({ preventScroll: true });
    window.scrollTo(0, 0);
  });

  function ready() {
    const keys = find("show-keys");
    if (keys) keys.hidden = false;
    drafts.show(find("note"));
  }
  ready();
})();
