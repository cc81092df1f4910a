// Fits a tree of planes to points that the reader clicks. live_core.js has the library's own core as WebAssembly; this
// file asks it for the tree and draws what it answers. Nothing is sent anywhere.
"use strict";

(() => {
  const SEED = 209652396; // what SLMClassifier(random_state=0) gives its core
  const MOST_POINTS = 2000;
  const SHOWN_PLANES = 6;
  const SQUARE = [[0, 0], [1, 0], [1, 1], [0, 1]];

  // ---------------------------------------------------------------------------------------------- the core
  let core = null; // the exports of the module, once it is ready

  async function start() {
    const bytes = Uint8Array.from(atob(window.planewiseCore), (c) => c.charCodeAt(0));
    const refuse = (name) => () => {
      throw new Error(`The core called ${name}, which it does only after an error.`);
    };
    const system = Object.fromEntries(["fd_close", "fd_seek", "fd_write"].map((name) => [name, refuse(name)]));
    const { instance } = await WebAssembly.instantiate(bytes, { wasi_snapshot_preview1: system });
    instance.exports._initialize();
    core = instance.exports;
  }

  // The tree of SLMClassifier(random_state=0, max_planes=..., max_depth=...), as flat arrays; maxDepth 0: no limit.
  function fit(points, maxPlanes, maxDepth) {
    const n = points.length;
    const view = (type, at, length) => new type(core.memory.buffer, at, length); // the memory may have moved: always anew
    const places = core.points(n), classes = core.labels(n);
    view(Float32Array, places, 2 * n).set(points.flatMap(({ x, y }) => [x, y]));
    view(Int32Array, classes, n).set(points.map((point) => point.label));
    const nNodes = core.fit(2, SEED, maxPlanes, maxDepth);
    if (nNodes === 0) throw new Error("The core refused the points.");
    const nPlanes = core.n_planes(), nTerms = core.n_terms();
    const whole = (name, length) => Array.from(view(Int32Array, core[name](), length));
    const single = (name, length) => Array.from(view(Float32Array, core[name](), length));
    return {
      leaf: whole("leaf", n),
      plane_start: whole("plane_start", nNodes + 1),
      child_start: whole("child_start", nNodes + 1),
      children: whole("children", core.n_children()),
      depth: whole("depth", nNodes),
      value: Array.from(view(Float64Array, core.value(), 2 * nNodes)),
      threshold: single("threshold", nPlanes),
      term_start: whole("term_start", nPlanes + 1),
      term_feature: whole("term_feature", nTerms),
      term_weight: single("term_weight", nTerms),
    };
  }

  // ---------------------------------------------------------------------------------------------- its geometry
  // Plane k as [a, b, c]: a row is on its right side where a * x + b * y >= c.
  function planeOf(tree, k) {
    const weights = [0, 0];
    for (let t = tree.term_start[k]; t < tree.term_start[k + 1]; ++t) weights[tree.term_feature[t]] += tree.term_weight[t];
    return [...weights, tree.threshold[k]];
  }

  // The part of a convex polygon on one side of a plane.
  function cut(polygon, [a, b, c], right) {
    const height = ([x, y]) => (a * x + b * y - c) * (right ? 1 : -1);
    const kept = [];
    polygon.forEach((corner, i) => {
      const next = polygon[(i + 1) % polygon.length], here = height(corner), there = height(next);
      if (here >= 0) kept.push(corner);
      if (here >= 0 !== there >= 0) {
        const share = here / (here - there);
        kept.push([corner[0] + share * (next[0] - corner[0]), corner[1] + share * (next[1] - corner[1])]);
      }
    });
    return kept.length < 3 ? [] : kept;
  }

  // Every cell of the square with the node whose value holds there, and every plane where it cuts its node.
  function pictureOf(tree) {
    const regions = [], lines = [];
    const descend = (node, polygon) => {
      const first = tree.plane_start[node], last = tree.plane_start[node + 1];
      if (first === last) return regions.push({ node, polygon });
      for (let k = first; k < last; ++k) {
        const plane = planeOf(tree, k), [a, b, c] = plane;
        const size = Math.hypot(a, b) || 1;
        const ends = cut(polygon, plane, true).filter(([x, y]) => Math.abs(a * x + b * y - c) < 1e-9 * size);
        if (ends.length >= 2) lines.push({ ends: [ends[0], ends[ends.length - 1]], depth: tree.depth[node] });
      }
      for (let code = 0; code < 1 << (last - first); ++code) {
        let cell = polygon;
        for (let k = first; k < last && cell.length; ++k) cell = cut(cell, planeOf(tree, k), (code >> (k - first)) & 1);
        if (!cell.length) continue;
        const child = tree.children[tree.child_start[node] + code];
        if (child === node) regions.push({ node, polygon: cell }); // no training point fell here
        else descend(child, cell);
      }
    };
    descend(0, SQUARE);
    return { regions, lines };
  }

  function textOf([a, b, c]) {
    const number = (value) => value.toFixed(2).replace("-", "−");
    const largest = Math.max(Math.abs(a), Math.abs(b)) || 1;
    const terms = [[a / largest, "x"], [b / largest, "y"]].filter(([weight]) => weight !== 0);
    const text = terms.map(([weight, name], i) => {
      const sign = weight < 0 ? "−" : i ? "+" : "";
      const size = Math.abs(weight) === 1 ? "" : `${number(Math.abs(weight))}·`;
      return i ? ` ${sign} ${size}${name}` : `${sign}${size}${name}`;
    });
    return `${text.join("")} ≥ ${number(c / largest)}`;
  }

  // ---------------------------------------------------------------------------------------------- points to start with
  function randomNumbers(state) {
    return () => {
      state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
      return state / 2 ** 32;
    };
  }

  const EXAMPLES = {
    Diagonal: (x, y, noise) => 0.8 * x + y + 0.12 * (noise - 0.5) > 0.9,
    Diamond: (x, y, noise) => Math.abs(x - 0.5) + Math.abs(y - 0.5) + 0.04 * (noise - 0.5) < 0.36,
    Stripe: (x, y, noise) => Math.abs(0.6 * x - y + 0.2 + 0.04 * (noise - 0.5)) < 0.17,
  };

  function examplePoints(name) {
    const random = randomNumbers(7);
    return Array.from({ length: 200 }, () => {
      const x = 0.03 + 0.94 * random(), y = 0.03 + 0.94 * random();
      return { x, y, label: Number(EXAMPLES[name](x, y, random())) };
    });
  }

  // ---------------------------------------------------------------------------------------------- the page
  const MARKUP = `
    <canvas tabindex="0" role="application" aria-label="Square with the points and the regions of the tree"></canvas>
    <div class="panel">
      <fieldset><legend>Points</legend></fieldset>
      <fieldset>
        <legend>A click or tap adds</legend>
        <label><input type="radio" value="0" checked><span class="first">● first class</span></label>
        <label><input type="radio" value="1"><span class="second">■ second class</span></label>
      </fieldset>
      <fieldset>
        <legend>Tree</legend>
        <label>max_planes <select><option>1<option selected>2<option>3</select></label>
        <label>max_depth <select><option value="0">None<option>1<option>2<option>3</select></label>
      </fieldset>
      <p class="result" role="status"></p>
      <div class="planes"></div>
      <p class="hint">x runs to the right and y upwards, both from 0 to 1. Keyboard: focus the square, move with the
        arrow keys, add a point with Enter, switch the class with 1 and 2.</p>
    </div>`;

  class Live {
    constructor(root, number) {
      root.innerHTML = MARKUP;
      this.root = root;
      this.canvas = root.querySelector("canvas");
      this.classes = root.querySelectorAll("input");
      this.classes.forEach((input) => (input.name = `planewise-live-${number}`));
      [this.maxPlanes, this.maxDepth] = root.querySelectorAll("select");
      this.points = examplePoints("Diamond");
      this.cursor = null; // of the keyboard
      this.addButtons();
      this.listen();
      this.refit();
    }

    addButtons() {
      const actions = Object.keys(EXAMPLES).map((name) => [name, () => (this.points = examplePoints(name))]);
      actions.push(["Undo", () => this.points.pop()], ["Clear", () => (this.points = [])]);
      for (const [name, act] of actions) {
        const button = document.createElement("button");
        button.type = "button";
        button.textContent = name;
        button.addEventListener("click", () => (act(), this.refit()));
        this.root.querySelector("fieldset").append(button);
      }
    }

    listen() {
      this.canvas.addEventListener("click", (event) => {
        const box = this.canvas.getBoundingClientRect();
        this.cursor = null;
        this.add((event.clientX - box.left) / box.width, 1 - (event.clientY - box.top) / box.height);
      });
      this.canvas.addEventListener("keydown", (event) => this.onKey(event));
      this.canvas.addEventListener("blur", () => ((this.cursor = null), this.draw()));
      for (const select of [this.maxPlanes, this.maxDepth]) select.addEventListener("change", () => this.refit());
      new ResizeObserver(() => this.draw()).observe(this.canvas);
      const redraw = () => this.draw();
      matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
      new MutationObserver(redraw).observe(document.documentElement, { attributeFilter: ["data-theme"] });
    }

    onKey(event) {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
      const step = steps[event.key], within = (value) => Math.min(1, Math.max(0, value));
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      this.cursor ??= { x: 0.5, y: 0.5 };
      if (step) {
        const size = event.shiftKey ? 0.1 : 0.02;
        this.cursor = { x: within(this.cursor.x + size * step[0]), y: within(this.cursor.y + size * step[1]) };
      } else if (event.key === "Enter" || event.key === " ") {
        this.add(this.cursor.x, this.cursor.y);
      } else if (event.key === "1" || event.key === "2") {
        this.classes[Number(event.key) - 1].checked = true;
      } else {
        return;
      }
      event.preventDefault();
      this.draw();
    }

    add(x, y) {
      if (this.points.length >= MOST_POINTS) return this.say(`This page takes at most ${MOST_POINTS} points.`);
      this.points.push({ x, y, label: this.classes[1].checked ? 1 : 0 });
      this.refit();
    }

    refit() {
      this.tree = this.picture = null;
      if (this.points.length) {
        const began = performance.now();
        try {
          this.tree = fit(this.points, Number(this.maxPlanes.value), Number(this.maxDepth.value));
        } catch (error) {
          return this.say(`The tree could not be fitted: ${error.message} Reload the page to start again.`);
        }
        this.milliseconds = performance.now() - began;
        this.picture = pictureOf(this.tree);
      }
      this.report();
      this.draw();
    }

    say(text) {
      this.root.querySelector(".result").textContent = text;
    }

    report() {
      const { tree, points } = this, planes = this.root.querySelector(".planes");
      planes.replaceChildren();
      if (new Set(points.map((point) => point.label)).size < 2) return this.say("Add points of both classes.");
      const counted = (n, word) => `${n} ${word}${n === 1 ? "" : "s"}`;
      const right = points.filter(({ label }, i) => this.secondClass(tree.leaf[i]) >= 0.5 === (label === 1)).length;
      const n = tree.threshold.length, leaves = tree.depth.filter((_, i) => tree.plane_start[i] === tree.plane_start[i + 1]);
      this.say(
        `${counted(n, "plane")}, depth ${Math.max(...tree.depth)}, ${leaves.length} ${leaves.length === 1 ? "leaf" : "leaves"}. ` +
          `${right} of ${counted(points.length, "point")} lie in a region of their class. Fitted in ${this.milliseconds.toFixed(0)} ms.`,
      );
      if (n === 0) return planes.append("No plane separates the classes better than chance would. Add more points.");
      const list = document.createElement("ol");
      for (let k = 0; k < Math.min(n, SHOWN_PLANES); ++k) {
        list.append(Object.assign(document.createElement("li"), { textContent: textOf(planeOf(tree, k)) }));
      }
      planes.append("Planes:", list);
      if (n > SHOWN_PLANES) planes.append(`and ${n - SHOWN_PLANES} more`);
    }

    secondClass(node) {
      return this.tree.value[2 * node + 1];
    }

    draw() {
      const { canvas } = this, scale = window.devicePixelRatio || 1;
      const side = Math.round(canvas.clientWidth * scale);
      if (!side) return;
      canvas.width = canvas.height = side;
      const pen = canvas.getContext("2d"), style = getComputedStyle(this.root);
      const color = (name) => style.getPropertyValue(name).trim();
      const at = ([x, y]) => [x * side, (1 - y) * side];
      const path = (corners) => {
        pen.beginPath();
        corners.forEach((corner, i) => (i ? pen.lineTo(...at(corner)) : pen.moveTo(...at(corner))));
      };
      for (const { node, polygon } of this.picture?.regions ?? []) {
        const share = this.secondClass(node);
        path(polygon);
        pen.closePath();
        pen.fillStyle = `rgba(${color(share >= 0.5 ? "--second-region" : "--first-region")}, ${0.08 + 0.6 * Math.abs(share - 0.5)})`;
        pen.fill();
      }
      pen.strokeStyle = color("--ink");
      for (const { ends, depth } of this.picture?.lines ?? []) {
        path(ends);
        pen.lineWidth = scale * Math.max(0.75, 2.5 - 0.6 * depth);
        pen.stroke();
      }
      this.drawPoints(pen, at, scale, color);
    }

    drawPoints(pen, at, scale, color) {
      pen.strokeStyle = color("--ground");
      pen.lineWidth = scale;
      for (const { x, y, label } of this.points) {
        const [left, top] = at([x, y]), size = 4 * scale;
        pen.beginPath();
        if (label) pen.rect(left - size * 0.9, top - size * 0.9, size * 1.8, size * 1.8);
        else pen.arc(left, top, size, 0, 2 * Math.PI);
        pen.fillStyle = color(label ? "--second" : "--first");
        pen.fill();
        pen.stroke();
      }
      if (!this.cursor) return;
      const [left, top] = at([this.cursor.x, this.cursor.y]), arm = 9 * scale;
      pen.strokeStyle = color("--ink");
      pen.lineWidth = 2 * scale;
      pen.beginPath();
      for (const [dx, dy] of [[arm, 0], [0, arm]]) {
        pen.moveTo(left - dx, top - dy);
        pen.lineTo(left + dx, top + dy);
      }
      pen.stroke();
    }
  }

  const places = document.querySelectorAll(".planewise-live");
  start()
    .then(() => {
      places.forEach((root, number) => new Live(root, number));
      window.planewiseLive = { fit, pictureOf, examplePoints }; // for tests, and for the curious
    })
    .catch((error) => {
      for (const root of places) root.textContent = `The live example cannot run in this browser: ${error.message}`;
    });
})();
