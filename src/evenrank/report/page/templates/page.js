"use strict";
// Shows what report-data holds; every text is set as text, never as markup.
(function () {
  const data = JSON.parse(document.getElementById("report-data").textContent);
  if (!data) { return; }
  const list = document.getElementById("query-list");
  const choice = { measure: 0, system: data.system };
  const COLOURS = 6;
  const MARKS = ["▲", "●", "■", "◆", "★", "✚"];

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
  function markOf(group) {
    return MARKS[group % MARKS.length] + (group >= MARKS.length ? String(Math.floor(group / MARKS.length) + 1) : "");
  }
  function moved(rank, before) {
    if (before === 0) { return ["new", "★ new"]; }
    if (before === rank) { return ["same", "= same"]; }
    return before > rank ? ["up", "▲ was " + before] : ["down", "▼ was " + before];
  }
  function textOf(pieces) {
    const shown = node("p", "text");
    shown.setAttribute("dir", "auto");
    pieces.forEach(function (piece) {
      if (typeof piece === "string") { shown.appendChild(document.createTextNode(piece)); return; }
      const mark = node("mark", "g" + piece[0] % COLOURS, piece[1]);
      mark.setAttribute("data-mark", markOf(piece[0]));
      shown.appendChild(mark);
    });
    return shown;
  }
  function documentOf(query, pool, rank, compared, effect, change) {
    const place = pool[rank - 1];
    const found = data.documents[query.documents[place]];
    const item = node("li", "document");
    const head = node("div", "head");
    head.appendChild(node("span", "rank", String(rank)));
    if (compared) {
      const how = moved(rank, query.before[place]);
      head.appendChild(node("span", "moved " + how[0], how[1]));
    }
    const name = node(found[3] ? "a" : "span", "name", found[0]);
    if (found[3]) { name.setAttribute("href", found[3]); name.setAttribute("rel", "noopener noreferrer nofollow"); }
    head.appendChild(name);
    (found[2] || []).forEach(function (count, group) {
      if (count && data.groups[group]) {
        const label = data.groups[group];
        head.appendChild(node("span", "fact g" + group % COLOURS, label[0] + " " + label[1] + " " + count));
      }
    });
    query.facts[place].forEach(function (fact) { head.appendChild(node("span", "fact", fact)); });
    const word = data.measures[choice.measure].effect;
    if (word && effect !== undefined && effect !== "-") {
      const shown = node("span", "effect", word + " " + effect);
      if (change !== undefined && change !== "-") {
        shown.appendChild(document.createTextNode(" "));
        shown.appendChild(node("span", "change", "(" + change + ")"));
      }
      head.appendChild(shown);
    }
    item.appendChild(head);
    if (found[1]) { item.appendChild(textOf(found[1])); }
    return item;
  }
  function fill(body, query) {
    const measure = choice.measure, system = choice.system, base = data.baseline;
    const compared = data.compared && base !== system;
    const reason = (query.reasons || {})[measure + "-" + system];
    body.replaceChildren();
    if (reason) { body.appendChild(node("p", "reason", "No value: " + reason)); }
    if (!query.lists) { return; }
    const pool = words(query.lists[system]).map(Number);
    const effects = written(query.effects, measure, system);
    const changes = compared ? written(query.changes, measure, system) : [];
    if (pool.length) {
      const shown = node("ol", "documents");
      pool.forEach(function (place, at) {
        shown.appendChild(documentOf(query, pool, at + 1, compared, effects[at], changes[at]));
      });
      body.appendChild(shown);
    } else { body.appendChild(node("p", "reason", "The list is empty.")); }
    if (compared) {
      const left = [];
      words(query.lists[base]).map(Number).forEach(function (place, at) {
        if (pool.indexOf(place) < 0) {
          left.push(data.documents[query.documents[place]][0] + " (was " + (at + 1) + ")");
        }
      });
      if (left.length) { body.appendChild(node("p", "left", "No longer among them: " + left.join(", "))); }
    }
  }

  const items = new Map();
  list.querySelectorAll("details.query").forEach(function (item) { items.set(Number(item.dataset.query), item); });
  function refill(item) {
    const body = item.querySelector(".body");
    const state = choice.measure + "-" + choice.system;
    if (body.dataset.shown === state) { return; }
    fill(body, data.queries[Number(item.dataset.query)]);
    body.dataset.shown = state;
  }
  list.addEventListener("toggle", function (event) {
    if (event.target.open && event.target.classList.contains("query")) { refill(event.target); }
  }, true);

  function sort() {
    const order = data.order[choice.measure][choice.system];
    const base = data.baseline;
    const compared = base >= 0 && base !== choice.system;
    const sorted = document.createDocumentFragment();
    order.forEach(function (index, at) {
      const item = items.get(index);
      const values = data.queries[index].values[choice.measure];
      item.querySelector(".place").textContent = String(at + 1);
      const shown = item.querySelector(".values");
      shown.replaceChildren(node("span", "value", values[choice.system]));
      if (compared) {
        shown.appendChild(document.createTextNode(" "));
        shown.appendChild(node("span", "was", "was " + values[base]));
      }
      if (item.open) { refill(item); }
      sorted.appendChild(item);
    });
    list.appendChild(sorted);
    const direction = data.measures[choice.measure].direction;
    document.getElementById("sorted-by").textContent =
      "By " + data.measures[choice.measure].name + " of " + data.systems[choice.system];
    document.getElementById("sorted-how").textContent = direction.startsWith("signed")
      ? "largest first, on either side" : direction.startsWith("higher") ? "lowest first" : "highest first";
  }
  function find() {
    const wanted = document.getElementById("find").value.trim().toLowerCase();
    let count = 0;
    items.forEach(function (item, index) {
      const query = data.queries[index];
      const there = !wanted || (query.id + " " + query.text + " " + (query.why || "")).toLowerCase().indexOf(wanted) >= 0;
      item.hidden = !there;
      count += there;
    });
    document.getElementById("found").textContent = wanted ? count + " of " + items.size + " queries" : "";
  }
  document.getElementById("choose-measure").addEventListener("change", function (event) {
    choice.measure = Number(event.target.value);
    sort();
  });
  document.getElementById("choose-system").addEventListener("change", function (event) {
    choice.system = Number(event.target.value);
    sort();
  });
  document.getElementById("find").addEventListener("input", find);
  // a browser that goes back keeps what was chosen
  choice.measure = Number(document.getElementById("choose-measure").value);
  choice.system = Number(document.getElementById("choose-system").value);
  if (choice.measure !== 0 || choice.system !== data.system) { sort(); }
  // what the file has open told so while it was read, maybe before anybody listened
  items.forEach(function (item) { if (item.open) { refill(item); } });
  document.getElementById("controls").hidden = false;
})();
