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
  if (body.rows.length < 2) { return; }
  heads.forEach(function (head, column) {
    const label = head.querySelector(".heading");
    const button = document.createElement("button");
    button.type = "button";
    button.className = "heading";
    button.textContent = label.textContent;
    button.addEventListener("click", function () { sort(column); });
    label.replaceWith(button);
  });
  heads[0].setAttribute("aria-sort", "ascending");
})();
