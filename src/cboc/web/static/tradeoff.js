// Moves a trade-off along the front: the sliders of a .tradeoff say how much each objective counts, and the .choice
// that is best then is shown and marked in the charts. Nothing is fetched or sent: the results are in the page.
//
//   least of   max_i w_i d_i + ρ Σ_i w_i d_i       d_i: how far a result stays behind the best, in objective i
"use strict";

(() => {
  let kept = null; // the sliders as they were moved: new results do not move them back

  const numbers = (text) => text.trim().split(/\s+/).map(Number);

  function best(choices, weights, augmented) {
    const apart = choices.map((choice) => {
      const weighted = numbers(choice.dataset.behind).map((behind, i) => weights[i] * behind);
      return Math.max(...weighted) + augmented * weighted.reduce((sum, each) => sum + each, 0);
    });
    return choices[apart.indexOf(Math.min(...apart))];
  }

  function show(card) {
    const sliders = [...card.querySelectorAll("[data-weight]")];
    const choices = [...card.querySelectorAll(".choice")];
    if (!choices.length) return;
    const given = sliders.map((slider) => Number(slider.value));
    const weights = given.some((weight) => weight > 0) ? given : given.map(() => 1);
    const chosen = best(choices, weights, Number(card.dataset.augmented));
    for (const choice of choices) choice.hidden = choice !== chosen;
    const values = numbers(chosen.dataset.values);
    for (const chart of card.querySelectorAll("[data-pair]")) {
      chart.dataset.mark = JSON.stringify(numbers(chart.dataset.pair).map((objective) => values[objective]));
      chart.dispatchEvent(new CustomEvent("chart:marked", { bubbles: true }));
    }
  }

  function showAll() {
    for (const card of document.querySelectorAll(".tradeoff")) {
      const sliders = [...card.querySelectorAll("[data-weight]")];
      if (kept?.length === sliders.length) sliders.forEach((slider, i) => (slider.value = kept[i]));
      show(card);
    }
  }

  document.addEventListener("input", (event) => {
    const card = event.target.dataset.weight && event.target.closest(".tradeoff");
    if (!card) return;
    kept = [...card.querySelectorAll("[data-weight]")].map((slider) => slider.value);
    show(card);
  });
  document.addEventListener("DOMContentLoaded", showAll);
  document.addEventListener("htmx:after:swap", showAll);
})();
