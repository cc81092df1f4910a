// Views that answer: words under the mouse, and a row picked in one place is shown in all others of the same case.
// Listens at the document, so that pieces which come into the page later are served without being made known.
(() => {
  "use strict";
  const once = "data-planewise-view"; // a notebook runs this with every output
  if (document.documentElement.hasAttribute(once)) return;
  document.documentElement.setAttribute(once, "");

  const REACH = 9; // of a pointer, in units of the picture
  const within = (target, selector) => (target instanceof Element ? target.closest(selector) : null);
  const caseOf = (element) => element.closest(".planewise-view");

  // ---------------------------------------------------------------------------------------------- words of a row
  const unpacked = new WeakMap();

  function rowsOf(crowd) {
    if (!unpacked.has(crowd)) {
      const rows = crowd.dataset.rows.split(";").map((line) => {
        const [x, y, answer, row, ...values] = line.split(",");
        return { x: Number(x), y: Number(y), answer, row, values };
      });
      unpacked.set(crowd, { rows, words: JSON.parse(crowd.dataset.words) });
    }
    return unpacked.get(crowd);
  }

  function valueInWords(value, categories) {
    if (value === "") return "missing"; // first of all: as a number it would be 0, the first category
    return categories.length ? (categories[Number(value)] ?? "another category") : value;
  }

  function rowInWords({ answer, row, values }, words) {
    const name = words.classes.length ? words.classes[Number(answer)] : answer;
    const parts = values.map((value, axis) => `${words.axes[axis]}: ${valueInWords(value, words.categories[axis])}`);
    return `${row !== "" ? `training row ${row}: ` : ""}${name}\n${parts.join("\n")}`;
  }

  function nearestRow(plot, event) {
    const crowd = plot.querySelector(".pw-rows");
    const matrix = crowd?.getScreenCTM();
    if (!matrix) return null;
    const { x, y } = new DOMPoint(event.clientX, event.clientY).matrixTransform(matrix.inverse());
    const { rows, words } = rowsOf(crowd);
    let best = null;
    let least = REACH * REACH;
    for (const one of rows) {
      const far = (one.x - x) ** 2 + (one.y - y) ** 2;
      if (far < least) [best, least] = [one, far];
    }
    return best && { row: best, words: rowInWords(best, words) };
  }

  // A mark's title would come up beside our own words: it becomes its label.
  function wordsOf(mark) {
    const title = mark.querySelector(":scope > title");
    if (title) {
      mark.setAttribute("aria-label", title.textContent);
      if (!mark.hasAttribute("role")) mark.setAttribute("role", "img");
      title.remove();
    }
    return mark.getAttribute("aria-label") ?? "";
  }

  // ------------------------------------------------------------------------------------------------------ the tip
  function tipOf(figure) {
    let tip = figure.querySelector(":scope > .pw-tip");
    if (!tip) {
      tip = document.createElement("div");
      tip.className = "pw-tip";
      tip.setAttribute("aria-hidden", "true"); // the marks' labels say the same
      tip.style.whiteSpace = "pre-line";
      figure.append(tip);
    }
    return tip;
  }

  function tell(figure, words, x, y, picture) {
    const tip = tipOf(figure);
    tip.textContent = words;
    tip.hidden = false;
    const box = figure.getBoundingClientRect();
    const left = Math.min(x - box.left + 14, box.width - tip.offsetWidth - 2);
    const { top, height } = picture.getBoundingClientRect();
    const below = y > top + height / 2; // towards the near edge, where it covers least
    tip.style.left = `${Math.max(0, left)}px`;
    tip.style.top = `${below ? y - box.top + 18 : y - box.top - tip.offsetHeight - 12}px`;
  }

  function hush(figure) {
    const tip = figure && figure.querySelector(":scope > .pw-tip");
    if (tip) tip.hidden = true;
  }

  // ------------------------------------------------------------------------------------------------------ picking
  function pick(view, row) {
    const again = row !== null && view.dataset.picked === row;
    const chosen = again ? null : row;
    if (chosen === null) delete view.dataset.picked;
    else view.dataset.picked = chosen;
    for (const each of view.querySelectorAll("[data-row]")) {
      const mine = each.dataset.row === chosen;
      each.classList.toggle("pw-picked", mine);
      if (each.hasAttribute("aria-pressed")) each.setAttribute("aria-pressed", String(mine));
    }
    for (const plot of view.querySelectorAll(".pw-plot")) ring(plot, chosen);
  }

  function ring(plot, row) {
    plot.querySelector(".pw-ring")?.remove();
    const crowd = plot.querySelector(".pw-rows");
    if (row === null || !crowd || plot.querySelector(`.pw-mark[data-row="${CSS.escape(row)}"]`)) return;
    const found = rowsOf(crowd).rows.find((one) => one.row === row);
    if (!found) return;
    const circle = document.createElementNS("http://www.w3.org/2000/svg", "circle");
    circle.setAttribute("class", "pw-ring");
    circle.setAttribute("cx", found.x);
    circle.setAttribute("cy", found.y);
    circle.setAttribute("r", 7);
    plot.append(circle);
  }

  // ------------------------------------------------------------------------------------------------------- events
  document.addEventListener("pointermove", (event) => {
    const plot = within(event.target, ".planewise-view .pw-plot");
    const figure = within(event.target, ".planewise-view .pw-figure");
    if (!plot) return hush(figure);
    const mark = within(event.target, ".pw-mark, .pw-case, .pw-before");
    const words = mark ? wordsOf(mark) : nearestRow(plot, event)?.words;
    if (words) tell(figure, words, event.clientX, event.clientY, plot);
    else hush(figure);
  });
  document.addEventListener("pointerout", (event) => {
    const figure = within(event.target, ".planewise-view .pw-figure");
    if (figure && !figure.contains(event.relatedTarget)) hush(figure);
  });
  document.addEventListener("focusin", (event) => {
    const mark = within(event.target, ".planewise-view .pw-mark");
    if (!mark) return;
    const box = mark.querySelector(".pw-hit").getBoundingClientRect();
    tell(mark.closest(".pw-figure"), wordsOf(mark), box.right, box.top, mark.closest(".pw-plot"));
  });
  document.addEventListener("focusout", (event) => {
    const mark = within(event.target, ".planewise-view .pw-mark");
    if (mark) hush(mark.closest(".pw-figure"));
  });
  document.addEventListener("click", (event) => {
    const named = within(event.target, ".planewise-view [data-row]");
    if (named) return pick(caseOf(named), named.dataset.row);
    const plot = within(event.target, ".planewise-view .pw-plot");
    if (!plot) return;
    const found = nearestRow(plot, event);
    pick(caseOf(plot), found && found.row.row !== "" ? found.row.row : null);
  });
  document.addEventListener("keydown", (event) => {
    const view = within(event.target, ".planewise-view");
    if (!view) return;
    if (event.key === "Escape") {
      pick(view, null);
      for (const figure of view.querySelectorAll(".pw-figure")) hush(figure);
      return;
    }
    const mark = within(event.target, ".pw-mark[data-row]");
    if (mark && (event.key === "Enter" || event.key === " ")) {
      event.preventDefault();
      pick(view, mark.dataset.row);
    }
  });
})();
