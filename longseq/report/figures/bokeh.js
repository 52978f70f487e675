// A view as models of Bokeh: plots below one another that share their x, in the page's colours.
const longseqPlot = (() => {
  "use strict";
  const M = Bokeh.Models, GAP = 65535, FINEST = 900, LEFT = 76;
  const FONT = "system-ui, 'Noto Sans', sans-serif";
  const probe = document.createElement("span");
  probe.hidden = true;
  document.body.append(probe);

  const number = (value, digits = 5) =>
    value === null || Number.isNaN(value) ? "no value"
      : Math.abs(value) >= 1000 ? Math.round(value).toLocaleString("en")
      : Number(value.toPrecision(digits)).toLocaleString("en", {maximumFractionDigits: 9});

  // what looks like a formula stays as it is written: the library would cut it short
  const literal = (text) => text.replace(/\$\$|\\[[(]/g, (mark) => `${mark[0]}\u2060${mark[1]}`);

  function colour(name) { // `c0`, `ink`: as the page has it now
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  }

  function ramp(steps = 64) { // low to high
    const ends = ["r0", "r1", "r2"].map((name) => colour(name).match(/[\d.]+/g).slice(0, 3).map(Number));
    return Array.from({length: steps}, (_, i) => {
      const at = (2 * i) / (steps - 1), a = ends[Math.min(1, Math.floor(at))], b = ends[Math.min(1, Math.floor(at)) + 1];
      const part = at - Math.min(1, Math.floor(at));
      return "#" + a.map((v, k) => Math.round(v + (b[k] - v) * part).toString(16).padStart(2, "0")).join("");
    });
  }

  function unpack(given) { // a list, or 16 bits each
    if (given === undefined) return undefined;
    if (Array.isArray(given)) return Float64Array.from(given, (v) => (v === null ? NaN : v));
    const bytes = Uint8Array.from(atob(given.codes), (c) => c.charCodeAt(0));
    const codes = new DataView(bytes.buffer), out = new Float64Array(bytes.length / 2);
    for (let i = 0; i < out.length; i++) {
      const code = codes.getUint16(2 * i, true);
      out[i] = code === GAP ? NaN : given.low + given.step * code;
    }
    return out;
  }

  class Picture {
    constructor(view, zoom, width) { // pixels
      this.view = view;
      this.width = width - LEFT;
      this.moves = zoom && !matchMedia("(pointer: coarse)").matches; // a finger scrolls the page
      this.painted = []; // functions that give models the colours of the page
      this.tracks = [];
      const {x} = view;
      this.x = new M.Range1d({start: x.low, end: x.high, bounds: [x.low, x.high]});
      this.plots = view.panels.map((panel, i) => this.plot(panel, i === view.panels.length - 1));
      this.root = new M.Column({children: this.plots, sizing_mode: "stretch_width", spacing: 4});
      this.paint();
      this.zoomed();
    }

    paint() { for (const one of this.painted) one(); }

    coloured(model, names) { // names: property to variable of the page
      this.painted.push(() => model.setv(Object.fromEntries(Object.entries(names).map(([p, n]) => [p, colour(n)]))));
      return model;
    }

    plot(panel, last) {
      const {x} = this.view, {y} = panel;
      const plot = new M.Plot({
        x_range: this.x, y_range: new M.Range1d({start: y.low, end: y.high}),
        x_scale: x.log ? new M.LogScale() : new M.LinearScale(), y_scale: y.log ? new M.LogScale() : new M.LinearScale(),
        height: panel.height + (last ? 46 : 0), sizing_mode: "stretch_width", toolbar_location: null,
        min_border_left: LEFT, min_border_right: 16, min_border_top: 6, min_border_bottom: last ? 46 : 4,
        
      });
      this.coloured(plot, {outline_line_color: "line", background_fill_color: "paper", border_fill_color: "paper"});
      this.axis(plot, x, "below", last);
      this.axis(plot, y, "left", true);
      const hovered = [];
      for (const mark of panel.marks) hovered.push(...this[mark.kind](plot, mark));
      if (hovered.length) {
        const mode = panel.marks.some((mark) => mark.kind === "track") ? "vline" : "mouse";
        plot.add_tools(new M.HoverTool({renderers: hovered, tooltips: "@words", mode, point_policy: "snap_to_data"}));
      }
      if (this.moves) {
        const pan = new M.PanTool({dimensions: "width"});
        plot.add_tools(pan);
        plot.toolbar.active_drag = pan;
      }
      return plot;
    }

    axis(plot, spec, side, shown) {
      const kind = spec.log ? M.LogAxis : M.LinearAxis;
      const longest = Math.max(number(spec.low, 3).length, number(spec.high, 3).length) + 2; // in letters
      const across = Math.min(7, Math.floor(this.width / (7 * longest))), up = Math.min(6, Math.round(plot.height / 34));
      const wanted = Math.max(2, side === "below" ? across : up);
      const named = Object.keys(spec.ticks ?? {}).map(Number).sort((a, b) => a - b);
      const each = side === "below" ? Math.ceil(named.length / Math.max(2, this.width / 56)) : 1;
      const ticker = spec.ticks ? new M.FixedTicker({ticks: named.filter((_, i) => i % each === 0)})
        : spec.log ? new M.LogTicker({desired_num_ticks: wanted}) : new M.BasicTicker({desired_num_ticks: wanted});
      const axis = new kind({
        ticker, axis_label: literal(spec.label), visible: shown,
        formatter: new M.NumeralTickFormatter({format: "0,0.[000000]"}),
        major_label_overrides: new Map(Object.entries(spec.ticks ?? {}).map(([k, v]) => [Number(k), literal(v)])),
        axis_label_text_font: FONT, axis_label_text_font_size: "11px", axis_label_text_font_style: "normal",
        major_label_text_font: FONT, major_label_text_font_size: "11px", minor_tick_line_color: null, major_tick_in: 0,
      });
      this.coloured(axis, {axis_label_text_color: "soft", major_label_text_color: "soft", axis_line_color: "line",
        major_tick_line_color: "line"});
      plot.add_layout(axis, side);
      const grid = new M.Grid({dimension: side === "below" ? 0 : 1, ticker, grid_line_alpha: 0.6});
      plot.add_layout(this.coloured(grid, {grid_line_color: "line"}));
    }

    add(plot, glyph, columns, names) {
      const source = new M.ColumnDataSource({data: columns});
      if (names) this.coloured(glyph, names);
      const drawn = new M.GlyphRenderer({data_source: source, glyph, view: new M.CDSView({filter: new M.AllIndices()})});
      plot.renderers = [...plot.renderers, drawn];
      return drawn;
    }

    words(name, x, y) { // what is said of a point
      const at = this.view.x, title = name ? `${name}: ` : "";
      const where = at.ticks?.[x] ?? number(x, 7);
      return `${title}${number(y)} at ${where}`;
    }

    line(plot, m) {
      const x = unpack(m.x), y = unpack(m.y), field = (f) => ({field: f}), pen = `c${m.colour}`;
      const words = Array.from(x, (at, i) => this.words(m.name, at, y[i]));
      const glyph = new M.Line({x: field("x"), y: field("y"), line_width: m.thin ? 1 : 2, line_dash: m.dashed ? [6, 4] : []});
      const drawn = [this.add(plot, glyph, {x, y, words}, {line_color: pen})];
      if (m.dots) {
        const dot = new M.Scatter({x: field("x"), y: field("y"), size: 7, line_color: null});
        drawn.push(this.add(plot, dot, {x, y, words}, {fill_color: pen}));
      }
      return drawn.slice(-1);
    }

    band(plot, m) {
      const glyph = new M.VArea({x: {field: "x"}, y1: {field: "low"}, y2: {field: "high"}, fill_alpha: 0.25});
      this.add(plot, glyph, {x: unpack(m.x), low: unpack(m.low), high: unpack(m.high)}, {fill_color: `c${m.colour}`});
      return [];
    }

    shaded(drawn, properties, spec) { // one colour, one each, or by value
      const {glyph, data_source: source} = drawn;
      if (typeof spec === "number") {
        this.coloured(glyph, Object.fromEntries(properties.map((p) => [p, `c${spec}`])));
      } else if (Array.isArray(spec)) {
        this.painted.push(() => {
          const pens = Array.from({length: 8}, (_, i) => colour(`c${i}`));
          source.data = {...source.data, pen: spec.map((i) => pens[i])};
        });
        glyph.setv(Object.fromEntries(properties.map((p) => [p, {field: "pen"}])));
      } else {
        const mapper = new M.LinearColorMapper({low: spec.low, high: spec.high});
        this.painted.push(() => { mapper.palette = ramp(); mapper.nan_color = colour("line"); });
        source.data = {...source.data, shade: unpack(spec.values)};
        glyph.setv(Object.fromEntries(properties.map((p) => [p, {field: "shade", transform: mapper}])));
      }
    }

    points(plot, m) {
      const x = unpack(m.x), y = unpack(m.y);
      const words = m.labels ?? Array.from(x, (at, i) => this.words(m.name, at, y[i]));
      const size = typeof m.size === "number" ? m.size : unpack(m.size);
      const glyph = new M.Scatter({x: {field: "x"}, y: {field: "y"}, fill_alpha: 0.75, line_color: null,
        size: typeof size === "number" ? size : {field: "size"}});
      const drawn = this.add(plot, glyph, {x, y, words, ...(typeof size === "number" ? {} : {size})});
      this.shaded(drawn, ["fill_color"], m.colour);
      return [drawn];
    }

    boxes(plot, m) {
      const [x0, x1, y0, y1] = [m.x0, m.x1, m.y0, m.y1].map(unpack);
      const words = m.labels ?? Array.from(x0, (at, i) => `${m.name}: ${number(y1[i])} from ${number(at)} to ${number(x1[i])}`);
      const edge = (f) => ({field: f});
      const glyph = new M.Quad({left: edge("x0"), right: edge("x1"), bottom: edge("y0"), top: edge("y1"), line_width: 0.5});
      const drawn = this.add(plot, glyph, {x0, x1, y0, y1, words});
      this.shaded(drawn, ["fill_color"], m.colour);
      this.coloured(glyph, {line_color: "paper"});
      return [drawn];
    }

    grid(plot, m) {
      const values = unpack(m.values.values), {rows, columns} = m.values;
      const image = Bokeh.require("core/util/ndarray").ndarray(values, {dtype: "float64", shape: [rows, columns]});
      const mapper = new M.LinearColorMapper({low: m.low, high: m.high});
      this.painted.push(() => { mapper.palette = ramp(); mapper.nan_color = "rgba(0,0,0,0)"; });
      const glyph = new M.Image({image: {field: "image"}, x: {field: "x"}, y: {field: "y"}, dw: {field: "dw"},
        dh: {field: "dh"}, color_mapper: mapper});
      const columns_ = {image: [image], x: [m.x[0]], y: [m.y[0]], dw: [m.x[1] - m.x[0]], dh: [m.y[1] - m.y[0]]};
      this.add(plot, glyph, columns_);
      return [];
    }

    rule(plot, m) {
      const across = m.along === "x" ? "height" : "width";
      const before = plot.center.filter((one) => one instanceof M.Label).length; // words do not stand on one another
      const span = new M.Span({location: m.at, dimension: across, line_dash: [4, 4]});
      plot.add_layout(this.coloured(span, {line_color: "soft"}));
      if (!m.label) return [];
      const place = m.along === "x" ? {x: m.at, y: 4 + 14 * before, y_units: "screen"} : {x: 4, x_units: "screen", y: m.at};
      const {low, high, log} = this.view.x, there = log ? Math.log : (v) => v; // near the right end words stand before it
      const late = m.along === "x" && there(m.at) - there(low) > 0.7 * (there(high) - there(low));
      const beside = late ? {text_align: "right", x_offset: -4} : {x_offset: 4};
      const label = new M.Label({...place, ...beside, text: literal(m.label), y_offset: m.along === "x" ? 0 : 2,
        text_font: FONT, text_font_size: "11px"});
      plot.add_layout(this.coloured(label, {text_color: "soft"}));
      return [];
    }

    track(plot, m) {
      const track = {...m, mean: unpack(m.mean), low: unpack(m.low), high: unpack(m.high)};
      const band = new M.Patches({xs: {field: "xs"}, ys: {field: "ys"}, line_color: null, fill_alpha: 0.3});
      track.band = this.add(plot, band, {xs: [], ys: []}, {fill_color: `c${m.colour}`}).data_source;
      const line = new M.Line({x: {field: "x"}, y: {field: "y"}, line_width: 1.5});
      const drawn = this.add(plot, line, {x: [], y: [], words: []}, {line_color: `c${m.colour}`});
      const dot = new M.Scatter({x: {field: "x"}, y: {field: "y"}, size: 3, line_color: null}); // one bin between gaps
      track.lone = this.add(plot, dot, {x: [], y: []}, {fill_color: `c${m.colour}`}).data_source;
      track.line = drawn.data_source;
      this.tracks.push(track);
      return [drawn];
    }

    zoomed() { // tracks as fine as the screen shows
      for (const track of this.tracks) {
        const found = binned(track, this.x.start, this.x.end, FINEST);
        const {x, mean, low, high, from, to} = found;
        const words = Array.from(x, (_, i) => {
          const spread = low && high[i] > low[i] ? ` (${number(low[i], 4)} to ${number(high[i], 4)})` : "";
          return `${track.name}: ${number(mean[i], 4)}${spread}${track.unit ? ` ${track.unit}` : ""}, `
            + `${number(from[i] + 1, 12)} to ${number(to[i], 12)}`;
        });
        track.line.data = {x, y: mean, words};
        track.band.data = low ? outlines(x, low, high) : {xs: [], ys: []};
        track.lone.data = alone(x, mean);
      }
    }
  }

  function binned(track, start, end, most) { // what is in view, in at most so many bins
    const {mean, low, high, step} = track;
    const first = Math.max(0, Math.floor((start - track.start) / step) - 1);
    const last = Math.min(mean.length, Math.ceil((end - track.start) / step) + 1);
    const many = Math.max(1, Math.ceil((last - first) / most)), begin = first - (first % many);
    const out = {x: [], mean: [], low: low || many > 1 ? [] : null, high: low || many > 1 ? [] : null, from: [], to: [], many};
    for (let i = begin; i < last; i += many) {
      let sum = 0, n = 0, least = Infinity, most = -Infinity;
      for (let j = i; j < Math.min(i + many, mean.length); j++) {
        if (Number.isNaN(mean[j])) continue;
        sum += mean[j]; n += 1;
        least = Math.min(least, low ? low[j] : mean[j]); most = Math.max(most, high ? high[j] : mean[j]);
      }
      const from = track.start + i * step, to = Math.min(track.stop, track.start + (i + many) * step);
      out.x.push((from + to) / 2); out.from.push(from); out.to.push(to);
      out.mean.push(n ? sum / n : NaN);
      if (out.low) { out.low.push(n ? least : NaN); out.high.push(n ? most : NaN); }
    }
    return out;
  }

  function outlines(x, low, high) { // a polygon for each stretch without a gap
    const xs = [], ys = [];
    for (let i = 0; i < x.length; i++) {
      const begin = i;
      while (i < x.length && !Number.isNaN(low[i])) i++;
      if (i - begin > 1) {
        const there = x.slice(begin, i);
        xs.push([...there, ...[...there].reverse()]);
        ys.push([...high.slice(begin, i), ...low.slice(begin, i).reverse()]);
      }
    }
    return {xs, ys};
  }

  function alone(x, y) { // bins with a gap on both sides, which a line does not show
    const at = [...x.keys()].filter((i) => !Number.isNaN(y[i]) && !(y[i - 1] === y[i - 1]) && !(y[i + 1] === y[i + 1]));
    return {x: at.map((i) => x[i]), y: at.map((i) => y[i])};
  }

  return {Picture, binned, number, FINEST};
})();
