// Finds cases among many, and puts those first in which Axisloom is slowest beside the others, or fastest. The page is
// whole without it.
"use strict";
const controls = document.querySelector(".controls");
const [find, order] = controls.querySelectorAll("input, select");
const charts = [...document.querySelectorAll(".charts > figure")];
const places = new Map(charts.map((chart, place) => [chart, place]));
const groups = [...document.querySelectorAll("tbody[data-case]")];

function show() {
  const words = find.value.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = element => words.every(word => element.dataset.case.toLowerCase().includes(word));
  for (const element of [...charts, ...groups]) element.hidden = !fits(element);
  controls.querySelector("output").value = `${charts.filter(fits).length} of ${charts.length} cases`;
}

function sort() {
  const way = Number(order.value);  // 0: as they were measured
  const key = chart => way === 0 ? places.get(chart) : way * Number(chart.dataset.ratio || way * Infinity);
  for (const box of document.querySelectorAll(".charts"))
    box.append(...[...box.children].sort((a, b) => key(a) - key(b) || places.get(a) - places.get(b)));
}

find.addEventListener("input", show);
order.addEventListener("change", sort);
controls.hidden = false;
show();
