// Keys that choose an answer. Enter then sends the form, as it does in every form; the page works without this.
"use strict";
(function () {
  const fields = Array.from(document.querySelectorAll("[data-keys]"));
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target.matches("input[type=text], textarea")) { return; }
    const wanted = event.key.toLowerCase();
    const field = fields.find(one => one.dataset.keys.split(" ").includes(wanted));
    if (field === undefined) { return; }
    event.preventDefault();
    if (field.type === "radio") { field.checked = true; }
    if (field.type === "checkbox") { field.checked = !field.checked; }
    field.focus();
  });
})();
