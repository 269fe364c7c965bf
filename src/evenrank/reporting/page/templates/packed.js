"use strict";
// What the file holds: an index, and packed parts that are unpacked when they are needed.
const Packed = (function () {
  document.documentElement.classList.add("scripted"); // room is kept for what is drawn later
  const index = JSON.parse(document.getElementById("report-data").textContent);
  const parts = new Map();

  function bytes(text) {
    const raw = atob(text);
    const out = new Uint8Array(raw.length);
    for (let at = 0; at < raw.length; at += 1) { out[at] = raw.charCodeAt(at); }
    return out;
  }
  function text(element) {
    const stream = new Blob([bytes(element.textContent.trim())]).stream().pipeThrough(new DecompressionStream("deflate"));
    return new Response(stream).text();
  }
  function part(kind, place) {
    const key = kind + place;
    if (!parts.has(key)) {
      const element = document.querySelectorAll("script." + kind)[place];
      parts.set(key, text(element).then(JSON.parse));
    }
    return parts.get(key);
  }
  // a query with its documents: a promise
  function query(place) {
    const at = Math.floor(place / index.together), size = index.textsTogether;
    return part("part", at).then(function (found) {
      const own = found[place - at * index.together];
      const needed = Array.from(new Set(own.documents.map(function (one) { return Math.floor(one / size); })));
      return Promise.all(needed.map(function (one) { return part("texts", one); })).then(function (texts) {
        const known = new Map(needed.map(function (one, spot) { return [one, texts[spot]]; }));
        const entries = own.documents.map(function (one) { return known.get(Math.floor(one / size))[one % size]; });
        return Object.assign({}, own, { texts: entries });
      });
    });
  }
  const numbers = new Map();
  // the numbers of all queries, as they are written
  function column(kind, measure, system) {
    const key = kind + " " + measure + " " + system;
    if (!numbers.has(key)) {
      const rows = index[kind];
      const written = rows && rows[measure] ? rows[measure][system] : "";
      numbers.set(key, written ? written.split(" ") : []);
    }
    return numbers.get(key);
  }
  return { index: index, query: query, column: column, text: text, possible: "DecompressionStream" in window };
})();
