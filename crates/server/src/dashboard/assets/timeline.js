// The timeline of a session: what filled each request, stacked, with thresholds as
// lines, what was done as marks, and the cost of each request below. The server sends
// no more columns than the picture has room for; a stretch that is zoomed into is
// fetched anew.
"use strict";

(() => {
  const root = document.getElementById("timeline");
  if (!root) return;
  const byId = (id) => document.getElementById(id);
  const state = byId("timeline-state");
  const inline = byId("timeline-data");
  const PARTS = [
    ["unrecorded", "not recorded (prompt, tools)"],
    ["system", "system messages"],
    ["summary", "summary"],
    ["user", "user's words"],
    ["agent", "agent"],
    ["tools", "tool results"],
  ];
  const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue("--" + name).trim();
  const grouped = new Intl.NumberFormat("en");
  const short = (n) => (n >= 1e6 ? n / 1e6 + "M" : n >= 1e3 ? n / 1e3 + "k" : "" + n);
  let charts = [];
  let stretch = null;
  let shown = null;

  // Sums from below: the topmost series is the whole.
  function stack(data) {
    const sum = new Float64Array(data.at.length);
    return PARTS.map(([part]) => {
      for (let i = 0; i < sum.length; i++) sum[i] += data[part][i] || 0;
      return Float64Array.from(sum);
    });
  }

  function marks(data) {
    return (chart) => {
      const { ctx, bbox } = chart;
      const ratio = devicePixelRatio;
      ctx.save();
      ctx.beginPath();
      ctx.rect(bbox.left, bbox.top, bbox.width, bbox.height);
      ctx.clip();
      ctx.lineWidth = ratio;
      ctx.textAlign = "left";
      ctx.font = 11 * ratio + "px system-ui";
      const line = (fromX, fromY, toX, toY) => {
        ctx.beginPath();
        ctx.moveTo(fromX, fromY);
        ctx.lineTo(toX, toY);
        ctx.stroke();
      };
      let written = Infinity;
      // Pruning begins where a checkpoint is due.
      for (const [name, at] of Object.entries(data.thresholds).reverse()) {
        if (name === "prune") continue;
        const y = chart.valToPos(at, "y", true);
        ctx.strokeStyle = ctx.fillStyle = colour("dim");
        ctx.setLineDash([4 * ratio, 4 * ratio]);
        line(bbox.left, y, bbox.left + bbox.width, y);
        if (Math.abs(written - y) < 12 * ratio) continue;
        ctx.fillText(name, bbox.left + 4 * ratio, y - 3 * ratio);
        written = y;
      }
      ctx.setLineDash([]);
      let numbered = -Infinity;
      for (const { kind, at, number } of data.marks) {
        const x = chart.valToPos(at - 0.5, "x", true);
        ctx.strokeStyle = ctx.fillStyle = colour("mark-" + kind);
        const isCompaction = kind === "compaction";
        line(x, isCompaction ? bbox.top : bbox.top + bbox.height - 8 * ratio, x, bbox.top + bbox.height);
        if (!isCompaction || !number || x - numbered < 20 * ratio) continue;
        ctx.fillText(number, x + 3 * ratio, bbox.top + 11 * ratio);
        numbered = x;
      }
      ctx.restore();
    };
  }

  function legend(data, at) {
    const value = (one) => (one == null ? "unknown" : grouped.format(one));
    const row = (kind, label, one) => `<span class="legend-row"><span class="key ${kind}"></span>${label}${one === undefined ? "" : `: <b>${value(one)}</b>`}</span>`;
    const pick = (column) => (at == null ? undefined : column[at]);
    const rows = PARTS.map(([part, label]) => row("key-" + part, label, pick(data[part])));
    const lines = Object.entries(data.beside || {}).map(([name, column], n) => row("key-beside-" + n, name, pick(column)));
    const done = [...new Set(data.marks.map((mark) => mark.kind))].map((kind) => row("mark-" + kind, kind));
    let head = `${grouped.format(data.requests)} requests`;
    if (data.to - data.from < data.requests) head = `requests ${grouped.format(data.from + 1)} to ${grouped.format(data.to)} of ${grouped.format(data.requests)}`;
    if (data.cost > 0) head += ` · $${data.cost.toFixed(data.cost < 1 ? 3 : 2)}` + (data.unpriced ? ` (${grouped.format(data.unpriced)} without a price)` : "");
    if (at != null) {
      const whole = PARTS.reduce((sum, [part]) => sum + (data[part][at] || 0), 0);
      head = `request ${grouped.format(data.at[at] + 1)}` + (data.time[at] ? " · " + new Date(data.time[at]).toISOString().replace("T", " ").slice(0, 19) : "") + ` · <b>${grouped.format(whole)}</b> tokens`;
      if (data.dollars[at] != null) head += ` · $${data.dollars[at].toFixed(4)}`;
    }
    byId("timeline-legend").innerHTML = `<div class="legend-head">${head}</div>` + [...rows, ...lines, ...done].join("");
  }

  function draw(data) {
    shown = data;
    charts.forEach((chart) => chart.destroy());
    charts = [];
    root.dataset.drawn = data.at.length;
    state.textContent = data.at.length ? "" : "The session has no request yet.";
    if (!data.at.length) return;
    const width = () => Math.max(280, byId("timeline-chart").clientWidth);
    const axis = () => ({ stroke: colour("dim"), grid: { stroke: colour("line"), width: 1 }, ticks: { stroke: colour("line"), width: 1 } });
    const area = (label, name, paths) => ({ label, stroke: colour(name), fill: colour(name), width: 0, points: { show: false }, paths });
    const cursor = { sync: { key: "timeline" }, drag: { x: true, y: false, setScale: Boolean(inline) }, points: { show: false } };
    const zoomed = (chart) => {
      if (inline || chart.select.width < 4) return;
      const [from, to] = [chart.select.left, chart.select.left + chart.select.width].map((x) => Math.round(chart.posToVal(x, "x")));
      stretch = [Math.max(0, from), Math.max(from + 1, to)];
      begin();
    };
    const sums = stack(data);
    // What is drawn beside it may go out of the picture.
    const top = sums[sums.length - 1].reduce((most, one) => Math.max(most, one), data.window);
    const beside = Object.entries(data.beside || {});
    const lines = beside.map(([label], n) => ({ label, stroke: colour("beside-" + n), width: 1.5, points: { show: false } }));
    // Drawn from the top down, so that each lies on what is below it.
    const order = PARTS.map((_, i) => i).reverse();
    const make = (options, columns, place) => {
      const chart = new uPlot({ width: width(), padding: [12, 16, 8, 0], legend: { show: false }, cursor, ...options }, columns, byId(place));
      chart.over.addEventListener("dblclick", () => {
        if (inline || !stretch) return;
        stretch = null;
        begin();
      });
      charts.push(chart);
      return chart;
    };
    const chart = make({
      height: 320,
      scales: { x: { time: false }, y: { range: () => [0, top * 1.03 || 1] } },
      axes: [{ ...axis(), values: (_, ticks) => ticks.map((tick) => short(tick + (Number.isInteger(tick) ? 1 : 0))) }, { ...axis(), size: 56, values: (_, ticks) => ticks.map(short) }],
      series: [{}, ...order.map((i) => area(PARTS[i][1], "part-" + PARTS[i][0], uPlot.paths.stepped({ align: 1 }))), ...lines],
      hooks: { draw: [marks(data)], setCursor: [(chart) => legend(data, chart.cursor.idx)], setSelect: [zoomed] },
    }, [data.at, ...order.map((i) => sums[i]), ...beside.map(([, column]) => column)], "timeline-chart");
    if (data.dollars.some((cost) => cost != null)) {
      make({
        height: 110, scales: { x: { time: false } },
        axes: [{ ...axis(), show: false }, { ...axis(), size: 56, values: (_, ticks) => ticks.map((tick) => "$" + tick) }],
        series: [{}, area("cost", "cost", uPlot.paths.bars({ size: [0.9, 60, 1] }))],
        hooks: { setSelect: [zoomed] },
      }, [data.at, Float64Array.from(data.dollars, (cost) => cost || 0)], "timeline-cost");
    }
    const open = (at) => at != null && root.dataset.at && (location.href = root.dataset.at + "/" + data.at[at]);
    let pressed = null;
    chart.over.addEventListener("mousedown", (event) => (pressed = event.clientX));
    chart.over.addEventListener("click", (event) => {
      if (pressed != null && Math.abs(event.clientX - pressed) <= 3) open(chart.cursor.idx);
    });
    // The same without a mouse.
    byId("timeline-chart").onkeydown = (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (event.key === "Enter") return open(chart.cursor.idx);
      if (!step) return;
      event.preventDefault();
      const at = Math.max(0, Math.min(data.at.length - 1, (chart.cursor.idx ?? -1) + step));
      chart.setCursor({ left: chart.valToPos(data.at[at], "x"), top: 10 });
    };
    legend(data, null);
  }

  async function load() {
    if (inline) return draw(JSON.parse(inline.textContent));
    const wanted = { columns: Math.min(2000, Math.max(280, byId("timeline-chart").clientWidth)) };
    if (stretch) [wanted.from, wanted.to] = stretch;
    const answer = await fetch(root.dataset.source + "?" + new URLSearchParams(wanted));
    const data = await answer.json();
    if (!answer.ok) throw new Error(data.error);
    draw(data);
  }
  const begin = () => load().catch((error) => (state.textContent = "The timeline cannot be drawn: " + error.message));
  begin();
  document.addEventListener("longhaul:changed", (event) => {
    if (!event.detail || event.detail.includes(root.dataset.session)) begin();
  });
  addEventListener("resize", () => charts.forEach((one) => one.setSize({ width: Math.max(280, byId("timeline-chart").clientWidth), height: one.height })));
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown && draw(shown));
})();
