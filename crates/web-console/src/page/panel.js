// The panel of one card: its numbers, its last hour, its messages, its lines and options.

// With `listens`, what comes by is shown at once: an edge was clicked.
async function open(card, listens = false) {
  chosen = card;
  const { node } = card;
  $('panel').hidden = false;
  const title = node.kind === 'log' && node.name.startsWith('#') ? 'log path' : node.kind + ' ' + node.name;
  const chart = make('div', { class: 'chart' });
  const lines = make('div', {});
  const texts = make('div', {});
  card.numbers = make('dl', { class: 'numbers' });
  const buttons = make('div', { class: 'row' });
  if (node.kind === 'destination' || node.kind === 'source') buttons.append(make('button', { class: 'plain', onclick: () => lostOnes(node, texts) }, 'Show dropped messages'));
  buttons.append(make('button', { class: 'plain', onclick: () => tap(node, texts) }, 'Show what comes by'));
  if (node.kind === 'source') buttons.append(make('button', { class: 'plain', onclick: () => next(node, texts) }, 'Explain the next one'));
  $('details').replaceChildren(make('h2', {}, title), make('p', { class: 'quiet' }, node.at),
    ...troubles(node).map((one) => make('p', { class: 'note waits' }, one.sentence)), card.numbers,
    make('h3', {}, 'The last hour'), chart, make('h3', {}, 'Messages'), buttons, texts, make('h3', {}, 'Configuration'), lines);
  $('close').focus();
  numbers(card);
  show();
  if (listens) tap(node, texts);
  try {
    const { text, options } = await json('/configuration.json' + query({ node: node.node }));
    lines.replaceChildren(make('pre', {}, text), ...optionTables(options));
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

// The options in effect: those that somebody set, and the presets behind a click.
function optionTables(options) {
  const from = { driver: '', global: 'options, ', preset: 'preset' };
  const table = (list) => make('table', { class: 'options' }, make('tbody', {}, ...list.map((one) => make('tr', {},
    make('td', {}, one.name), make('td', { class: 'text' }, one.value), make('td', { class: 'quiet' }, from[one.set_by] + place(one.at || ''))))));
  const drivers = [...new Set(options.map((one) => one.driver))];
  return drivers.flatMap((driver) => {
    const own = options.filter((one) => one.driver === driver);
    const set = own.filter((one) => one.set_by !== 'preset');
    const presets = own.filter((one) => one.set_by === 'preset');
    return [make('h3', {}, 'Options of ' + driver), set.length ? table(set) : '',
      presets.length ? make('details', {}, make('summary', {}, counted(presets.length, 'preset')), table(presets)) : ''];
  });
}

const WAITING = 'Waiting for messages, ten seconds at most …';

async function next(node, into) {
  into.replaceChildren(make('p', { class: 'quiet' }, WAITING));
  try {
    story(into, await json('/next.json' + query({ source: node.name })));
  } catch (error) {
    into.replaceChildren(make('p', { class: 'quiet' }, error.message));
  }
}

// Messages as they are there: as they came in, as they are written.
async function tap(node, into) {
  into.replaceChildren(make('p', { class: 'quiet' }, WAITING));
  const at = node.kind === 'log' ? node.at : node.name.replace(/^#/, '');
  try {
    const { messages } = await json('/tap.json' + query({ place: at, count: 10 }));
    into.replaceChildren(messages.length ? sheet(counted(messages.length, 'message'), [['time'], ['from'], ['text']], messages.map((one) => make('tr', {},
      make('td', { class: 'when' }, one.time ? clock(one.time / 1000) : ''), make('td', { class: 'quiet' }, one.peer || one.source || ''),
      make('td', { class: 'text' }, one.text.trimEnd()))), 'messages') : make('p', { class: 'quiet' }, 'Nothing came by.'));
  } catch (error) {
    into.replaceChildren(make('p', { class: 'quiet' }, error.message));
  }
}

async function lostOnes(node, into) {
  try {
    const { messages } = await json('/dropped.json' + query({ [node.kind]: node.name }));
    into.replaceChildren(messages.length ? droppedTable(messages) : make('p', { class: 'quiet' }, 'None. The last hundred of each reason are kept, but of what the kernel dropped, which nobody has read.'));
  } catch (error) {
    into.replaceChildren(make('p', { class: 'quiet' }, error.message));
  }
}
