// The views beside the graph: ledger, what waits, what was dropped, the log.

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
let letters = { waiting: 0, messages: [] };

async function queuesView() {
  try {
    queues = (await json('/queues.json')).queues;
    if (allowed.messages) letters = await json('/dead-letters.json');
  } catch (error) {
    // What was there stays on the page.
  }
  waitingView();
}

let lettersSaid = '';
async function sendAgain() {
  lettersSaid = (await command('/control/dead-letters')).text;
  await queuesView();
}

function lettersSheet() {
  const { waiting, messages } = letters;
  const caption = counted(waiting, 'dead letter') + (messages.length < waiting ? ', the oldest ' + count(messages.length) : '') + ': refused for good, kept on disk';
  const button = allowed.control ? make('button', { class: 'plain', type: 'button', onclick: sendAgain }, 'Send them again') : null;
  return make('div', {}, sheet(caption, [['time'], ['where'], ['reason'], ['text']], messages.map((one) => make('tr', {},
    make('td', { class: 'when' }, moment(one.time)), make('td', {}, one.destination || one.source, one.removed ? make('div', { class: 'quiet' }, 'removed') : null), make('td', { class: 'bad' }, one.reason), make('td', { class: 'text' }, one.text.trimEnd()))), 'messages'),
    make('p', { class: 'row below' }, button, make('span', { id: 'letters-said', class: 'quiet', role: 'status' }, lettersSaid)));
}

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
  if (letters.waiting) parts.push(lettersSheet());
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
