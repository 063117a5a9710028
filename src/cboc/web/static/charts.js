// Draws every element with data-chart="URL", where the URL answers with an ECharts option as JSON.
// A refreshed element is drawn again when its URL has changed: the URL says what the picture depends on.
"use strict";

(() => {
  const drawn = new Map(); // element -> { chart, canvas, url, option }
  const resized = new ResizeObserver((entries) => {
    for (const { target } of entries) drawn.get(target)?.chart.resize();
  });

  // The colours are those of the style sheet, light or dark.
  function theme() {
    const style = getComputedStyle(document.documentElement);
    const colour = (name) => style.getPropertyValue(`--${name}`).trim();
    const text = { color: colour("quiet") };
    const axis = {
      axisLine: { lineStyle: { color: colour("line") } },
      axisTick: { show: false },
      axisLabel: text,
      nameTextStyle: text,
      splitLine: { lineStyle: { color: colour("faint") } },
    };
    return {
      color: Array.from({ length: 10 }, (_, k) => colour(`site-${k}`)),
      backgroundColor: "transparent",
      textStyle: { fontFamily: style.fontFamily },
      categoryAxis: { ...axis, splitLine: { show: false } },
      valueAxis: axis,
      logAxis: axis,
      timeAxis: axis,
      visualMap: { textStyle: text },
      heatmap: { label: { color: colour("ink") } },
      tooltip: {
        backgroundColor: colour("paper"),
        borderColor: colour("line"),
        textStyle: { color: colour("ink"), fontSize: 13 },
      },
    };
  }

  // Small weights are told apart: the colour goes with the square root.
  function ramp() {
    const style = getComputedStyle(document.documentElement);
    const ends = ["--none", "--all"].map((name) => style.getPropertyValue(name).trim());
    return Array.from({ length: 11 }, (_, k) => echarts.color.lerp(Math.sqrt(k / 10), ends));
  }

  // An element with data-mark="[x, y]" has that point in the series with the id "mark".
  function marked(option, element) {
    if (!element?.dataset.mark) return;
    for (const series of option.series) if (series.id === "mark") series.data = [JSON.parse(element.dataset.mark)];
  }

  function paint(known) {
    if (!known.option) return;
    marked(known.option, known.element);
    if (known.option.visualMap && !known.hasColours) known.option.visualMap.inRange = { color: ramp() };
    known.chart.setOption(known.option, { notMerge: true });
  }

  function begin(element) {
    const canvas = document.createElement("div");
    canvas.className = "canvas";
    element.replaceChildren(canvas);
    const known = { element, canvas, chart: echarts.init(canvas, theme()) };
    drawn.set(element, known);
    resized.observe(element);
    return known;
  }

  async function draw(element) {
    const url = element.dataset.chart;
    const known = drawn.get(element) ?? begin(element);
    if (known.url === url) return;
    known.url = url;
    try {
      const answer = await fetch(url);
      if (!answer.ok) throw new Error(`${url}: ${answer.status}`);
      const option = await answer.json();
      if (known.url !== url) return; // a newer one is on its way
      known.option = option;
      known.hasColours = Boolean(option.visualMap?.inRange); // of its own, light or dark
      paint(known);
    } catch {
      if (known.url === url) known.url = null; // the next refresh tries again
    }
  }

  function drawAll() {
    for (const [element, { chart }] of drawn) {
      if (element.isConnected) continue;
      resized.unobserve(element);
      chart.dispose();
      drawn.delete(element);
    }
    document.querySelectorAll("[data-chart]").forEach(draw);
  }

  document.addEventListener("DOMContentLoaded", drawAll);
  document.addEventListener("htmx:after:swap", drawAll);
  document.addEventListener("chart:marked", (event) => {
    const known = drawn.get(event.target);
    if (known) paint(known);
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
    for (const known of drawn.values()) {
      known.chart.setTheme(theme());
      paint(known);
    }
  });

  // Paper gets an image of each chart, in the light colours: a canvas that is drawn while printing is not all there.
  let printed = [];
  addEventListener("beforeprint", () => {
    document.documentElement.toggleAttribute("data-paper", true);
    for (const [element, { chart, option, hasColours }] of drawn) {
      const size = { width: chart.getWidth(), height: chart.getHeight(), devicePixelRatio: 1 };
      const copy = echarts.init(document.createElement("div"), theme(), size);
      paint({ chart: copy, option: structuredClone(option), hasColours });
      const image = new Image();
      image.className = "paper";
      image.src = copy.getDataURL({ pixelRatio: 2 }); // finer than it was drawn, so all of it is drawn anew, at once
      element.append(image);
      printed.push({ copy, image });
    }
  });
  addEventListener("afterprint", () => {
    document.documentElement.toggleAttribute("data-paper", false);
    for (const { copy, image } of printed) {
      copy.dispose();
      image.remove();
    }
    printed = [];
  });
})();
