"use strict";
// Sorts the small table by the places that the file holds: it compares no values.
(function () {
  const table = document.getElementById("matrix");
  if (!table) { return; }
  const body = table.tBodies[0];
  const heads = Array.from(table.tHead.rows[0].cells).slice(1);
  function sort(column) {
    const rows = Array.from(body.rows);
    function place(row) { return Number(row.dataset.order.split(" ")[column]); }
    rows.sort(function (one, two) { return place(one) - place(two); });
    rows.forEach(function (row) { body.appendChild(row); });
    heads.forEach(function (head, at) {
      if (at === column) { head.setAttribute("aria-sort", "ascending"); } else { head.removeAttribute("aria-sort"); }
    });
  }
  // a sentence and a small picture of a measure, beside the pointer or the focus; Escape takes it away
  function explain(head) {
    const tip = head.querySelector(".tip");
    if (!tip) { return; }
    head.removeAttribute("title");
    function hide() { tip.hidden = true; }
    function show() {
      const box = head.getBoundingClientRect();
      tip.hidden = false;
      tip.style.left = Math.max(8, Math.min(box.left, window.innerWidth - tip.offsetWidth - 8)) + "px";
      tip.style.top = (box.bottom + tip.offsetHeight > window.innerHeight ? Math.max(8, box.top - tip.offsetHeight) : box.bottom) + "px";
    }
    head.addEventListener("mouseenter", show);
    head.addEventListener("mouseleave", hide);
    head.addEventListener("focusin", show);
    head.addEventListener("focusout", hide);
    document.addEventListener("keydown", function (event) { if (event.key === "Escape") { hide(); } });
    window.addEventListener("scroll", hide, { passive: true });
  }
  heads.forEach(explain);
  if (body.rows.length < 2) { return; }
  heads.forEach(function (head, column) {
    const label = head.querySelector(".heading");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "heading";
    button.textContent = label.textContent;
    button.setAttribute("aria-describedby", "tip-" + column);
    button.addEventListener("click", function () { sort(column); });
    label.replaceWith(button);
  });
  heads[0].setAttribute("aria-sort", "ascending");
})();
