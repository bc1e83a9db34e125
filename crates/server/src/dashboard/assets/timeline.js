// The timeline of a session: what filled each request, stacked, with thresholds as
// lines, what was done as marks, and the cost of each request below.
"use strict";

(() => {
  const root = document.getElementById("timeline");
  if (!root) return;
  const state = document.getElementById("timeline-state");
  const PARTS = [
    ["unrecorded", "not recorded (prompt, tools)"],
    ["system", "system messages"],
    ["summary", "summary"],
    ["user", "user's words"],
    ["agent", "agent"],
    ["tools", "tool results"],
  ];
  const MARKS = { compaction: "compaction", pruning: "pruning", checkpoint: "checkpoint", flush: "flush" };
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const grouped = new Intl.NumberFormat("en");
  const short = (n) => (n >= 1e6 ? n / 1e6 + "M" : n >= 1e3 ? n / 1e3 + "k" : "" + n);
  let charts = [];

  // Sums from below: the topmost series is the whole.
  function stack(data, count) {
    const sums = [];
    const sum = new Float64Array(count);
    for (const [part] of PARTS) {
      const values = data[part];
      for (let i = 0; i < count; i++) sum[i] += values[i] || 0;
      sums.push(Float64Array.from(sum));
    }
    return sums;
  }

  function marks(data) {
    return (chart) => {
      const { ctx, bbox } = chart;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.lineWidth = devicePixelRatio;
      ctx.textAlign = "left";
      ctx.font = 11 * devicePixelRatio + "px system-ui";
      for (const { name, at } of data.thresholds || []) {
        const y = chart.valToPos(at, "y", true);
        ctx.strokeStyle = ctx.fillStyle = colour("dim");
        ctx.setLineDash([4 * devicePixelRatio, 4 * devicePixelRatio]);
        ctx.beginPath();
        ctx.moveTo(bbox.left, y);
        ctx.lineTo(bbox.left + bbox.width, y);
        ctx.stroke();
        if (["gauge", "activation"].includes(name)) ctx.fillText(name + " " + short(at), bbox.left + 6 * devicePixelRatio, y - 4 * devicePixelRatio);
      }
      for (const mark of data.marks || []) {
        const x = chart.valToPos(mark.at - 0.5, "x", true);
        if (x < bbox.left || x > bbox.left + bbox.width) continue;
        ctx.strokeStyle = ctx.fillStyle = colour("mark-" + mark.kind) || colour("fore");
        ctx.setLineDash(mark.kind === "compaction" ? [] : [2 * devicePixelRatio, 3 * devicePixelRatio]);
        ctx.beginPath();
        ctx.moveTo(x, bbox.top);
        ctx.lineTo(x, bbox.top + bbox.height);
        ctx.stroke();
        if (mark.kind === "compaction" && mark.number) ctx.fillText("" + mark.number, x + 3 * devicePixelRatio, bbox.top + 11 * devicePixelRatio);
      }
      ctx.restore();
    };
  }

  function legend(data, chart) {
    const place = document.getElementById("timeline-legend");
    const at = chart && chart.cursor.idx;
    const rows = PARTS.map(([part, label]) => {
      const value = at == null ? null : data[part][at];
      return `<span class="key key-${part}"></span>${label}` + (at == null ? "" : `: <b>${value == null ? "unknown" : grouped.format(value)}</b>`);
    });
    let head = `${grouped.format(data.count)} requests`;
    if (data.cost > 0) head += ` · $${data.cost.toFixed(data.cost < 1 ? 3 : 2)}` + (data.unpriced ? ` (${grouped.format(data.unpriced)} without a price)` : "");
    if (at != null) {
      const time = data.time && data.time[at];
      const whole = PARTS.reduce((sum, [part]) => sum + (data[part][at] || 0), 0);
      head = `request ${grouped.format(at + 1)}` + (time ? " · " + new Date(time).toISOString().replace("T", " ").slice(0, 19) : "") + ` · <b>${grouped.format(whole)}</b> tokens`;
      const cost = data.dollars && data.dollars[at];
      if (cost != null) head += ` · $${cost.toFixed(4)}`;
    }
    const seen = [...new Set((data.marks || []).map((mark) => mark.kind))];
    const done = seen.map((kind) => `<span class="key mark-${kind}"></span>${MARKS[kind] || kind}`);
    place.innerHTML = `<div class="legend-head">${head}</div>` + [...rows, ...done].map((row) => `<span class="legend-row">${row}</span>`).join("");
  }

  function draw(data) {
    const count = (data.count = data.tools.length);
    charts.forEach((chart) => chart.destroy());
    charts = [];
    if (count === 0) {
      state.textContent = "The session has no request yet.";
      return;
    }
    state.textContent = "";
    const xs = Float64Array.from({ length: count }, (_, i) => i);
    const sums = stack(data, count);
    const width = () => Math.max(280, document.getElementById("timeline-chart").clientWidth);
    const sync = uPlot.sync("timeline");
    const axis = () => ({ stroke: colour("dim"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 } });
    // Drawn from the top down, so that each lies on what is below it.
    const order = PARTS.map((_, i) => i).reverse();
    const series = order.map((i) => ({
      label: PARTS[i][1], stroke: colour("part-" + PARTS[i][0]), fill: colour("part-" + PARTS[i][0]), width: 0, points: { show: false },
      paths: uPlot.paths.stepped({ align: 1 }),
    }));
    const chart = new uPlot({
      width: width(), height: 320, padding: [12, 16, 0, 0], legend: { show: false },
      cursor: { sync: { key: sync.key }, drag: { x: true, y: false }, points: { show: false } },
      scales: { x: { time: false }, y: { range: (_, __, max) => [0, Math.max(max, data.thresholds?.length ? data.window : 0) * 1.03 || 1] } },
      axes: [{ ...axis(), values: (_, ticks) => ticks.map((tick) => short(tick + (Number.isInteger(tick) ? 1 : 0))) }, { ...axis(), size: 56, values: (_, ticks) => ticks.map(short) }],
      series: [{}, ...series],
      hooks: { draw: [marks(data)], setCursor: [(chart) => legend(data, chart)] },
    }, [xs, ...order.map((i) => sums[i])], document.getElementById("timeline-chart"));
    charts.push(chart);
    if (data.dollars && data.dollars.some((cost) => cost != null)) {
      charts.push(new uPlot({
        width: width(), height: 110, padding: [12, 16, 0, 0], legend: { show: false },
        cursor: { sync: { key: sync.key }, drag: { x: true, y: false }, points: { show: false } },
        scales: { x: { time: false } },
        axes: [{ ...axis(), show: false }, { ...axis(), size: 56, values: (_, ticks) => ticks.map((tick) => "$" + tick) }],
        series: [{}, { label: "cost", stroke: colour("cost"), fill: colour("cost"), width: 0, points: { show: false }, paths: uPlot.paths.bars({ size: [0.9, 60, 1] }) }],
      }, [xs, Float64Array.from(data.dollars, (cost) => cost || 0)], document.getElementById("timeline-cost")));
    }
    if (root.dataset.at) {
      let from = null;
      chart.over.addEventListener("mousedown", (event) => (from = event.clientX));
      chart.over.addEventListener("click", (event) => {
        if (from == null || Math.abs(event.clientX - from) > 3 || chart.cursor.idx == null) return;
        location.href = root.dataset.at + "/" + chart.cursor.idx;
      });
    }
    legend(data, null);
    root.dataset.drawn = count;
    addEventListener("resize", () => charts.forEach((one) => one.setSize({ width: width(), height: one.height })), { once: true });
  }

  async function load() {
    const inline = document.getElementById("timeline-data");
    if (inline) return draw(JSON.parse(inline.textContent));
    const answer = await fetch(root.dataset.source);
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.error);
    draw(data);
  }
  const begin = () => load().catch((error) => (state.textContent = "The timeline cannot be drawn: " + error.message));
  begin();
  document.addEventListener("longhaul:changed", (event) => {
    const id = root.closest("[data-live]")?.dataset.live;
    if (!event.detail || event.detail.includes(id)) begin();
  });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", begin);
})();
