"use strict";
// How values are spread; a part of it can be brushed with a pointer or chosen with two sliders.
const Histogram = (function () {
  const SVG = "http://www.w3.org/2000/svg";
  const box = document.getElementById("histogram");
  const drawing = document.getElementById("bins");
  const from = document.getElementById("range-from");
  const to = document.getElementById("range-to");
  const all = document.getElementById("range-all");
  let state = null; // edges, counts, and who wants to know
  let first = null; // where a brush began

  function chosen() {
    if (!state || (Number(from.value) === 0 && Number(to.value) === state.counts.length - 1)) { return null; }
    return [Math.min(Number(from.value), Number(to.value)), Math.max(Number(from.value), Number(to.value))];
  }
  function shown(number) { return String(Number(number.toPrecision(4))); }
  function paint() {
    const some = chosen();
    Array.from(drawing.querySelectorAll("rect")).forEach(function (bar, at) {
      bar.setAttribute("class", !some || (at >= some[0] && at <= some[1]) ? "in" : "out");
    });
    all.hidden = !some;
    [from, to].forEach(function (input, side) {
      input.setAttribute("aria-valuetext", shown(state.edges[Number(input.value) + side]));
    });
  }
  function changed() { paint(); state.tell(); }
  function bin(event) {
    const place = drawing.getBoundingClientRect();
    const at = Math.floor(((event.clientX - place.left) / place.width) * state.counts.length);
    return Math.max(0, Math.min(state.counts.length - 1, at));
  }
  drawing.addEventListener("pointerdown", function (event) {
    if (!state) { return; }
    first = bin(event);
    drawing.setPointerCapture(event.pointerId);
    from.value = to.value = String(first);
    changed();
    event.preventDefault();
  });
  drawing.addEventListener("pointermove", function (event) {
    if (first === null) { return; }
    const last = bin(event);
    from.value = String(Math.min(first, last));
    to.value = String(Math.max(first, last));
    changed();
  });
  drawing.addEventListener("pointerup", function () { first = null; });
  drawing.addEventListener("pointercancel", function () { first = null; });
  [from, to].forEach(function (input) { input.addEventListener("input", function () { if (state) { changed(); } }); });
  all.addEventListener("click", function () { reset(); changed(); });
  function reset() { from.value = "0"; to.value = String(state.counts.length - 1); }
  // edges and counts as the file has them; range is what is chosen, or nothing
  function show(edges, counts, name, range, tell) {
    drawing.replaceChildren();
    box.hidden = !edges.length;
    state = edges.length ? { edges: edges, counts: counts, tell: tell } : null;
    if (!state) { return; }
    const most = Math.max.apply(null, counts.concat([1]));
    const wide = 100 / counts.length;
    counts.forEach(function (count, at) {
      const bar = document.createElementNS(SVG, "rect");
      const high = Math.round((52 * count) / most);
      bar.setAttribute("x", (at * wide + wide * 0.06).toFixed(2) + "%");
      bar.setAttribute("width", (wide * 0.88).toFixed(2) + "%");
      bar.setAttribute("y", String(54 - high));
      bar.setAttribute("height", String(high));
      const title = document.createElementNS(SVG, "title");
      title.textContent = count + " queries from " + shown(edges[at]) + " to " + shown(edges[at + 1]);
      bar.appendChild(title);
      drawing.appendChild(bar);
    });
    [["start", "0%", 0], ["end", "100%", edges.length - 1]].forEach(function (end) {
      const label = document.createElementNS(SVG, "text");
      label.setAttribute("x", end[1]);
      label.setAttribute("y", "69");
      label.setAttribute("text-anchor", end[0]);
      label.setAttribute("class", "tick");
      label.textContent = shown(edges[end[2]]);
      drawing.appendChild(label);
    });
    drawing.setAttribute("aria-label", "How the values of " + name + " are spread over queries");
    from.max = to.max = String(counts.length - 1);
    reset();
    if (range) { from.value = String(range[0]); to.value = String(range[1]); }
    paint();
  }
  // whether a value, as it is written, is in what is chosen
  function holds(written) {
    const some = state && chosen();
    if (!some) { return true; }
    const value = Number(written);
    const last = some[1] === state.counts.length - 1;
    return value >= state.edges[some[0]] && (last ? value <= state.edges[some[1] + 1] : value < state.edges[some[1] + 1]);
  }
  return { show: show, holds: holds, chosen: chosen };
})();
