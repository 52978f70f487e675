// Light and dark: as the system has it, until a reader chooses. Links that unfold what they lead to.
(() => {
  "use strict";
  const root = document.documentElement, button = document.getElementById("theme");
  const system = matchMedia("(prefers-color-scheme: dark)");
  const dark = () => (root.dataset.theme ? root.dataset.theme === "dark" : system.matches);
  const say = () => {
    button.textContent = dark() ? "Light" : "Dark";
    button.setAttribute("aria-label", `Switch to ${dark() ? "light" : "dark"} colours`);
    root.dataset.shown = dark() ? "dark" : "light";
    document.dispatchEvent(new Event("theme"));
  };
  try {
    const chosen = localStorage.getItem("longseq-theme");
    if (chosen === "dark" || chosen === "light") root.dataset.theme = chosen;
  } catch { /* a browser may keep nothing for files */ }
  button.addEventListener("click", () => {
    root.dataset.theme = dark() ? "light" : "dark";
    try { localStorage.setItem("longseq-theme", root.dataset.theme); } catch { /* as above */ }
    say();
  });
  let printing = false; // paper is light for a moment, and the screen stays as it is
  addEventListener("beforeprint", () => { printing = true; });
  addEventListener("afterprint", () => { printing = false; });
  system.addEventListener("change", () => { if (!printing && !matchMedia("print").matches) say(); });
  button.hidden = false;
  say();
  const open = () => { // what a link leads to is unfolded
    let name = location.hash.slice(1);
    try { name = decodeURIComponent(name); } catch { /* a lone % stands for itself */ }
    const place = document.getElementById(name);
    if (place?.tagName === "DETAILS") place.open = true;
  };
  addEventListener("hashchange", open);
  open();
})();
