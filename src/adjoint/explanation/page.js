"use strict";
const data = JSON.parse(document.getElementById("data").textContent);
// An event: [number, section, call, line, path, text, value, local, cotangent, bad (1: value, 2: cotangent), [[label, value, gives]]]
const NUMBER = 0, SECTION = 1, CALL = 2, LINE = 3, PATH = 4, TEXT = 5, VALUE = 6, LOCAL = 7, BAR = 8, BAD = 9, GIVEN = 10;
const MOST = 8; // operations of a line that are shown at once
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

function matches(path, chosen, upTo) {
  for (const [loop, iteration] of path) {
    if (loop === upTo) return true;
    if (chosen[loop] !== undefined && chosen[loop] !== iteration) return false;
  }
  return upTo === undefined;
}

function render(index, focused) {
  const section = data.sections[index], state = states[index];
  const root = document.getElementById(`s${index}`), holder = root.querySelector(".controls");
  const events = data.events.filter((e) => e[SECTION] === index && e[CALL] === state.call);
  const inner = callsFrom(section.calls[state.call].number);
  const paths = [...events.map((e) => e[PATH]), ...inner.map((one) => one.call.path)];
  holder.replaceChildren();
  slider(holder, "call", section.calls.length, state.call + 1, (value) => {
    states[index] = { call: value - 1, loops: {} };
    render(index, "call");
  });
  for (let loop = section.loops.length - 1; loop >= 0; loop--) {
    const inside = paths.filter((path) => path.some((one) => one[0] === loop) && matches(path, state.loops, loop));
    const most = inside.reduce((n, path) => Math.max(n, path.find((one) => one[0] === loop)[1]), 0);
    if (!most) continue;
    state.loops[loop] = Math.min(state.loops[loop] || 1, most);
    slider(holder, `loop in line ${section.loops[loop]}`, most, state.loops[loop], (value) => {
      state.loops[loop] = value;
      render(index, `loop in line ${section.loops[loop]}`);
    });
  }
  const table = root.querySelector(".lines");
  table.querySelectorAll(".op").forEach((row) => row.remove());
  const shown = events.filter((e) => matches(e[PATH], state.loops));
  for (const row of table.querySelectorAll("tr.line")) {
    const line = Number(row.dataset.line);
    row.querySelector(".calls").replaceChildren();
    const here = shown.filter((e) => e[LINE] === line);
    row.after(...here.slice(0, MOST).map(operation));
    if (here.length > MOST) more(row, here);
  }
  callees(inner.filter((one) => matches(one.call.path, state.loops)), table);
  if (focused) {
    const again = [...holder.querySelectorAll("input")].find((input) => input.dataset.label === focused);
    if (again) again.focus();
  }
}

function more(row, here) {
  const made = element("tr", "op"), cell = element("td"), button = element("button", "", `${here.length - MOST} more`);
  button.addEventListener("click", () => made.replaceWith(...here.slice(MOST).map(operation)));
  cell.append(button);
  made.append(element("td"), cell, element("td"), element("td"), element("td"));
  let last = row;
  for (let i = 0; i < MOST; i++) last = last.nextElementSibling;
  last.after(made);
}

function operation(event) {
  const row = element("tr", "op");
  row.dataset.line = event[LINE];
  row.dataset.section = event[SECTION];
  row.dataset.event = event[NUMBER];
  const cell = (head, text, bit) => {
    const made = element("td", event[BAD] & bit ? "bad" : "", text);
    made.dataset.head = head; // beside the number where the page is narrow
    return made;
  };
  row.append(element("td"), element("td", "", event[TEXT]), cell("value", event[VALUE], 1),
    cell("local derivative", event[LOCAL], 0), cell("cotangent", event[BAR], 2));
  row.title = event[GIVEN].map(([label, value, gives]) => `${label} = ${value}` + (gives ? `, receives ${gives}` : "")).join("\n");
  return row;
}

function callsFrom(number) {
  return data.sections.flatMap((other, section) => other.calls
    .map((call, place) => ({ call, place, section, name: other.name }))
    .filter((one) => one.call.parent === number));
}

function callees(inner, table) {
  for (const { call, place, section, name } of inner) {
    const row = table.querySelector(`tr.line[data-line="${call.line}"]`);
    const cell = row && row.querySelector(".calls");
    if (!cell || cell.childElementCount > 3) continue;
    const button = element("button", "", `→ ${name}`);
    button.title = `go to call ${place + 1} of ${name}`;
    button.addEventListener("click", () => show(section, place, {}));
    cell.append(button);
  }
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
  const found = () => document.querySelector(`tr.op[data-event="${number}"]`);
  if (!found()) document.querySelectorAll(`#s${event[SECTION]} .op button`).forEach((button) => button.click());
  const row = found();
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

document.querySelectorAll(".switch button").forEach((button) => button.addEventListener("click", () => {
  const holder = button.closest("p").parentElement;
  holder.querySelectorAll("[data-shown]").forEach((one) => { one.hidden = one.dataset.shown !== button.dataset.code; });
  holder.querySelectorAll(".switch button").forEach((one) => one.setAttribute("aria-pressed", String(one === button)));
}));

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
