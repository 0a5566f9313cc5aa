// A list of hits to choose from, by mouse or arrow keys. Everything is set as text, never as HTML.
const STYLE = `
.ckb-results{position:relative;border:1px solid var(--jp-border-color2,#ccc);border-radius:4px;overflow:auto;font-size:12px;
 color:var(--jp-ui-font-color1,#222);background:var(--jp-layout-color1,#fff)}
.ckb-results .head,.ckb-results .sub{padding:5px 8px;font-size:11px;color:var(--jp-ui-font-color2,#666);
 border-bottom:1px solid var(--jp-border-color3,#ddd);white-space:pre-wrap}
.ckb-results .sub{font-weight:600;border-top:1px solid var(--jp-border-color2,#ccc)}
.ckb-results[data-busy]::before{content:attr(data-busy);position:sticky;top:0;float:right;z-index:2;padding:4px 10px;
 background:var(--jp-warn-color3,#fff3cd);color:#1f2933}
.ckb-results .error{padding:8px;white-space:pre-wrap;color:var(--jp-error-color1,#b71c1c)}
.ckb-results .row{display:grid;grid-template-columns:20px minmax(0,1fr) 96px;gap:0 8px;padding:5px 8px;cursor:pointer;
 border-bottom:1px solid var(--jp-border-color3,#ddd);outline:none}
.ckb-results .row:hover{background:var(--jp-layout-color2,#f3f3f3)}
.ckb-results .row.on{background:color-mix(in srgb,var(--jp-brand-color1,#2196f3) 13%,transparent);box-shadow:inset 3px 0 var(--jp-brand-color1,#2196f3)}
.ckb-results .row:focus-visible{box-shadow:inset 0 0 0 2px var(--jp-brand-color1,#2196f3)}
.ckb-results .n{text-align:right;color:var(--jp-ui-font-color2,#666)}
.ckb-results .name{overflow-wrap:anywhere}
.ckb-results .tag{display:inline-block;font-size:10.5px;padding:0 5px;border-radius:8px;border:1px solid;line-height:14px;
 margin-right:6px;max-width:60%;box-sizing:border-box;overflow:hidden;text-overflow:ellipsis;white-space:nowrap;vertical-align:bottom}
.ckb-results .where{color:var(--jp-ui-font-color2,#666);font-size:11px;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.ckb-results .why{display:none;color:var(--jp-ui-font-color2,#666);font-size:11px;grid-column:2/4}
.ckb-results .row.on .why{display:block}
.ckb-results .score{text-align:right;font-variant-numeric:tabular-nums;font-weight:600}
.ckb-results .bar{display:flex;height:7px;margin-top:4px;border-radius:2px;overflow:hidden;background:var(--jp-layout-color2,#eee)}
.ckb-results .bar i{display:block;height:100%}
.ckb-results .bar i.minus{background-image:repeating-linear-gradient(45deg,#c0504d 0 2px,transparent 2px 4px)}
.ckb-results .key{display:flex;flex-wrap:wrap;gap:2px 10px;padding:3px 0 0;font-size:11px}
.ckb-results .key i{display:inline-block;width:10px;height:8px;border-radius:2px;margin-right:4px}
`;

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

// A name that may go on in the next line after a dot or an underscore, before it does so within a word.
function broken(text) {
  const name = make("b");
  for (const part of text.split(/(?<=[._/])/)) name.append(document.createTextNode(part), make("wbr"));
  return name;
}

function shares(row, best, colours) {
  const bar = make("div", "bar");
  for (const [name, value] of row.shares) {
    const part = make("i", value < 0 ? "minus" : "");
    part.style.width = `${(100 * Math.abs(value)) / best}%`;
    if (value >= 0) part.style.backgroundColor = colours[name] || "#888";
    bar.append(part);
  }
  bar.title = row.share_text;
  return bar;
}

function line(row, { best, colours }, choose) {
  const item = make("div", "row");
  item.tabIndex = 0;
  item.setAttribute("role", "option");
  item.dataset.id = row.id;
  item.title = row.share_text;
  const name = make("div", "name");
  const where = make("div", "where");
  if (row.tag) {
    const tag = make("span", "tag", row.tag);
    tag.style.color = row.tag_colour;
    if (row.path) tag.title = row.path;
    where.append(tag);
  }
  where.append(document.createTextNode(row.where));
  where.title = row.where_full;
  name.append(broken(row.name), where);
  const figures = make("div");
  figures.append(make("div", "score", row.score), shares(row, best, colours));
  item.append(make("div", "n", row.rank), name, figures);
  if (row.why) item.append(make("div", "why", row.why));
  item.onclick = () => choose(row.id);
  item.onkeydown = (event) => {
    const rows = [...item.parentNode.querySelectorAll(".row")];
    const next = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (event.key === "Enter" || event.key === " ") choose(row.id);
    else if (next) rows[rows.indexOf(item) + next]?.focus();
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return item;
}

function render({ model, el }) {
  const root = make("div", "ckb-results");
  root.style.height = `${model.get("height")}px`;
  root.setAttribute("role", "listbox");
  el.append(make("style", "", STYLE), root);
  const choose = (id) => {
    model.set("selected", id);
    model.save_changes();
  };
  const wait = () => {
    if (model.get("busy")) root.dataset.busy = model.get("busy");
    else delete root.dataset.busy;
  };
  const mark = () => {
    for (const row of root.querySelectorAll(".row")) {
      const on = row.dataset.id === model.get("selected");
      row.classList.toggle("on", on);
      row.setAttribute("aria-selected", on);
    }
  };
  const draw = () => {
    const payload = model.get("payload");
    const parts = [make("div", "head", payload.head || "")];
    if (payload.error) parts.push(make("div", "error", payload.error));
    parts.push(...(payload.rows || []).map((row) => line(row, payload, choose)));
    if (payload.related?.length) {
      parts.push(make("div", "sub", payload.related_head));
      parts.push(...payload.related.map((row) => line(row, payload, choose)));
    }
    const key = make("div", "key");
    if (payload.rows?.length) key.append(make("span", "", "score, the sum of"));
    for (const [name, colour] of Object.entries(payload.colours || {})) {
      const item = make("span");
      const dot = make("i");
      dot.style.background = colour;
      item.append(dot, document.createTextNode(name));
      key.append(item);
    }
    parts[0].append(key);
    root.replaceChildren(...parts);
    root.scrollTop = 0;
    mark();
  };
  model.on("change:payload", draw);
  model.on("change:selected", mark);
  model.on("change:busy", wait);
  wait();
  draw();
  return () => {
    model.off("change:payload", draw);
    model.off("change:selected", mark);
    model.off("change:busy", wait);
  };
}

export default { render };
