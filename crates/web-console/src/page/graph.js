// The graph: which rows of the ledger belong to which card, the cards, the lines between them.

const group = (id) => id.replace(/#\d+$/, '');
let cards = [];
let edges = [];

// The rows of the ledger that a node of the graph stands for.
function rowsOf(node) {
  if (node.kind === 'log') {
    const named = rows.path.get(node.name);
    const placed = rows.path.get(node.at);
    return [named || placed].filter(Boolean);
  }
  const plain = node.name.replace(/^#/, '');
  return groups[node.kind].get(node.name) || groups[node.kind].get(plain) || [];
}

function build() {
  const nodes = new Map(graph.nodes.map((node) => [node.node, node]));
  const next = new Map();
  for (const { from, to } of graph.arcs) next.set(from, [...(next.get(from) || []), to]);
  const used = new Set(graph.arcs.flatMap(({ from, to }) => [from, to]));
  cards = [];
  edges = [];
  for (const node of graph.nodes) {
    if (!['source', 'log', 'destination'].includes(node.kind) || !used.has(node.node)) continue;
    const card = { node, steps: [], from: [], to: [] };
    if (node.kind === 'log') {
      const seen = new Set([node.node]);
      const open = [...(next.get(node.node) || [])];
      while (open.length) {
        const id = open.shift();
        if (seen.has(id)) continue;
        seen.add(id);
        const step = nodes.get(id);
        if (!step) continue;
        if (step.kind === 'destination') { card.to.push(id); continue; }
        card.steps.push(step);
        open.push(...(next.get(id) || []));
      }
    }
    cards.push(card);
  }
  const by = new Map(cards.map((card) => [card.node.node, card]));
  for (const { from, to } of graph.arcs) {
    if (from.startsWith('source:') && by.has(from)) {
      // A source may stand beside a step of the path.
      const path = by.get(to) || cards.find((card) => card.steps.some((step) => step.node === to));
      if (path && !path.from.includes(from)) path.from.push(from);
    }
  }
  for (const card of cards) {
    for (const from of card.from) edges.push({ from: by.get(from), to: card });
    for (const to of card.to) if (by.has(to)) edges.push({ from: card, to: by.get(to) });
  }
  for (const column of ['sources', 'paths', 'destinations']) $(column).replaceChildren($(column).firstElementChild);
  for (const card of cards) draw(card);
  for (const select of [$('try-source'), $('next-source')]) {
    const kept = select.value;
    select.replaceChildren(make('option', { value: '' }, 'any'),
      ...cards.filter((card) => card.node.kind === 'source').map((card) => make('option', {}, card.node.name)));
    select.value = kept;
  }
  const byEnd = (end) => {
    const all = new Map();
    for (const edge of edges) all.set(edge[end], all.get(edge[end]) || []).get(edge[end]).push(edge);
    return all;
  };
  const [leaving, coming] = [byEnd('from'), byEnd('to')];
  for (const edge of edges) {
    const out = leaving.get(edge.from).length;
    const into = coming.get(edge.to);
    edge.widest = Math.max(out, into.length) > FAN ? WIDEST_OF_MANY : WIDEST;
    edge.place = out > FAN ? 0.82 : out > 1 ? 0.8 - 0.2 * (into.indexOf(edge) % 3) : into.length > 1 ? 0.2 : 0.5;
  }
  $('edges').replaceChildren();
  for (const edge of edges) {
    edge.path = make('path', { onclick: () => open(edge.from.node.kind === 'source' ? edge.from : edge.to, true) });
    edge.text = make('text', {});
    $('edges').append(edge.path, edge.text);
  }
  kin();
  filter();
}

function draw(card) {
  const { node } = card;
  card.element = make('button', { class: 'card', type: 'button', onclick: () => open(card) },
    make('span', { class: 'top' },
      make('span', { class: 'name' }, node.kind === 'log' && node.name.startsWith('#') ? place(node.at) : node.name),
      card.rate = make('span', { class: 'rate' })),
    card.detail = make('span', { class: 'detail' }),
    card.steps.length ? make('span', { class: 'chips' }, ...card.steps.slice(0, 8).map((step) =>
      make('span', { class: 'chip' }, label(step))),
      card.steps.length > 8 ? make('span', { class: 'chip' }, '+' + (card.steps.length - 8)) : null) : null,
    card.notes = make('span', {}),
    node.kind === 'log' ? null : make('svg', { class: 'spark', viewBox: '0 0 60 20', preserveAspectRatio: 'none' }, card.spark = make('path', {})));
  $({ source: 'sources', log: 'paths', destination: 'destinations' }[node.kind]).append(card.element);
}

const place = (at) => at.replace(/^.*\//, '');
const label = (step) => (step.name.startsWith('#') ? (step.info[0] || step.kind) : step.kind + ' ' + step.name);

// ---- showing

const sum = (list, field) => list.reduce((all, row) => all + row[field], 0);

function health(word, text) {
  $('health').className = 'pill ' + word;
  $('health').textContent = text;
}

function reasons(list) {
  const all = {};
  for (const row of list) for (const [reason, n] of Object.entries(row.reasons)) all[reason] = (all[reason] || 0) + n;
  return all;
}

// Why messages wait at a destination, why a source is held back.
function troubles(node) {
  const name = node.name.replace(/^#/, '');
  if (node.kind === 'destination') return waits.filter((one) => group(one.destination) === name);
  return node.kind === 'source' ? held.filter((one) => group(one.source) === name) : [];
}

function show() {
  const sources = [...rows.source.values()];
  const destinations = [...rows.destination.values()];
  $('total-in').replaceChildren(...rate(sum(sources, 'rate')));
  $('total-out').replaceChildren(...rate(sum(destinations, 'out')));
  const waiting = sum(destinations, 'waiting');
  $('total-waiting').textContent = short(waiting);
  const lost = sum(destinations, 'dropped') + sum(sources, 'dropped');
  $('total-dropped').textContent = short(lost);
  $('total-dropped').className = lost ? 'bad-text' : '';
  const dropping = destinations.some((row) => row.lost > 0);
  const troubles = [[waits.length, waits.length + ' waiting'], [held.length, held.length + ' held'], [dropping, 'dropping'], [disks.length, 'disk nearly full']];
  const trouble = troubles.find(([is]) => is);
  health(trouble ? 'degraded' : 'ok', trouble ? trouble[1] : 'ok');
  badge('waiting-count', waits.length + held.length + disks.length);
  badge('dropped-count', lost);
  for (const card of cards) refresh(card);
  link();
  const view = document.querySelector('[role=tab][aria-selected=true]').getAttribute('aria-controls');
  if (view === 'ledger') ledger();
  if (view === 'waiting') waitingView();
  if (chosen) numbers(chosen);
}

function badge(id, n) {
  $(id).hidden = !n;
  $(id).textContent = short(n);
}

function refresh(card) {
  const { node } = card;
  const list = rowsOf(node);
  const now = list.reduce((last, row) => Math.max(last, row.at), 0);
  const moved = list.reduce((last, row) => Math.max(last, row.moved), 0);
  card.flow = sum(list, node.kind === 'destination' ? 'out' : 'rate');
  card.out = sum(list, 'out');
  const detail = list.length ? list.map((row) => row.detail).filter(Boolean).join(', ') : node.info.join(', ');
  const notes = [];
  const [one] = troubles(node);
  const lost = reasons(list);
  const names = Object.keys(lost);
  const waiting = sum(list, 'waiting');
  if (one) notes.push(['waits', brief(one)]);
  else if (waiting > 0 && node.kind === 'destination') notes.push(['waits', count(waiting) + ' waiting']);
  for (const name of names) notes.push(['drops', count(lost[name]) + ' dropped: ' + name]);
  card.state = names.length ? 'drops' : one ? 'waits' : !list.length || now - moved > IDLE_MS ? 'idle' : '';
  changed(card, 'rate', short(card.flow), () => card.rate.replaceChildren(...rate(card.flow)));
  changed(card, 'detail', node.kind === 'log' ? node.info.join(', ') : detail, (text) => {
    card.detail.textContent = text;
    card.detail.hidden = !text;
  });
  changed(card, 'notes', JSON.stringify(notes), () =>
    card.notes.replaceChildren(...notes.map(([kind, text]) => make('span', { class: 'note ' + kind }, text))));
  changed(card, 'class', 'card ' + card.state + (chosen === card ? ' chosen' : ''), (text) => { card.element.className = text; });
  // What stands below the edge of the window is drawn when it comes into view.
  if (card.spark && card.isNear) {
    const past = Array.from({ length: SPARK }, (_, i) => list.reduce((all, row) => all + (row.past[row.past.length - SPARK + i] || 0), 0));
    changed(card, 'spark', area(past, 60, 20), (text) => card.spark.setAttribute('d', text));
  }
}

// Touches the page only where it shows something else.
function changed(thing, name, text, show) {
  thing.shown ||= {};
  if (thing.shown[name] === text) return;
  thing.shown[name] = text;
  show(text);
}

function brief(one) {
  if (one.source) return 'held back' + (one.by && one.by.length ? ' by ' + one.by.join(', ') : '');
  const error = one.error ? ': ' + (one.error.text || one.error) : '';
  return one.state.replace('-', ' ') + error + ', ' + count(one.waiting) + ' waiting';
}

function area(values, width, height, most = Math.max(...values, 1e-9)) {
  if (!values.length) return '';
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, i) => (i * step).toFixed(1) + ',' + (height - (value / most) * height * 0.95).toFixed(1));
  return 'M0,' + height + ' L' + points.join(' L') + ' L' + width + ',' + height + ' Z';
}

// Everything is measured first, then everything is drawn: in turns, the page would be laid out for each line.
function link() {
  if ($('graph').hidden || getComputedStyle($('edges')).display === 'none') return;
  const base = $('canvas').getBoundingClientRect();
  for (const card of cards) card.place = card.element.hidden ? null : card.element.getBoundingClientRect();
  for (const card of cards) card.isNear = card.place && card.place.bottom > -200 && card.place.top < innerHeight + 200;
  const most = Math.max(1, ...cards.map((card) => card.flow || 0));
  for (const edge of edges) {
    const [a, b] = [edge.from.place, edge.to.place];
    changed(edge, 'display', a && b ? '' : 'none', (text) => { edge.path.style.display = edge.text.style.display = text; });
    if (a && b && (edge.from.isNear || edge.to.isNear || !edge.shown.line)) line(edge, base, most);
  }
}

function line(edge, base, most) {
  const { from, to } = edge;
  const [a, b] = [from.place, to.place];
  const into = to.node.kind === 'destination';
  const flow = into ? Math.min(from.out, rowsRate(to)) : Math.min(from.flow, to.flow);
  const [x1, y1] = [a.right - base.left, a.top - base.top + Math.min(a.height / 2, 34)];
  const [x2, y2] = [b.left - base.left, b.top - base.top + Math.min(b.height / 2, 34)];
  const bend = (x2 - x1) / 2;
  changed(edge, 'line', `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`, (text) => edge.path.setAttribute('d', text));
  changed(edge, 'width', flow > 0 ? (1.5 + edge.widest * Math.sqrt(flow / most)).toFixed(1) : '1.5', (text) => edge.path.setAttribute('stroke-width', text));
  const state = into ? to.state : '';
  const isHeld = chosen && (chosen === from || chosen === to);
  changed(edge, 'class', (state === 'drops' || state === 'waits' ? state : flow > 0 ? '' : 'idle') + (isHeld ? ' held' : ''), (text) => edge.path.setAttribute('class', text));
  changed(edge, 'text', flow > 0 ? short(flow) + '/s' : '', (text) => { edge.text.textContent = text; });
  // Where lines come together, their numbers stand apart at the other ends.
  const t = edge.place;
  const curve = (p, q, r, s) => (1 - t) ** 3 * p + 3 * (1 - t) ** 2 * t * q + 3 * (1 - t) * t * t * r + t ** 3 * s;
  changed(edge, 'x', curve(x1, x1 + bend, x2 - bend, x2).toFixed(1), (text) => edge.text.setAttribute('x', text));
  changed(edge, 'y', (curve(y1, y1, y2, y2) + 4).toFixed(1), (text) => edge.text.setAttribute('y', text));
}

const rowsRate = (card) => sum(rowsOf(card.node), 'rate');

// What a card has in common with others: the beginning of its name, or the file it stands in.
const kinOf = ({ node }) => (node.kind === 'log' && node.name.startsWith('#') ? place(node.at).replace(/\d+$/, '')
  : (node.name.match(/^.*[_.-](?=.)/) || [node.name.replace(/\d+$/, '')])[0]);

// Where there are more cards than can be shown: buttons for the largest groups, each a search.
function kin() {
  const counts = new Map();
  for (const card of cards) counts.set(kinOf(card), (counts.get(kinOf(card)) || 0) + 1);
  const largest = [...counts].filter(([, n]) => n >= KIN_MIN).sort((a, b) => b[1] - a[1]).slice(0, KIN_MAX);
  $('kin').hidden = cards.length <= CARDS_MAX * 2 || largest.length < 2;
  $('kin').replaceChildren(...largest.map(([name, n]) => make('button', { class: 'chip', type: 'button', onclick: () => {
    $('search').value = $('search').value === name ? '' : name;
    filter();
  } }, name + ' ', make('span', { class: 'quiet' }, short(n)))));
}

function filter() {
  const wanted = $('search').value.trim().toLowerCase();
  const fits = (card) => !wanted || [card.node.name, card.node.at, ...card.node.info, ...card.steps.map(label)].join(' ').toLowerCase().includes(wanted);
  const hit = new Set(cards.filter(fits));
  for (const chip of $('kin').children) chip.setAttribute('aria-pressed', chip.firstChild.data.trim().toLowerCase() === wanted);
  // What a hit leads to, and what leads to it.
  const near = new Set(hit);
  const [before, behind] = [new Set(), new Set()];
  if (wanted) for (const { from, to } of edges) { if (hit.has(from)) behind.add(to); if (hit.has(to)) before.add(from); }
  // Of a destination the sources as well, and the other way.
  for (const { from, to } of edges) { if (before.has(to)) near.add(from); if (behind.has(from)) near.add(to); }
  for (const card of [...before, ...behind]) near.add(card);
  let hidden = 0;
  const shown = { source: 0, log: 0, destination: 0 };
  const busiest = [...cards].sort((a, b) => (b.flow || 0) - (a.flow || 0));
  for (const card of cards.length > CARDS_MAX * 2 ? busiest : cards) {
    const keep = near.has(card) && shown[card.node.kind] < CARDS_MAX;
    if (keep) shown[card.node.kind] += 1;
    else if (near.has(card)) hidden += 1;
    card.element.hidden = !keep;
  }
  $('more').hidden = !hidden;
  $('more').textContent = hidden + ' more: search for them by name';
  link();
}
