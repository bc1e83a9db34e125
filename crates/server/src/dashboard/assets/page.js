// What pages do beside links and forms: follow what happens, copy, filter, keys.
"use strict";

const changes = document.body.dataset.csrf;
document.addEventListener("htmx:configRequest", (event) => {
  if (changes) event.detail.headers["X-Longhaul-Csrf"] = changes;
});

function tell(text) {
  const toast = document.getElementById("toast");
  if (!toast) return;
  toast.textContent = text;
  clearTimeout(tell.timer);
  tell.timer = setTimeout(() => (toast.textContent = ""), 6000);
}
document.addEventListener("htmx:responseError", (event) => {
  const text = event.detail.xhr.responseText;
  try {
    tell(JSON.parse(text).error);
  } catch {
    const page = new DOMParser().parseFromString(text, "text/html");
    tell(page.querySelector("main p")?.textContent || "That did not work.");
  }
});
document.addEventListener("htmx:sendError", () => tell("The server does not answer; is it still running?"));

// Parts that follow a session are fetched anew when it changes.
const live = () => [...document.querySelectorAll("[data-live][id]")];
if ((live().length > 0 || document.getElementById("timeline")?.dataset.source) && window.EventSource) {
  const source = new EventSource("/events");
  source.addEventListener("changed", (event) => {
    const changed = JSON.parse(event.data).sessions;
    for (const part of live()) {
      const wanted = part.dataset.live;
      if (wanted !== "*" && changed && !changed.includes(wanted)) continue;
      const open = [...part.querySelectorAll("details[open]")].map((one) => one.closest("[data-entry]")?.dataset.entry);
      htmx.ajax("GET", location.pathname + location.search, {
        target: "#" + part.id, select: "#" + part.id, swap: "outerHTML",
      }).then(() => {
        for (const entry of open) {
          if (entry) document.querySelector(`#${part.id} [data-entry="${CSS.escape(entry)}"] details`)?.setAttribute("open", "");
        }
        document.querySelectorAll("[data-filter]").forEach(sift);
      });
    }
    document.dispatchEvent(new CustomEvent("longhaul:changed", { detail: changed }));
  });
}

document.addEventListener("click", (event) => {
  const copy = event.target.closest("[data-copy]");
  if (copy) {
    const text = (copy.closest("[data-line], section") || document).querySelector(".text");
    navigator.clipboard?.writeText(text ? text.textContent : "").then(() => tell("Copied."), () => tell("The browser refused to copy."));
  }
  const unfold = event.target.closest("[data-unfold]");
  if (unfold) {
    const all = document.querySelectorAll(unfold.dataset.unfold + " details");
    const opens = [...all].some((one) => !one.open);
    all.forEach((one) => (one.open = opens));
    unfold.textContent = opens ? "Fold all" : "Unfold all";
  }
  const clamped = event.target.closest(".clamp");
  if (clamped && !window.getSelection().toString()) clamped.classList.toggle("whole");
});

function sift(field) {
  const words = field.value.toLowerCase();
  for (const row of document.querySelectorAll(field.dataset.filter)) {
    row.hidden = words !== "" && !row.textContent.toLowerCase().includes(words);
  }
}
document.addEventListener("input", (event) => event.target.dataset?.filter && sift(event.target));

// "/" searches, "f" filters, "j" and "k" go from row to row, Enter opens one.
document.addEventListener("keydown", (event) => {
  if (event.metaKey || event.ctrlKey || event.altKey) return;
  const typing = event.target.closest("input, textarea, select");
  if (typing) {
    if (event.key === "Escape") typing.blur();
    return;
  }
  const field = document.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (field) {
    event.preventDefault();
    field.focus();
    return;
  }
  if (event.key !== "j" && event.key !== "k" && event.key !== "Enter") return;
  const rows = [...document.querySelectorAll("[data-row]")].filter((row) => !row.hidden);
  const at = rows.findIndex((row) => row.classList.contains("at"));
  if (event.key === "Enter") {
    if (at >= 0 && !event.target.closest("a, button, summary")) rows[at].querySelector("a")?.click();
    return;
  }
  const to = Math.max(0, Math.min(rows.length - 1, at + (event.key === "j" ? 1 : -1)));
  rows.forEach((row, n) => row.classList.toggle("at", n === to));
  rows[to]?.scrollIntoView({ block: "nearest" });
});
