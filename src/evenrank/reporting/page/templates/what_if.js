"use strict";
// A slider over steps that the file holds: lists, shares and relevance are looked up, not computed.
(function () {
  const held = document.getElementById("whatif-data");
  if (!held) { return; }
  const data = JSON.parse(held.textContent);
  const node = Documents.node;
  const slider = document.getElementById("strength");
  const query = document.getElementById("whatif-query");
  const lists = document.getElementById("whatif-lists");
  function item(document_, rank, how) {
    const made = node("li", "document");
    const head = node("div", "head");
    head.appendChild(node("span", "rank", String(rank)));
    if (how) { head.appendChild(node("span", "moved " + how[0], how[1])); }
    head.appendChild(node("span", "name", document_[0]));
    const group = data.groups[document_[1]];
    if (group) { head.appendChild(node("span", "fact " + group[2], group[0] + " " + group[1])); }
    made.appendChild(head);
    return made;
  }
  function show() {
    const step = Number(slider.value), own = data.queries[Number(query.value)];
    document.getElementById("strength-name").textContent = data.strengths[step];
    document.getElementById("strength-all").textContent = data.words[step];
    document.getElementById("strength-one").textContent = own.words[step];
    slider.setAttribute("aria-valuetext", data.strengths[step] + ": " + data.words[step]);
    lists.replaceChildren();
    const sides = [0, step].map(function (side, at) {
      return [at ? (step ? "re-ranked, strength " + data.strengths[step] : "the same") : "as it is", own.lists[side].map(function (place, rank) {
        const found = own.documents[place];
        return [place, item(found, rank + 1, at ? Documents.moved(rank + 1, found[2]) : null)];
      })];
    });
    Sides.show(lists, sides[0], sides[1], true);
  }
  slider.addEventListener("input", show);
  query.addEventListener("change", show);
  document.getElementById("whatif-controls").hidden = false;
  show();
})();
