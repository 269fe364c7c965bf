"use strict";
(function () {
  const specs = document.querySelectorAll("script.chart-spec");
  function draw(figure, spec) {
    // expressions are interpreted, not compiled: the page's policy allows no eval
    const options = { ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true } };
    window.vegaEmbed(figure.querySelector(".live"), spec, options).then(
      function () { figure.classList.add("is-live"); },
      function (error) { console.error(error); }
    );
  }
  document.querySelectorAll("figure.chart").forEach(function (figure, place) {
    const known = JSON.parse(specs[place].textContent);
    const spec = known[window.matchMedia("(max-width: 40rem)").matches ? known.length - 1 : 0];
    if (!("IntersectionObserver" in window)) { draw(figure, spec); return; }
    const watch = new IntersectionObserver(function (seen) {
      if (seen.some(function (one) { return one.isIntersecting; })) { watch.disconnect(); draw(figure, spec); }
    }, { rootMargin: "300px" });
    watch.observe(figure);
  });
})();
