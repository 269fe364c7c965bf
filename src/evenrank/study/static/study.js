// Tells the server what was opened, for how long, and when the tab was hidden. The page works without it.
"use strict";
(function () {
  const results = document.getElementById("results");
  if (results === null) { return; }
  const page = Array.from(crypto.getRandomValues(new Uint8Array(8)), byte => byte.toString(16).padStart(2, "0")).join("");
  const began = performance.now();
  let number = 0;

  function tell(kind, rank) {
    number += 1;
    const body = new URLSearchParams({
      token: results.dataset.token, page: page, number: String(number), kind: kind,
      milliseconds: String(Math.round(performance.now() - began)),
    });
    if (rank) { body.set("rank", rank); }
    // keepalive: what is told while the page closes still arrives
    fetch("/events", { method: "POST", body: body, keepalive: true, credentials: "same-origin" }).catch(() => {});
  }

  for (const item of results.querySelectorAll("details[data-rank]")) {
    item.addEventListener("toggle", () => tell(item.open ? "open" : "close", item.dataset.rank));
  }
  document.addEventListener("visibilitychange", () => tell(document.hidden ? "hidden" : "visible"));
  window.addEventListener("pagehide", () => tell("leave"));
  tell("shown");
  // what was opened before this script arrived counts as well
  for (const item of results.querySelectorAll("details[data-rank][open]")) { tell("open", item.dataset.rank); }
})();
