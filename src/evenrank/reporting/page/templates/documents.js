"use strict";
// Ranked documents as elements; every text is set as text, never as markup.
const Documents = (function () {
  const data = Packed.index;

  function node(tag, kind, text) {
    const made = document.createElement(tag);
    if (kind) { made.className = kind; }
    if (text !== undefined) { made.textContent = text; }
    return made;
  }
  function words(text) { return text ? text.split(" ") : []; }
  function written(rows, measure, system) {
    return rows && rows[measure] && rows[measure][system] ? words(rows[measure][system]) : [];
  }
  function silent(effect) { return effect === undefined || effect === "-" || effect === "0"; }
  function moved(rank, before) {
    if (!before) { return ["new", "★ new"]; }
    if (before === rank) { return ["same", "= same"]; }
    return before > rank ? ["up", "▲ was " + before] : ["down", "▼ was " + before];
  }
  function textOf(pieces) {
    const shown = node("p", "text");
    shown.setAttribute("dir", "auto");
    pieces.forEach(function (piece) {
      if (typeof piece === "string") { shown.appendChild(document.createTextNode(piece)); return; }
      const group = data.groups[piece[0]];
      const mark = node("mark", group[2], piece[1]);
      mark.setAttribute("data-mark", group[1]);
      shown.appendChild(mark);
    });
    return shown;
  }
  // one document; how is what is known of its move, or nothing
  function item(query, place, rank, how, word, effect, change) {
    const found = query.texts[place];
    const made = node("li", "document");
    const head = node("div", "head");
    head.appendChild(node("span", "rank", String(rank)));
    if (how) { head.appendChild(node("span", "moved " + how[0], how[1])); }
    const name = node(found[3] ? "a" : "span", "name", found[0]);
    if (found[3]) { name.setAttribute("href", found[3]); name.setAttribute("rel", "noopener noreferrer nofollow"); }
    head.appendChild(name);
    (found[2] || []).forEach(function (count, group) {
      if (count && data.groups[group]) {
        const label = data.groups[group];
        head.appendChild(node("span", "fact " + label[2], label[0] + " " + label[1] + " " + count));
      }
    });
    query.facts[place].forEach(function (fact) { head.appendChild(node("span", "fact", fact)); });
    if (word && !silent(effect)) {
      const shown = node("span", "effect", word + " " + effect);
      if (!silent(change)) {
        shown.appendChild(document.createTextNode(" "));
        shown.appendChild(node("span", "change", "(" + change + ")"));
      }
      head.appendChild(shown);
    }
    made.appendChild(head);
    if (found[1]) { made.appendChild(textOf(found[1])); }
    return made;
  }
  function nothing(measure, effects) {
    const ranks = [];
    effects.forEach(function (effect, at) { if (effect === "0") { ranks.push(at + 1); } });
    if (measure.effect !== "adds" || !ranks.length) { return ""; }
    const why = measure.nothing ? " (" + measure.nothing + ")" : "";
    return (ranks.length === 1 ? "Rank " : "Ranks ") + ranks.join(", ") + (ranks.length === 1 ? " adds" : " add") + " nothing" + why + ".";
  }
  // one list as the file has it without scripts: what moved is said in words
  function list(body, query, measure, system) {
    const base = data.baseline;
    const compared = data.compared && base !== system;
    const reason = (query.reasons || {})[measure + "-" + system];
    body.replaceChildren();
    if (reason) { body.appendChild(node("p", "reason", "No value: " + reason)); }
    if (!query.lists) { return; }
    const pool = words(query.lists[system]).map(Number);
    const effects = written(query.effects, measure, system);
    const changes = compared ? written(query.changes, measure, system) : [];
    const word = data.measures[measure].effect;
    if (pool.length) {
      const shown = node("ol", "documents");
      pool.forEach(function (place, at) {
        const how = compared ? moved(at + 1, query.before[place]) : null;
        shown.appendChild(item(query, place, at + 1, how, word, effects[at], changes[at]));
      });
      body.appendChild(shown);
    } else { body.appendChild(node("p", "reason", "The list is empty.")); }
    const none = nothing(data.measures[measure], effects);
    if (none) { body.appendChild(node("p", "left", none)); }
    if (compared) {
      const left = [];
      words(query.lists[base]).map(Number).forEach(function (place, at) {
        if (pool.indexOf(place) < 0) { left.push(query.texts[place][0] + " (was " + (at + 1) + ")"); }
      });
      if (left.length) { body.appendChild(node("p", "left", "No longer among them: " + left.join(", "))); }
    }
  }
  return { node: node, words: words, written: written, item: item, list: list, moved: moved, nothing: nothing };
})();
