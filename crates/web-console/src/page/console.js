// The console: follows the stream of changes and shows it. Asks nobody but the program it came from.
'use strict';

const $ = (id) => document.getElementById(id);
const IDLE_MS = 60000;
const CARDS_MAX = 150;
// Groups that are offered where there are more, each of so many cards at least.
const KIN_MAX = 24;
const KIN_MIN = 5;
const SPARK = 60;
// As wide as a line gets, and as one of many from one place gets: those would be one block.
const WIDEST = 12;
const FAN = 8;
const WIDEST_OF_MANY = 3;
let token = '';
let graph = { nodes: [], arcs: [] };
let configuration = '';
let allowed = { control: false, messages: false };
let waits = [];
let held = [];
let disks = [];
let chosen = null;
const rows = { source: new Map(), path: new Map(), destination: new Map() };
// The rows of each statement, by its name: a thousand cards look for theirs every second.
const groups = { source: new Map(), path: new Map(), destination: new Map() };

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

const counted = (n, one) => count(n) + ' ' + one + (n === 1 ? '' : 's');
const rate = (n) => [short(n), make('small', {}, '/s')];
const clock = (ms) => new Date(ms).toLocaleTimeString('en-GB');
const moment = (ms) => new Date(ms).toLocaleString('sv-SE');

async function ask(path, options) {
  const headers = { ...(options && options.own), ...(token && { Authorization: 'Bearer ' + token }) };
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
  const isOther = name === 'state' || (event.gone || []).length > 0;
  for (const kind of Object.keys(rows)) sortByGroup(kind, isOther);
  for (const kind of Object.values(rows)) for (const row of kind.values()) measure(row, event.time);
  waits = event.waits;
  held = event.held || [];
  disks = event.disks || [];
  if (event.configuration !== configuration) {
    graph = await json('/graph.json');
    allowed = await json('/allowed.json');
    $('tab-change').hidden = !allowed.control;
    configuration = event.configuration;
    build();
  }
  show();
}

function sortByGroup(kind, isOther) {
  if (!isOther && groups[kind].rows === rows[kind].size) return;
  groups[kind].clear();
  for (const row of rows[kind].values()) {
    const name = group(row.name);
    if (groups[kind].has(name)) groups[kind].get(name).push(row);
    else groups[kind].set(name, [row]);
  }
  groups[kind].rows = rows[kind].size;
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
