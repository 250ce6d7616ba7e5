"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
// An event: [number, section, call, line, path, text, value, local, cotangent, is bad, [[label, value, gives]]]
const NUMBER = 0, SECTION = 1, CALL = 2, LINE = 3, PATH = 4, TEXT = 5, VALUE = 6, LOCAL = 7, BAR = 8, BAD = 9, GIVEN = 10;
const byNumber = new Map(data.events.map((event) => [event[NUMBER], event]));
const states = data.sections.map(() => ({ call: 0, loops: {} }));

function element(tag, className, text) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  if (text !== undefined) made.textContent = text;
  return made;
}

function slider(holder, label, most, value, change) {
  if (most < 2) return;
  const line = element("label"), input = element("input"), count = element("span", "mono");
  input.type = "range";
  input.min = 1;
  input.max = most;
  input.value = value;
  input.dataset.label = label;
  input.setAttribute("aria-label", label);
  count.textContent = `${value} of ${most}`;
  input.addEventListener("input", () => change(Number(input.value)));
  line.append(element("span", "note", label), input, count);
  holder.append(line);
}

function matches(event, chosen, upTo) {
  for (const [loop, iteration] of event[PATH]) {
    if (loop === upTo) return true;
    if (chosen[loop] !== undefined && chosen[loop] !== iteration) return false;
  }
  return upTo === undefined;
}

function render(index, focused) {
  const section = data.sections[index], state = states[index];
  const root = document.getElementById(`s${index}`), holder = root.querySelector(".controls");
  const events = data.events.filter((e) => e[SECTION] === index && e[CALL] === state.call);
  holder.replaceChildren();
  slider(holder, "call", section.calls.length, state.call + 1, (value) => {
    states[index] = { call: value - 1, loops: {} };
    render(index, "call");
  });
  for (let loop = section.loops.length - 1; loop >= 0; loop--) {
    const inside = events.filter((e) => e[PATH].some((one) => one[0] === loop) && matches(e, state.loops, loop));
    const most = inside.reduce((n, e) => Math.max(n, e[PATH].find((one) => one[0] === loop)[1]), 0);
    if (!most) continue;
    state.loops[loop] = Math.min(state.loops[loop] || 1, most);
    slider(holder, `loop in line ${section.loops[loop]}`, most, state.loops[loop], (value) => {
      state.loops[loop] = value;
      render(index, `loop in line ${section.loops[loop]}`);
    });
  }
  const table = root.querySelector(".lines");
  table.querySelectorAll(".op").forEach((row) => row.remove());
  const shown = events.filter((e) => matches(e, state.loops));
  for (const row of table.querySelectorAll("tr.line")) {
    const line = Number(row.dataset.line);
    row.querySelector(".calls").replaceChildren();
    let last = row;
    for (const event of shown.filter((e) => e[LINE] === line)) {
      const made = operation(event);
      last.after(made);
      last = made;
    }
  }
  callees(index, state, table);
  if (focused) {
    const again = [...holder.querySelectorAll("input")].find((input) => input.dataset.label === focused);
    if (again) again.focus();
  }
}

function operation(event) {
  const row = element("tr", "op");
  row.dataset.line = event[LINE];
  row.dataset.section = event[SECTION];
  row.dataset.event = event[NUMBER];
  const bad = event[BAD] ? "bad" : "";
  row.append(element("td"), element("td", "", event[TEXT]), element("td", bad, event[VALUE]),
    element("td", "", event[LOCAL]), element("td", bad, event[BAR]));
  row.title = event[GIVEN].map(([label, value, gives]) => `${label} = ${value}` + (gives ? `, receives ${gives}` : "")).join("\n");
  return row;
}

function callees(index, state, table) {
  const callers = data.sections[index].calls;
  data.sections.forEach((other, section) => other.calls.forEach((call, i) => {
    if (call.parent !== callers[state.call].number) return;
    if (!call.path.every(([loop, n]) => state.loops[loop] === undefined || state.loops[loop] === n)) return;
    const row = table.querySelector(`tr.line[data-line="${call.line}"]`);
    const cell = row && row.querySelector(".calls");
    if (!cell || cell.childElementCount > 3) return;
    const button = element("button", "", `→ ${other.name}`);
    button.title = `go to call ${i + 1} of ${other.name}`;
    button.addEventListener("click", () => show(section, i, {}));
    cell.append(button);
  }));
}

function show(section, call, loops, line) {
  states[section] = { call, loops };
  const root = document.getElementById(`s${section}`);
  root.open = true;
  render(section);
  const row = line === undefined ? null : root.querySelector(`tr.line[data-line="${line}"]`);
  (row || root).scrollIntoView({ block: "center", behavior: "auto" });
}

function showEvent(number) {
  const event = byNumber.get(number);
  if (!event) return;
  show(event[SECTION], event[CALL], Object.fromEntries(event[PATH]), event[LINE]);
  document.querySelectorAll(".here").forEach((one) => one.classList.remove("here"));
  const row = document.querySelector(`tr.op[data-event="${number}"]`);
  if (row) row.classList.add("here");
}

// Lines of the source, of the generated code, and nodes of the graph: one lights up the others.
function placeOf(target) {
  const one = target.closest && target.closest("[data-section][data-line]");
  return one ? [one.dataset.section, one.dataset.line] : null;
}

let lit = null;
document.addEventListener("mouseover", (move) => {
  const place = placeOf(move.target), key = place && place.join(":");
  if (key === lit) return;
  lit = key;
  document.querySelectorAll(".lit").forEach((one) => one.classList.remove("lit"));
  if (!place) return;
  document.querySelectorAll(`[data-section="${place[0]}"][data-line="${place[1]}"]`)
    .forEach((one) => one.classList.add("lit"));
});

document.querySelectorAll(".node[data-event]").forEach((node) => {
  const event = byNumber.get(Number(node.dataset.event));
  if (!event) return;
  node.dataset.section = event[SECTION];
  node.dataset.line = event[LINE];
  node.setAttribute("tabindex", "0");
  node.addEventListener("click", () => showEvent(event[NUMBER]));
  node.addEventListener("keydown", (key) => { if (key.key === "Enter") showEvent(event[NUMBER]); });
});

document.querySelectorAll("button[data-event]").forEach((button) =>
  button.addEventListener("click", () => showEvent(Number(button.dataset.event))));

const chosen = document.getElementById("input");
function contributions() {
  const one = data.inputs[Number(chosen.value)], body = document.getElementById("contributions");
  const largest = Math.max(...one.parts.map((part) => Math.abs(part.size)), 1e-300);
  document.getElementById("total").textContent = one.total;
  body.replaceChildren(...one.parts.map((part) => {
    const row = element("tr"), place = element("td"), meter = element("td"), bar = element("span", "meter");
    row.dataset.section = part.section;
    row.dataset.line = part.line;
    const button = element("button", "", part.place);
    button.addEventListener("click", () => showEvent(part.event));
    if (part.event === null) place.textContent = part.place; else place.append(button);
    bar.style.width = `${Math.max(1, 120 * Math.abs(part.size) / largest)}px`;
    if (part.size < 0) bar.classList.add("minus");
    meter.append(bar);
    row.append(place, element("td", "", part.text), element("td", "", part.amount), meter);
    return row;
  }));
}
if (chosen) {
  chosen.addEventListener("change", contributions);
  contributions();
}
data.sections.forEach((_, index) => render(index));
