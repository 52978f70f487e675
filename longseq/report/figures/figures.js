// Puts figures into the page: buttons that zoom and move, a choice of views, keys, tables of what is in view.
(() => {
  "use strict";
  const {Picture, binned, number, FINEST} = longseqPlot;
  const {Document} = Bokeh.require("document");
  const ROWS = 40;

  function make(name, given = {}, ...content) {
    const made = document.createElement(name);
    for (const [key, value] of Object.entries(given)) made.setAttribute(key, value);
    made.append(...content);
    return made;
  }

  class Figure {
    constructor(place) {
      this.place = place;
      this.spec = JSON.parse(place.querySelector("script").textContent);
      this.caption = place.querySelector("figcaption");
      this.plot = make("div", {class: "plot", role: "img", "aria-label": this.caption.textContent});
      this.keys = make("ul", {class: "keys"});
      this.said = make("output", {});
      this.caption.after(this.controls(), this.plot, this.keys);
      if (this.spec.views[0].panels.some((panel) => panel.marks.some((mark) => mark.kind === "track"))) this.tabled();
    }

    controls() {
      const bar = make("div", {class: "controls", role: "group", "aria-label": "Choose and zoom"});
      if (this.spec.views.length > 1) {
        const choice = make("select", {});
        this.spec.views.forEach((view, i) => choice.append(make("option", {value: i}, view.name)));
        choice.addEventListener("change", () => this.show(Number(choice.value)).catch((error) => this.refuse(error)));
        bar.append(make("label", {}, `${this.spec.choose} `, choice));
      }
      const buttons = [["+", "Zoom in", 0.5, 0], ["−", "Zoom out", 2, 0], ["←", "Move left", 1, -0.5],
        ["→", "Move right", 1, 0.5], ["Whole", "Show the whole", Infinity, 0]];
      for (const [sign, name, scale, shift] of this.spec.zoom ? buttons : []) {
        const button = make("button", {type: "button", "aria-label": name, title: name}, sign);
        button.addEventListener("click", () => this.move(scale, shift));
        bar.append(button);
      }
      bar.append(this.said);
      return bar;
    }

    async show(at) {
      const view = this.view = this.spec.views[at], stage = make("div", {});
      this.drawn?.clear();
      this.plot.replaceChildren(stage);
      this.picture = new Picture(view, this.spec.zoom, this.plot.clientWidth);
      const {root, x} = this.picture, doc = new Document();
      doc.add_root(root);
      const drawn = await Bokeh.embed.add_document_standalone(doc, stage);
      if (this.view !== view) { // another was chosen meanwhile
        drawn.clear();
        return;
      }
      this.drawn = drawn;
      let waiting = false;
      x.change.connect(() => {
        if (waiting) return;
        waiting = true;
        requestAnimationFrame(() => { waiting = false; this.picture.zoomed(); this.say(); });
      });
      this.name();
      this.say();
    }

    refuse(error) { // the page goes on without this one, and its tables hold the same numbers
      this.plot.replaceChildren(make("p", {class: "warn"}, `This figure could not be drawn (${error.message}).`));
    }

    move(scale, shift) {
      const {low, high, log} = this.view.x, {x} = this.picture;
      const there = log ? Math.log : (v) => v, back = log ? Math.exp : (v) => v;
      let start = there(x.start), end = there(x.end);
      const least = there(low), most = there(high), width = Math.min((end - start) * scale, most - least);
      const middle = (start + end) / 2 + shift * (end - start);
      start = Math.max(least, Math.min(middle - width / 2, most - width));
      end = start + width;
      if (width > (most - least) * 1e-6) x.setv({start: scale === Infinity ? low : back(start), end: scale === Infinity ? high : back(end)});
    }

    say() {
      const {x} = this.picture, axis = this.view.x, [track] = this.picture.tracks;
      const ends = axis.places ? [Math.floor(x.start) + 1, Math.ceil(x.end)] : [x.start, x.end];
      const words = this.spec.zoom ? [`${number(ends[0], axis.places ? 12 : 3)} to ${number(ends[1], axis.places ? 12 : 3)}`] : [];
      if (track) words.push(`a point is ${number(track.step * binned(track, x.start, x.end, FINEST).many, 12)} ${axis.places ? "bp" : ""}`);
      this.said.textContent = (words.length ? `In view: ${words.join("; ")}. ` : "") + this.view.note;
      if (this.table?.open) this.tabulate();
    }

    name() { // what colours mean
      this.keys.replaceChildren();
      const key = (text, background, kind = "") => {
        const swatch = make("i", {class: kind});
        swatch.style.background = background;
        this.keys.append(make("li", {}, swatch, text));
      };
      const named = new Set();
      for (const {marks} of this.view.panels) for (const m of marks) {
        if (m.kind === "rule") continue;
        if (m.kind === "grid") key(`${m.name}, ${number(m.low)} to ${number(m.high)}`, RAMP, "ramp");
        else if (typeof m.colour === "object" && !Array.isArray(m.colour)) {
          const text = `${m.colour.label}, ${number(m.colour.low)} to ${number(m.colour.high)}`;
          if (!named.has(text)) key(text, RAMP, "ramp");
          named.add(text);
        } else if (Array.isArray(m.colour)) {
          for (const [i, text] of Object.entries(m.names ?? {})) key(text, `var(--c${i})`);
        } else if (m.name && !named.has(m.name + m.colour)) {
          key(m.name, `var(--c${m.colour})`);
          named.add(m.name + m.colour);
        }
      }
    }

    tabled() {
      this.table = make("details", {}, make("summary", {}, "What is in view, as a table"));
      this.table.addEventListener("toggle", () => { if (this.table.open) this.tabulate(); });
      this.keys.after(this.table);
    }

    tabulate() {
      const {x, tracks} = this.picture, found = tracks.map((track) => binned(track, x.start, x.end, ROWS));
      const head = make("tr", {}, ...["from", "to", ...tracks.map((t) => t.name + (t.unit ? `, ${t.unit}` : ""))]
        .map((name) => make("th", {scope: "col"}, name)));
      const body = make("tbody", {}, ...found[0].x.map((_, i) => make("tr", {},
        ...[number(found[0].from[i] + 1, 12), number(found[0].to[i], 12), ...found.map((one) => number(one.mean[i], 4))]
          .map((text) => make("td", {}, text)))));
      const whole = make("div", {class: "scroll", tabindex: "0", role: "region", "aria-label": "Table of what is in view"},
        make("table", {}, make("thead", {}, head), body));
      this.table.querySelector(".scroll")?.remove();
      this.table.append(whole);
    }
  }

  const RAMP = "linear-gradient(90deg, var(--r0), var(--r1), var(--r2))";

  async function all() {
    const figures = [...document.querySelectorAll("figure.drawn")].map((place) => new Figure(place));
    for (const one of figures) await one.show(0).catch((error) => one.refuse(error));
    document.addEventListener("theme", () => figures.forEach((one) => one.picture?.paint()));
    document.documentElement.dataset.figures = "drawn";
  }
  all();
})();
