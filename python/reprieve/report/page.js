// Draws the report's charts and shows in them the runs whose boxes are ticked.
"use strict";
(() => {
  const specs = JSON.parse(document.getElementById("specs").textContent);
  const boxes = [...document.querySelectorAll(".runs input")];
  const views = [];

  const show = () => {
    const runs = boxes.filter((box) => box.checked).map((box) => box.value);
    for (const view of views) view.signal("shown", runs).runAsync();
  };

  for (const [name, spec] of Object.entries(specs)) {
    window
      .vegaEmbed(`#chart-${name}`, spec, { actions: false, renderer: "svg" })
      .then(({ view }) => views.push(view));
  }
  for (const box of boxes) box.addEventListener("change", show);
})();
