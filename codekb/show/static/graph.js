// Draws one vis-network graph and reports clicks. The library stands above this text; all names arrive as plain text.
const STYLE = `
.ckb-graph{position:relative;border:1px solid var(--jp-border-color2,#ccc);border-radius:4px;overflow:hidden}
.ckb-graph .area{width:100%}
.ckb-graph .area .vis-network{outline:none}
.ckb-graph .bar{position:absolute;right:6px;bottom:6px;display:flex;gap:3px;z-index:3}
.ckb-graph .bar button{width:24px;height:24px;border:1px solid var(--jp-border-color2,#ccc);border-radius:4px;cursor:pointer;
 background:var(--jp-layout-color1,#fff);color:var(--jp-ui-font-color1,#222);font-size:14px;line-height:1;padding:0}
.ckb-graph .legend{display:flex;flex-wrap:wrap;gap:2px 12px;padding:4px 8px;font-size:11px;
 color:var(--jp-ui-font-color1,#222);border-top:1px solid var(--jp-border-color3,#ddd)}
.ckb-graph .legend i{display:inline-block;vertical-align:-1px;margin-right:4px;box-sizing:border-box}
.ckb-graph .note{padding:0 96px 5px 8px;min-height:24px;font-size:11px;color:var(--jp-ui-font-color2,#666)}
.ckb-graph.failed .note{position:absolute;top:44px;left:16px;right:16px;padding:0;font-size:13px;
 color:var(--jp-error-color1,#b71c1c)}
.ckb-graph .busy{position:absolute;left:6px;top:6px;padding:4px 10px;border-radius:4px;font-size:12px;z-index:4;
 background:var(--jp-warn-color3,#fff3cd);color:#1f2933}
.ckb-graph .busy:empty{display:none}
.ckb-graph div.vis-tooltip{position:absolute;visibility:hidden;padding:6px 8px;white-space:pre;pointer-events:none;z-index:5;
 font:12px var(--jp-ui-font-family,sans-serif);background:var(--jp-layout-color1,#fff);color:var(--jp-ui-font-color1,#222);
 border:1px solid var(--jp-border-color1,#999);border-radius:4px;box-shadow:0 2px 6px #0003;max-width:440px;overflow:hidden}
`;

const MAX_REACH = 210; // a curve that goes further would run into the next column

function make(tag, className, text) {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function swatch(entry) {
  const item = make("span");
  if (entry.number) {
    item.append(make("b", "", `${entry.number} `), document.createTextNode(entry.text));
    return item;
  }
  const mark = make("i");
  mark.style.cssText = entry.line
    ? `width:18px;height:0;vertical-align:3px;border-top:2px ${entry.dashed ? "dashed" : "solid"} ${entry.colour}`
    : `width:14px;height:11px;background:${entry.colour};border:${entry.border}px ${entry.dashed ? "dashed" : "solid"} ` +
      `${entry.edge};border-radius:${entry.radius}px`;
  item.append(mark, document.createTextNode(entry.text));
  return item;
}

function render({ model, el }) {
  const root = make("div", "ckb-graph");
  const area = make("div", "area");
  const bar = make("div", "bar");
  const legend = make("div", "legend");
  const note = make("div", "note");
  const busy = make("div", "busy");
  area.style.height = `${model.get("height")}px`;
  root.append(make("style", "", STYLE), area, bar, legend, note, busy);
  el.append(root);
  const network = new vis.Network(area, { nodes: [], edges: [] }, model.get("payload").options || {});
  const fit = () => network.fit({ maxZoomLevel: 1.15 });
  const zoom = (factor) => network.moveTo({ scale: network.getScale() * factor });
  for (const [text, title, act] of [["+", "larger", () => zoom(1.25)], ["−", "smaller", () => zoom(0.8)], ["⤢", "fit", fit]]) {
    const button = make("button", "", text);
    button.title = title;
    button.onclick = act;
    bar.append(button);
  }
  const pick = () => {
    const id = model.get("selected");
    network.selectNodes(network.body.nodes[id] ? [id] : [], true);
  };
  // An edge within a column has a middle of its own: it is moved past the widest box on its way, downward edges to the
  // right, upward ones to the left. A quadratic curve reaches half as far as its middle.
  const bend = () => {
    const boxes = Object.values(network.body.nodes).filter((node) => !node.options.hidden);
    for (const { from, to, edgeType } of Object.values(network.body.edges)) {
      if (!edgeType.via || !from || from === to) continue;
      const [top, foot] = [Math.min(from.y, to.y), Math.max(from.y, to.y)];
      const passed = boxes.filter(({ x, y }) => x === from.x && y >= top && y <= foot);
      const half = Math.max(...passed.map(({ shape }) => shape.width)) / 2;
      const steps = passed.length - 1;
      const reach = (half + 8) * Math.max(2, steps ** 2 / (2 * Math.max(steps - 1, 1)));
      edgeType.via.x = from.x + Math.sign(to.y - from.y) * Math.min(reach, MAX_REACH);
    }
    network.redraw();
  };
  const draw = () => {
    const { nodes = [], edges = [], legend: entries = [], note: text = "", failed = false } = model.get("payload");
    network.setData({ nodes, edges });
    legend.replaceChildren(...entries.map(swatch));
    note.textContent = text;
    root.classList.toggle("failed", failed);
    root.dataset.nodes = nodes.length;
    root.dataset.edges = edges.length;
    area.setAttribute("role", "img");
    area.setAttribute("aria-label", `Graph of ${nodes.length} chunks and ${edges.length} edges. ${text}`);
    fit();
    network.redraw();
    bend();
    pick();
  };
  network.on("click", ({ nodes }) => {
    if (!nodes.length) return pick();
    model.set("clicked", [nodes[0], model.get("clicked")[1] + 1]);
    model.save_changes();
  });
  // The library hides its tooltip only while the pointer moves over the canvas, so one that leaves in a jump left it there.
  area.addEventListener("mouseleave", () => {
    const pointer = network.interactionHandler;
    clearTimeout(pointer.popupTimer);
    pointer.popup?.hide();
    pointer.popupObj = undefined;
  });
  const wait = () => { busy.textContent = model.get("busy"); };
  const resized = new ResizeObserver(() => area.clientWidth && (network.redraw(), fit(), bend()));
  resized.observe(area);
  model.on("change:payload", draw);
  model.on("change:selected", pick);
  model.on("change:busy", wait);
  wait();
  draw();
  return () => {
    resized.disconnect();
    model.off("change:payload", draw);
    model.off("change:selected", pick);
    model.off("change:busy", wait);
    network.destroy();
  };
}

export default { render };
