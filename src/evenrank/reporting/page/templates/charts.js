"use strict";
// Draws figures when they come near. The library is packed, and read for the first of them; the policy of the
// page names it by its hash.
(function () {
  const specs = document.querySelectorAll("script.chart-spec");
  const packed = document.getElementById("chart-library");
  let library = null;
  function load() {
    if (!library) {
      library = Packed.text(packed).then(function (text) {
        const script = document.createElement("script");
        script.textContent = text;
        document.head.appendChild(script);
      });
    }
    return library;
  }
  function draw(figure, spec) {
    // expressions are interpreted, not compiled: the page's policy allows no eval
    const options = { ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
    load().then(function () { return window.vegaEmbed(figure.querySelector(".live"), spec, options); }).then(
      function () { figure.classList.add("is-live"); },
      function (error) { console.error(error); }
    );
  }
  // pictures are for readers without scripts, and for paper: they are drawn when there is time
  function pictures() {
    document.querySelectorAll("figure.chart noscript").forEach(function (held) {
      const picture = new DOMParser().parseFromString(held.textContent, "text/html").querySelector("picture");
      held.replaceWith(document.importNode(picture, true));
    });
  }
  window.addEventListener("beforeprint", pictures);
  window.addEventListener("load", function () {
    setTimeout(function () {
      if ("requestIdleCallback" in window) { window.requestIdleCallback(pictures, { timeout: 4000 }); } else { pictures(); }
    }, 1000);
  });
  if (!Packed.possible || !("IntersectionObserver" in window)) { return; } // the pictures stay
  document.querySelectorAll("figure.chart").forEach(function (figure, place) {
    const watch = new IntersectionObserver(function (seen) {
      if (!seen.some(function (one) { return one.isIntersecting; })) { return; }
      watch.disconnect();
      const known = JSON.parse(specs[place].textContent);
      draw(figure, known[window.matchMedia("(max-width: 40rem)").matches ? known.length - 1 : 0]);
    }, { rootMargin: "200px" });
    watch.observe(figure);
  });
})();
