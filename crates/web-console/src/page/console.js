// The console: follows the stream of changes and shows it. Asks nobody but the program it came from.
'use strict';

const $ = (id) => document.getElementById(id);
const IDLE_MS = 60000;
const CARDS_MAX = 150;
const SPARK = 60;
// As wide as a line gets, and as one of many from one place gets: those would be one block.
const WIDEST = 12;
const FAN = 8;
const WIDEST_OF_MANY = 3;
let token = '';
let graph = { nodes: [], arcs: [] };
let configuration = '';
let waits = [];
let held = [];
let disks = [];
let chosen = null;
const rows = { source: new Map(), path: new Map(), destination: new Map() };

// ---- small tools

function make(tag, attributes, ...children) {
  const svg = ['svg', 'path', 'text', 'g'].includes(tag);
  const element = svg ? document.createElementNS('http://www.w3.org/2000/svg', tag) : document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) {
    if (name === 'onclick') element.addEventListener('click', value);
    else if (value !== undefined && value !== null && value !== false) element.setAttribute(name, value);
  }
  element.append(...children.filter((child) => child !== null && child !== undefined));
  return element;
}

function count(n) {
  return Math.round(n).toLocaleString('en-US');
}

function short(n) {
  if (n >= 9.995e9) return (n / 1e9).toFixed(0) + ' G';
  for (const [size, unit] of [[1e9, ' G'], [1e6, ' M'], [1e3, ' k']]) {
    if (n >= size) return (n / size).toFixed(n >= size * 100 ? 0 : n >= size * 10 ? 1 : 2) + unit;
  }
  return n >= 10 || n === Math.round(n) ? String(Math.round(n)) : n.toFixed(1);
}

function bytes(n) {
  for (const [size, unit] of [[2 ** 40, 'TiB'], [2 ** 30, 'GiB'], [2 ** 20, 'MiB'], [2 ** 10, 'kiB']]) {
    if (n >= size) return (n / size).toFixed(1) + ' ' + unit;
  }
  return n + ' B';
}

const rate = (n) => [short(n), make('small', {}, '/s')];
const clock = (ms) => new Date(ms).toLocaleTimeString('en-GB');

async function ask(path, options) {
  const headers = token ? { Authorization: 'Bearer ' + token } : {};
  const answer = await fetch(path, { ...options, headers, cache: 'no-store' });
  if (answer.status === 401) {
    await login();
    return ask(path, options);
  }
  return answer;
}

async function json(path) {
  const answer = await ask(path);
  if (!answer.ok && answer.status !== 422) throw new Error((await answer.text()).trim());
  const value = await answer.json();
  if (value.error) throw new Error(value.error);
  return value;
}

let asking = null;
function login() {
  asking ||= new Promise((resolve) => {
    $('login').showModal();
    $('login').addEventListener('close', () => {
      token = $('token').value;
      asking = null;
      resolve();
    }, { once: true });
  });
  return asking;
}

const query = (values) => '?' + new URLSearchParams(Object.entries(values).filter(([, value]) => value)).toString();

// ---- the stream

async function follow() {
  let pause = 500;
  for (;;) {
    try {
      const answer = await ask('/events');
      if (!answer.ok) throw new Error('refused');
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = '';
      for (;;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        let end;
        while ((end = text.indexOf('\n\n')) >= 0) {
          const lines = text.slice(0, end).split('\n');
          text = text.slice(end + 2);
          await take(lines[0].slice(7), JSON.parse(lines[1].slice(6)));
          pause = 500;
        }
      }
    } catch (error) {
      // Tried again below.
    }
    health('away', 'not reachable');
    await new Promise((resolve) => setTimeout(resolve, pause));
    pause = Math.min(pause * 2, 10000);
  }
}

async function take(name, event) {
  if (name === 'state') for (const kind of Object.values(rows)) kind.clear();
  for (const kind of Object.keys(rows)) {
    const fresh = event.rows[kind] || {};
    for (const [id, row] of Object.entries(fresh)) {
      const known = rows[kind].get(id);
      rows[kind].set(id, known ? Object.assign(known, row) : {
        ...row, name: id, kind, was: { ...row }, at: event.time, moved: row.received ? 0 : -Infinity, past: [], rate: 0, out: 0, lost: 0,
      });
    }
  }
  for (const [kind, id] of event.gone || []) rows[kind].delete(id);
  for (const kind of Object.values(rows)) for (const row of kind.values()) measure(row, event.time);
  waits = event.waits;
  held = event.held || [];
  disks = event.disks || [];
  if (event.configuration !== configuration) {
    graph = await json('/graph.json');
    configuration = event.configuration;
    build();
  }
  show();
}

function measure(row, time) {
  const seconds = (time - row.at) / 1000;
  if (seconds < 0.2) return;
  const since = (field) => Math.max(0, row[field] - row.was[field]) / seconds;
  const calm = (old, now) => (now === 0 && old < 0.5 ? 0 : old === 0 ? now : old * 0.4 + now * 0.6);
  row.rate = calm(row.rate, since('received'));
  row.out = calm(row.out, since('delivered'));
  row.lost = since('dropped');
  if (since('received') > 0 || since('delivered') > 0) row.moved = time;
  row.past.push(row.rate);
  if (row.past.length > SPARK) row.past.shift();
  row.was = { ...row, was: undefined, past: undefined };
  row.at = time;
}

// ---- what belongs together

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
  return [...rows[node.kind].values()].filter((row) => [node.name, plain].includes(group(row.name)));
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
    edge.path = make('path', { onclick: () => open(edge.from.node.kind === 'source' ? edge.from : edge.to) });
    edge.text = make('text', {});
    $('edges').append(edge.path, edge.text);
  }
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

function wait(node) {
  return waits.find((one) => node.kind === 'destination' && group(one.destination) === node.name.replace(/^#/, ''));
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
  card.rate.replaceChildren(...rate(card.flow));
  const detail = list.length ? list.map((row) => row.detail).filter(Boolean).join(', ') : node.info.join(', ');
  card.detail.textContent = node.kind === 'log' ? (node.info.join(', ') || '') : detail;
  card.detail.hidden = !card.detail.textContent;
  const notes = [];
  const one = wait(node);
  const lost = reasons(list);
  const names = Object.keys(lost);
  const waiting = sum(list, 'waiting');
  if (one) notes.push(make('span', { class: 'note waits' }, brief(one)));
  else if (waiting > 0 && node.kind === 'destination') notes.push(make('span', { class: 'note waits' }, count(waiting) + ' waiting'));
  for (const name of names) notes.push(make('span', { class: 'note drops' }, count(lost[name]) + ' dropped: ' + name));
  card.notes.replaceChildren(...notes);
  card.state = names.length ? 'drops' : one ? 'waits' : !list.length || now - moved > IDLE_MS ? 'idle' : '';
  card.element.className = 'card ' + card.state + (chosen === card ? ' chosen' : '');
  if (card.spark) {
    const past = Array.from({ length: SPARK }, (_, i) => list.reduce((all, row) => all + (row.past[row.past.length - SPARK + i] || 0), 0));
    card.spark.setAttribute('d', area(past, 60, 20));
  }
}

function brief(one) {
  const error = one.error ? ': ' + (one.error.text || one.error) : '';
  return one.state.replace('-', ' ') + error + ', ' + count(one.waiting) + ' waiting';
}

function area(values, width, height, most = Math.max(...values, 1e-9)) {
  if (!values.length) return '';
  const step = width / Math.max(1, values.length - 1);
  const points = values.map((value, i) => (i * step).toFixed(1) + ',' + (height - (value / most) * height * 0.95).toFixed(1));
  return 'M0,' + height + ' L' + points.join(' L') + ' L' + width + ',' + height + ' Z';
}

function link() {
  if ($('graph').hidden || getComputedStyle($('edges')).display === 'none') return;
  const base = $('canvas').getBoundingClientRect();
  const most = Math.max(1, ...cards.map((card) => card.flow || 0));
  for (const edge of edges) {
    const visible = !edge.from.element.hidden && !edge.to.element.hidden;
    edge.path.style.display = edge.text.style.display = visible ? '' : 'none';
    if (!visible) continue;
    const a = edge.from.element.getBoundingClientRect();
    const b = edge.to.element.getBoundingClientRect();
    const into = edge.to.node.kind === 'destination';
    const flow = into ? Math.min(edge.from.out, rowsRate(edge.to)) : Math.min(edge.from.flow, edge.to.flow);
    const [x1, y1] = [a.right - base.left, a.top - base.top + Math.min(a.height / 2, 34)];
    const [x2, y2] = [b.left - base.left, b.top - base.top + Math.min(b.height / 2, 34)];
    const bend = (x2 - x1) / 2;
    edge.path.setAttribute('d', `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`);
    edge.path.setAttribute('stroke-width', flow > 0 ? (1.5 + edge.widest * Math.sqrt(flow / most)).toFixed(1) : 1.5);
    const state = into ? edge.to.state : '';
    edge.path.setAttribute('class', (state === 'drops' || state === 'waits' ? state : flow > 0 ? '' : 'idle') + (chosen && (chosen === edge.from || chosen === edge.to) ? ' held' : ''));
    edge.text.textContent = flow > 0 ? short(flow) + '/s' : '';
    // Where lines come together, their numbers stand apart at the other ends.
    const t = edge.place;
    const curve = (p, q, r, s) => (1 - t) ** 3 * p + 3 * (1 - t) ** 2 * t * q + 3 * (1 - t) * t * t * r + t ** 3 * s;
    edge.text.setAttribute('x', curve(x1, x1 + bend, x2 - bend, x2));
    edge.text.setAttribute('y', curve(y1, y1, y2, y2) + 4);
  }
}

const rowsRate = (card) => sum(rowsOf(card.node), 'rate');

function filter() {
  const wanted = $('search').value.trim().toLowerCase();
  const fits = (card) => !wanted || [card.node.name, card.node.at, ...card.node.info, ...card.steps.map(label)].join(' ').toLowerCase().includes(wanted);
  const hit = new Set(cards.filter(fits));
  // What a hit leads to, and what leads to it.
  const near = new Set(hit);
  if (wanted) for (const { from, to } of edges) { if (hit.has(from)) near.add(to); if (hit.has(to)) near.add(from); }
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

// ---- the panel

async function open(card) {
  chosen = card;
  const { node } = card;
  $('panel').hidden = false;
  const title = node.kind === 'log' && node.name.startsWith('#') ? 'log path' : node.kind + ' ' + node.name;
  const chart = make('div', { class: 'chart' });
  const lines = make('div', {});
  const texts = make('div', {});
  card.numbers = make('dl', { class: 'numbers' });
  const buttons = make('div', { class: 'row' });
  if (node.kind === 'source') buttons.append(make('button', { class: 'plain', onclick: () => tap(node, texts) }, 'Show the next message'));
  if (node.kind === 'destination') buttons.append(make('button', { class: 'plain', onclick: () => lostOnes(node.name, texts) }, 'Show dropped messages'));
  const one = wait(node);
  $('details').replaceChildren(make('h2', {}, title), make('p', { class: 'quiet' }, node.at),
    one ? make('p', { class: 'note waits' }, one.sentence) : '', card.numbers,
    make('h3', {}, 'The last hour'), chart, make('h3', {}, 'Messages'), buttons, texts, make('h3', {}, 'Configuration'), lines);
  $('close').focus();
  numbers(card);
  show();
  try {
    const text = (await json('/configuration.json' + query({ node: node.node }))).text;
    lines.replaceChildren(make('pre', {}, text));
  } catch (error) {
    lines.replaceChildren(make('p', { class: 'quiet' }, error.message));
  }
  const kind = node.kind === 'log' ? 'path' : node.kind;
  const pasts = await Promise.all(rowsOf(node).map((row) => json('/history.json' + query({ kind, name: row.name }))));
  hour(chart, pasts);
}

function hour(chart, pasts) {
  const length = Math.max(0, ...pasts.map((past) => past.received.length));
  if (length < 2) return chart.replaceChildren(make('p', { class: 'quiet' }, 'It has just begun: a point each ten seconds.'));
  const all = (field) => Array.from({ length }, (_, i) => pasts.reduce((n, past) => n + (past[field][past[field].length - length + i] || 0), 0) / pasts[0].step_seconds);
  const [received, dropped] = [all('received'), all('dropped')];
  const most = Math.max(...received, 1e-9);
  const scaled = dropped.map((n) => Math.min(n, most));
  const lost = dropped.some((n) => n > 0) ? make('path', { class: 'lost', d: area(scaled, 380, 100, most) }) : null;
  chart.replaceChildren(make('svg', { class: 'hour', viewBox: '0 0 380 100', preserveAspectRatio: 'none' }, make('path', { class: 'in', d: area(received, 380, 100) }), lost),
    make('div', { class: 'axis' }, make('span', {}, Math.round(length * pasts[0].step_seconds / 60) + ' min ago'), make('span', {}, 'at most ' + short(most) + '/s' + (lost ? ', dropped ' + short(Math.max(...dropped)) + '/s' : '')), make('span', {}, 'now')));
}

function numbers(card) {
  if (!card.numbers) return;
  const list = rowsOf(card.node);
  const entries = ['received', 'delivered', 'waiting', 'filtered', 'dropped'].map((field) => [field, count(sum(list, field))]);
  entries.push(['bytes', bytes(sum(list, card.node.kind === 'destination' ? 'delivered_bytes' : 'received_bytes'))]);
  card.numbers.replaceChildren(...entries.map(([name, value]) => make('div', {}, make('dt', {}, name), make('dd', {}, value))));
}

function shut() {
  if ($('panel').hidden) return;
  $('panel').hidden = true;
  const card = chosen;
  chosen = null;
  show();
  if (card) card.element.focus();
}

async function tap(node, into) {
  into.replaceChildren(make('p', { class: 'quiet' }, 'Waiting for a message, ten seconds at most …'));
  try {
    story(into, await json('/next.json' + query({ source: node.name })));
  } catch (error) {
    into.replaceChildren(make('p', { class: 'quiet' }, error.message));
  }
}

async function lostOnes(destination, into) {
  try {
    const { messages } = await json('/dropped.json' + query({ destination }));
    into.replaceChildren(messages.length ? droppedTable(messages) : make('p', { class: 'quiet' }, 'None are kept: those of a full queue and refused ones are, the last hundred of each.'));
  } catch (error) {
    into.replaceChildren(make('p', { class: 'quiet' }, error.message));
  }
}

// ---- the other views

function sheet(caption, heads, body, kind = '') {
  return make('div', { class: ('sheet ' + kind).trim() }, make('table', {}, make('caption', {}, caption),
    make('thead', {}, make('tr', {}, ...heads.map(([name, kind]) => make('th', { class: kind, scope: 'col' }, name)))), make('tbody', {}, ...body)));
}

function ledger() {
  const wanted = $('search').value.trim().toLowerCase();
  const heads = [['name'], ['received', 'n'], ['delivered', 'n'], ['waiting', 'n'], ['filtered', 'n'], ['dropped', 'n']];
  const sheets = Object.entries({ source: 'Sources', path: 'Log paths', destination: 'Destinations' }).map(([kind, caption]) => {
    const list = [...rows[kind].values()].filter((row) => (row.name + ' ' + row.detail).toLowerCase().includes(wanted));
    return sheet(caption, heads, list.slice(0, 500).map((row) => make('tr', {},
      make('td', {}, row.name, make('div', { class: 'quiet' }, row.detail)),
      ...['received', 'delivered', 'waiting', 'filtered'].map((field) => make('td', { class: 'n' }, count(row[field]))),
      make('td', { class: row.dropped ? 'n bad' : 'n' }, count(row.dropped),
        row.dropped ? make('div', { class: 'quiet' }, Object.entries(row.reasons).map(([name, n]) => name + ' ' + count(n)).join(', ')) : null))));
  });
  $('ledger').replaceChildren(...sheets);
}

let queues = [];
function waitingView() {
  const parts = [];
  if (waits.length) parts.push(sheet('Destinations that wait', [['destination'], ['why'], ['waiting', 'n']], waits.map((one) => make('tr', {},
    make('td', {}, one.destination), make('td', {}, one.sentence), make('td', { class: 'n' }, count(one.waiting))))));
  const sentences = (caption, list, name) => list.length && parts.push(sheet(caption, [['name'], ['why']], list.map((one) => make('tr', {},
    make('td', {}, one[name]), make('td', {}, one.sentence)))));
  sentences('Sources that are held back', held, 'source');
  sentences('Disks that will be full', disks, 'folder');
  if (queues.length) parts.push(sheet('Queues on disk', [['destination'], ['messages', 'n'], ['on disk', 'n'], ['room', 'n']], queues.map((queue) => make('tr', {},
    make('td', {}, queue.destination, make('div', { class: 'quiet' }, queue.path || queue.dir || '')), make('td', { class: 'n' }, count(queue.events || 0)),
    make('td', { class: 'n' }, bytes(queue.disk_usage_bytes || 0)), make('td', { class: 'n' }, bytes(queue.capacity_bytes || 0))))));
  if (!parts.length) parts.push(make('p', { class: 'empty' }, 'Nothing waits, and there are no queues on disk.'));
  $('waiting').replaceChildren(...parts);
}

function droppedTable(messages) {
  return sheet('Dropped messages, newest first', [['time'], ['destination'], ['reason'], ['text']], messages.slice(-200).reverse().map((one) => make('tr', {},
    make('td', { class: 'when' }, clock(one.time)), make('td', {}, one.destination), make('td', { class: 'bad' }, one.reason), make('td', { class: 'text' }, one.text.trimEnd()))), 'messages');
}

async function droppedView() {
  const list = [...rows.source.values(), ...rows.path.values(), ...rows.destination.values()].filter((row) => row.dropped);
  if (!list.length) return $('dropped').replaceChildren(make('p', { class: 'empty' }, 'Nothing was dropped.'));
  const parts = [sheet('Where, and why', [['where'], ['reason'], ['messages', 'n']], list.flatMap((row) => Object.entries(row.reasons).map(([name, n]) => make('tr', {},
    make('td', {}, row.kind + ' ' + row.name, make('div', { class: 'quiet' }, row.detail)), make('td', { class: 'bad' }, name), make('td', { class: 'n' }, count(n))))))];
  try {
    const { messages } = await json('/dropped.json');
    if (messages.length) parts.push(droppedTable(messages));
  } catch (error) {
    parts.push(make('p', { class: 'empty' }, error.message));
  }
  $('dropped').replaceChildren(...parts);
}

async function logView() {
  try {
    const { lines } = await json('/log.json');
    const bad = (level) => (['critical', 'error', 'warning'].includes(level) ? 'bad' : '');
    $('log').replaceChildren(sheet('What the program said, newest first', [['time'], ['level'], ['text']], lines.reverse().map((line) => make('tr', {},
      make('td', { class: 'when' }, clock(line.time)), make('td', { class: bad(line.level) }, line.level), make('td', { class: 'text' }, line.text))), 'messages'));
  } catch (error) {
    $('log').replaceChildren(make('p', { class: 'empty' }, error.message));
  }
}

// ---- explained messages

function story(into, { messages }) {
  into.replaceChildren(...messages.map((one) => make('article', { class: 'message' },
    make('strong', {}, 'at source ' + one.source), make('span', { class: 'quiet' }, (one.peer ? ' from ' + one.peer : '') + ' '),
    one.received ? make('pre', {}, one.received.text) : null,
    ...one.values.map(event), ...one.steps.map(step),
    make('p', { class: one.destinations.length ? '' : 'bad-text' }, one.destinations.length ? 'goes to ' + one.destinations.join(', ') : 'goes to no destination'))));
}

function step(one) {
  const word = !one.reached ? 'missed' : one.verdict || '';
  return make('div', { class: 'step ' + word }, make('div', { class: 'head' }, make('span', {}, one.label), make('span', { class: 'verdict' }, one.reached ? word : 'not reached'),
    make('span', { class: 'quiet' }, '  ' + place(one.location || ''))),
    ...(one.events || []).map(event), one.queue ? make('div', { class: 'event' }, one.queue.state === 'waits' ? 'waits with ' + one.queue.messages : one.queue.state) : null,
    ...(one.steps || []).map(step));
}

function event(one) {
  const line = (...parts) => make('div', { class: 'event' }, ...parts);
  const text = (value) => (value ? JSON.stringify(value.text) : 'nothing');
  switch (one.event) {
    case 'condition': return line(one.function + '(): ', Object.entries(one.operands).map(([name, value]) => name + ' ' + text(value)).join(', '), make('b', {}, one.holds ? '  holds' : '  does not hold'));
    case 'value': return line(make('b', {}, one.name), ' = ' + text(one.after), one.before ? '  was ' + text(one.before) : '');
    case 'tag': return line((one.set ? 'tag ' : 'without tag ') + one.name);
    case 'output': return line('for ' + one.driver + ' ' + one.name + ': ' + text(one.output));
    case 'received': return null;
    default: return line(one.event);
  }
}

async function explained(form, path, values) {
  const button = form.querySelector('button');
  button.disabled = true;
  $('story').replaceChildren(make('p', { class: 'quiet' }, path === '/next.json' ? 'Waiting for a message, ten seconds at most …' : ''));
  try {
    story($('story'), await json(path + query(values)));
  } catch (error) {
    $('story').replaceChildren(make('pre', { class: 'message bad-text' }, error.message));
  }
  button.disabled = false;
}

// ---- the beginning

function select(tab) {
  for (const one of document.querySelectorAll('[role=tab]')) {
    const is = one === tab;
    one.setAttribute('aria-selected', is);
    one.tabIndex = is ? 0 : -1;
    $(one.getAttribute('aria-controls')).hidden = !is;
  }
  const view = tab.getAttribute('aria-controls');
  if (view === 'dropped') droppedView();
  if (view === 'log') logView();
  if (view === 'waiting') json('/queues.json').then((answer) => { queues = answer.queues; waitingView(); }, () => {});
  show();
}

addEventListener('DOMContentLoaded', () => {
  const tabs = [...document.querySelectorAll('[role=tab]')];
  for (const tab of tabs) tab.addEventListener('click', () => select(tab));
  document.querySelector('nav').addEventListener('keydown', (key) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[key.key];
    const at = tabs.indexOf(document.activeElement);
    if (!move || at < 0) return;
    const tab = tabs[(at + move + tabs.length) % tabs.length];
    tab.focus();
    select(tab);
  });
  addEventListener('keydown', (key) => {
    if (key.key === 'Escape') shut();
    if (key.key === '/' && !/^(INPUT|TEXTAREA|SELECT)$/.test(document.activeElement.tagName)) { key.preventDefault(); $('search').focus(); }
  });
  $('search').addEventListener('input', () => { filter(); if (!$('ledger').hidden) ledger(); });
  $('close').addEventListener('click', shut);
  $('try').addEventListener('submit', (done) => { done.preventDefault(); explained($('try'), '/rehearse.json', { line: $('line').value, source: $('try-source').value }); });
  $('next').addEventListener('submit', (done) => { done.preventDefault(); explained($('next'), '/next.json', { filter: $('filter').value, source: $('next-source').value, lost: $('lost').checked ? '1' : '' }); });
  new ResizeObserver(link).observe($('canvas'));
  follow();
});
