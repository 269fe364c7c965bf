"use strict";
// The queries: sorted and filtered by numbers that the file holds. It shows some, and more when asked.
(function () {
  const data = Packed.index;
  const list = document.getElementById("query-list");
  if (!data || !list) { return; }
  const node = Documents.node;
  const AT_ONCE = 50, LEAST = 3; // rows; letters from which documents are searched too
  const wide = window.matchMedia("(min-width: 60rem)");
  const controls = {
    m: document.getElementById("choose-measure"), s: document.getElementById("choose-system"),
    b: document.getElementById("choose-beside"), sort: document.getElementById("choose-sort"),
    c: document.getElementById("choose-category"), f: document.getElementById("find"),
  };
  const more = document.getElementById("more");
  const found = document.getElementById("found");
  const started = {};
  Object.keys(controls).forEach(function (name) { if (controls[name]) { started[name] = controls[name].value; } });
  let order = [], shown = 0, open = new Set(), documents = new Map();

  function chosen(name) { return controls[name] ? controls[name].value : ""; }
  function measure() { return Number(chosen("m")); }
  function system() { return Number(chosen("s")); }
  function beside() { return controls.b ? Number(chosen("b")) : -1; }
  function kindOf(change) {
    const sign = change === "-" || change === "0" ? 0 : change[0] === "-" ? -1 : 1;
    const good = sign * data.measures[measure()].better;
    return good > 0 ? "better" : good < 0 ? "worse" : "";
  }
  // the number to sort by, and whether there is one
  function key(written, how) {
    const value = written === "infinite" || written === "+infinite" ? Infinity : written === "-infinite" ? -Infinity : Number(written);
    if (how === "fallen") { return value; }
    if (how === "risen") { return -value; }
    const direction = data.measures[measure()].direction;
    const worst = direction.startsWith("higher") ? value : direction.startsWith("signed") ? -Math.abs(value) : -value;
    return how === "best" ? -worst : worst;
  }
  function arrange() {
    const how = chosen("sort") || "worst";
    const values = Packed.column("values", measure(), system());
    const changes = Packed.column("differences", measure(), system());
    const source = how === "fallen" || how === "risen" ? changes : values;
    const category = chosen("c") === "" ? -1 : Number(chosen("c"));
    const wanted = chosen("f").trim().toLowerCase();
    order = [];
    data.ids.forEach(function (id, place) {
      if (category >= 0 && data.of[place].indexOf(category) < 0) { return; }
      if (!Histogram.holds(values[place])) { return; }
      if (wanted) {
        const own = id + " " + data.texts[place] + " " + (data.why[place] || "");
        if (own.toLowerCase().indexOf(wanted) < 0 && !(documents.get(place) || "").includes(wanted)) { return; }
      }
      order.push(place);
    });
    const keys = new Map(order.map(function (place) { return [place, source.length ? key(source[place], how) : place]; }));
    order.sort(function (one, two) {
      const a = keys.get(one), b = keys.get(two);
      if (Number.isNaN(a) || Number.isNaN(b)) { return Number.isNaN(a) - Number.isNaN(b) || one - two; }
      return a < b ? -1 : a > b ? 1 : one - two;
    });
  }
  function row(place, at) {
    const item = node("details", "query");
    item.dataset.query = String(place);
    const head = node("summary");
    head.appendChild(node("span", "place", String(at + 1)));
    head.appendChild(document.createTextNode(" "));
    const asked = node("span", "asked");
    asked.appendChild(node("bdi", "question", data.texts[place] || "Query " + data.ids[place]));
    if (data.texts[place]) {
      asked.appendChild(document.createTextNode(" "));
      asked.appendChild(node("span", "id", data.ids[place]));
    }
    if (data.why[place]) {
      asked.appendChild(document.createTextNode(" "));
      const why = node("span", "why", "Chosen because: ");
      why.appendChild(node("bdi", "", data.why[place]));
      asked.appendChild(why);
    }
    head.appendChild(asked);
    head.appendChild(document.createTextNode(" "));
    const values = node("span", "values");
    values.appendChild(node("span", "value", Packed.column("values", measure(), system())[place]));
    if (data.baseline >= 0 && data.baseline !== system()) {
      const change = Packed.column("differences", measure(), system())[place];
      if (change !== "-") {
        values.appendChild(document.createTextNode(" "));
        values.appendChild(node("span", "shown " + kindOf(change), change));
      }
      values.appendChild(document.createTextNode(" "));
      values.appendChild(node("span", "was", "was " + Packed.column("values", measure(), data.baseline)[place]));
    }
    head.appendChild(values);
    item.appendChild(head);
    item.appendChild(node("div", "body"));
    item.addEventListener("toggle", function () {
      if (item.open) { open.add(place); fill(item, place); } else { open.delete(place); }
      remember();
    });
    if (open.has(place)) { item.open = true; }
    return item;
  }
  function both(query, one, two) {
    const places = [one, two].map(function (side) { return Documents.words(query.lists[side]).map(Number); });
    const word = data.measures[measure()].effect;
    return [one, two].map(function (side, at) {
      const effects = Documents.written(query.effects, measure(), side);
      const items = places[at].map(function (place, rank) {
        let how = null;
        if (at === 1) {
          const before = places[0].indexOf(place) + 1 || (one === data.baseline && query.before ? query.before[place] : 0);
          how = Documents.moved(rank + 1, before);
        }
        return [place, Documents.item(query, place, rank + 1, how, word, effects[rank])];
      });
      return [data.systems[side], items];
    });
  }
  function fill(item, place) {
    const body = item.querySelector(".body");
    const state = [measure(), system(), beside(), wide.matches].join("-");
    if (body.dataset.state === state) { return; }
    body.dataset.state = state;
    const own = data.listed ? Packed.query(place) : Promise.resolve({ reasons: data.reasons[place] });
    own.then(function (query) {
      if (!query || body.dataset.state !== state) { return; }
      const side = beside();
      if (wide.matches && query.lists && side >= 0 && side !== system() && query.lists[side] !== "") {
        const reason = (query.reasons || {})[measure() + "-" + system()];
        body.replaceChildren();
        if (reason) { body.appendChild(node("p", "reason", "No value: " + reason)); }
        const sides = both(query, side, system());
        Sides.show(body, sides[0], sides[1]);
        const none = Documents.nothing(data.measures[measure()], Documents.written(query.effects, measure(), system()));
        if (none) { body.appendChild(node("p", "left", data.systems[system()] + ": " + none)); }
      } else { Documents.list(body, query, measure(), system()); }
      const link = node("a", "permalink", "Link to this query");
      link.setAttribute("href", "#" + hash({ q: data.ids[place] }));
      body.appendChild(link);
      body.dataset.shown = measure() + "-" + system();
    });
  }
  function grow() {
    const some = document.createDocumentFragment();
    order.slice(shown, shown + AT_ONCE).forEach(function (place, at) { some.appendChild(row(place, shown + at)); });
    shown = Math.min(order.length, shown + AT_ONCE);
    list.appendChild(some);
    more.hidden = shown >= order.length;
    more.textContent = "Show more (" + shown + " of " + order.length + ")";
  }
  // the list that documents are compared with: the one beside it, and on a narrow screen the baseline's
  function compared() {
    const other = wide.matches ? beside() : data.baseline;
    const words = document.getElementById("stood-in");
    if (words) { words.textContent = other >= 0 && other !== system() ? ", and where they stood in the list of " + data.systems[other] : ""; }
  }
  function render() {
    compared();
    arrange();
    list.replaceChildren();
    shown = 0;
    grow();
    const direction = data.measures[measure()].direction;
    const how = chosen("sort") || "worst";
    document.getElementById("sorted-by").textContent = "By " + data.measures[measure()].name + " of " + data.systems[system()];
    document.getElementById("sorted-how").textContent = how !== "worst" ? controls.sort.selectedOptions[0].textContent
      : direction.startsWith("signed") ? "largest first, on either side" : direction.startsWith("higher") ? "lowest first" : "highest first";
    found.textContent = order.length === data.ids.length ? "" : order.length + " of " + data.ids.length + " queries";
  }
  function spread(range) {
    const bins = data.bins[measure()];
    Histogram.show(bins.edges, bins.counts[system()] || [], data.measures[measure()].name, range, function () { render(); remember(); });
  }
  // what is chosen, as words behind # in the address
  function hash(extra) {
    const words = new URLSearchParams();
    Object.keys(started).forEach(function (name) {
      if (chosen(name) !== started[name]) { words.set(name, chosen(name)); }
    });
    const range = Histogram.chosen();
    if (range) { words.set("r", range.join("-")); }
    Object.keys(extra).forEach(function (name) { words.set(name, extra[name]); });
    return words.toString();
  }
  function remember() {
    const last = Array.from(open).pop();
    const words = hash(last === undefined ? {} : { q: data.ids[last] });
    const now = location.hash.indexOf("=") > 0 ? location.hash.slice(1) : "";
    if (words !== now) { history.replaceState(null, "", words ? "#" + words : location.pathname + location.search); }
  }
  function recall() {
    if (location.hash.indexOf("=") < 0) { return false; }
    const words = new URLSearchParams(location.hash.slice(1));
    Object.keys(started).forEach(function (name) {
      const value = words.has(name) ? words.get(name) : started[name];
      const options = controls[name].options;
      if (!options || Array.from(options).some(function (option) { return option.value === value; })) { controls[name].value = value; }
    });
    const range = (words.get("r") || "").split("-").map(Number);
    spread(range.length === 2 && range.every(Number.isInteger) ? range : null);
    const place = data.ids.indexOf(words.get("q"));
    if (place >= 0) { open = new Set([place]); }
    render();
    search();
    if (place >= 0) { reveal(place); }
    return true;
  }
  function reveal(place) {
    if (order.indexOf(place) < 0) { return; }
    while (shown <= order.indexOf(place)) { grow(); }
    const item = list.querySelector('details[data-query="' + place + '"]');
    item.open = true;
    item.scrollIntoView({ block: "start" });
    item.querySelector("summary").focus({ preventScroll: true });
  }
  let searching = 0;
  function search() {
    const wanted = chosen("f").trim();
    if (wanted.length < LEAST || !data.listed || documents.size === data.ids.length) { return; }
    const turn = (searching += 1);
    found.textContent = "searching documents ...";
    Promise.all(data.ids.map(function (id, place) {
      return Packed.query(place).then(function (query) {
        const texts = query.texts.map(function (entry) {
          return entry[0] + " " + (entry[1] || []).map(function (piece) { return typeof piece === "string" ? piece : piece[1]; }).join("");
        });
        documents.set(place, texts.join(" ").toLowerCase());
      });
    })).then(function () { if (turn === searching) { render(); } });
  }
  ["m", "s"].forEach(function (name) {
    controls[name].addEventListener("change", function () { spread(null); render(); remember(); });
  });
  ["b", "sort", "c"].forEach(function (name) {
    if (controls[name]) { controls[name].addEventListener("change", function () { render(); remember(); }); }
  });
  controls.f.addEventListener("input", function () { render(); search(); remember(); });
  more.addEventListener("click", function () {
    const next = list.children.length;
    grow();
    if (list.children[next]) { list.children[next].querySelector("summary").focus(); }
  });
  // j and k go to the next and the query before, where nothing is typed
  document.addEventListener("keydown", function (event) {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName)) { return; }
    if (event.key !== "j" && event.key !== "k") { return; }
    const heads = Array.from(list.querySelectorAll("summary"));
    const at = heads.indexOf(document.activeElement);
    const next = heads[event.key === "j" ? at + 1 : Math.max(0, at - 1)];
    if (next) { next.focus(); next.scrollIntoView({ block: "nearest" }); event.preventDefault(); }
  });
  wide.addEventListener("change", function () {
    compared();
    list.querySelectorAll("details[open]").forEach(function (item) { fill(item, Number(item.dataset.query)); });
  });
  window.addEventListener("hashchange", recall);
  document.getElementById("controls").hidden = false;
  if (!Packed.possible && data.listed) { found.textContent = "This browser is too old to unpack lists: only values can be shown."; }
  if (!recall()) { spread(null); render(); }
})();
