"use strict";
// Two lists beside each other, with a line for every document that is in both.
const Sides = (function () {
  const SVG = "http://www.w3.org/2000/svg";
  const node = Documents.node;

  function column(title, made) {
    const side = node("div", "side");
    side.appendChild(node("h3", "", title));
    if (made.length) {
      const list = node("ol", "documents");
      made.forEach(function (item) { list.appendChild(item); });
      side.appendChild(list);
    } else { side.appendChild(node("p", "reason", "The list is empty.")); }
    return side;
  }
  // one: [title, [[key, element], ..]], two: the same; a key that is in both gets a line
  function show(body, one, two, bare) {
    const sides = node("div", "beside");
    const lines = document.createElementNS(SVG, "svg");
    lines.setAttribute("class", "moves");
    lines.setAttribute("aria-hidden", "true");
    sides.appendChild(column(one[0], one[1].map(function (pair) { return pair[1]; })));
    sides.appendChild(lines);
    sides.appendChild(column(two[0], two[1].map(function (pair) { return pair[1]; })));
    const whole = node("button", "whole", "Whole texts");
    whole.type = "button";
    whole.setAttribute("aria-pressed", "false");
    whole.addEventListener("click", function () {
      whole.setAttribute("aria-pressed", String(sides.classList.toggle("is-whole")));
      draw();
    });
    if (!bare) { body.appendChild(whole); } // there are texts
    body.appendChild(sides);
    const left = new Map(one[1].map(function (pair, at) { return [pair[0], [pair[1], at]]; }));
    const right = new Map(two[1].map(function (pair) { return [pair[0], true]; }));
    one[1].forEach(function (pair) { if (!right.has(pair[0])) { pair[1].classList.add("gone"); } });
    two[1].forEach(function (pair) { if (!left.has(pair[0])) { pair[1].classList.add("came"); } });
    function draw() {
      const top = lines.getBoundingClientRect().top;
      const width = lines.clientWidth;
      lines.replaceChildren();
      if (!width) { return; }
      two[1].forEach(function (pair, at) {
        const from = left.get(pair[0]);
        if (!from) { return; }
        const places = [from[0], pair[1]].map(function (element) {
          const box = element.getBoundingClientRect();
          return Math.round(box.top - top + Math.min(box.height / 2, 24));
        });
        const path = document.createElementNS(SVG, "path");
        const middle = width / 2;
        path.setAttribute("d", "M0 " + places[0] + "C" + middle + " " + places[0] + " " + middle + " " + places[1] + " " + width + " " + places[1]);
        path.setAttribute("class", from[1] > at ? "up" : from[1] < at ? "down" : "same");
        lines.appendChild(path);
      });
    }
    draw();
    if ("ResizeObserver" in window) { new ResizeObserver(draw).observe(sides); }
  }
  return { show: show };
})();
