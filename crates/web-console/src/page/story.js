// Messages explained, step by step.

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
