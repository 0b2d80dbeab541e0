// Changing what runs: the difference first, then a reload, a trial, a roll-back.

async function command(path) {
  try {
    const answer = await ask(path, { method: 'POST', own: { 'X-Penstock': '1' } });
    return { ok: answer.ok, text: (await answer.text()).trim() };
  } catch (error) {
    return { ok: false, text: 'No answer: ' + error.message };
  }
}

async function changeView() {
  const into = $('difference');
  try {
    const { text } = await json('/difference.json');
    const kinds = { '+': 'more', '-': 'less', '~': 'other' };
    into.replaceChildren(...text.trimEnd().split('\n').map((line) => make('span', { class: kinds[line.trim()[0]] || '' }, line + '\n')));
  } catch (error) {
    into.textContent = error.message;
  }
}

function say(text, word = '') {
  $('changed').className = 'ask said ' + word;
  $('changed').textContent = text;
}

let recalled = false;

// While a trial is under way nothing but its end can be asked for.
async function reload(seconds) {
  const buttons = [...$('reload').elements];
  for (const one of buttons) one.disabled = true;
  const until = Date.now() + seconds * 1000;
  const tell = () => say(seconds ? 'On trial: ' + Math.max(0, Math.ceil((until - Date.now()) / 1000)) + ' s left. Roll back ends it at once.' : 'Reloading …');
  const clockwork = setInterval(tell, 1000);
  tell();
  recalled = false;
  const { ok, text } = await command('/control/reload' + (seconds ? query({ trial: seconds }) : ''));
  clearInterval(clockwork);
  for (const one of buttons) one.disabled = false;
  if (!recalled) say(text, ok ? 'ok' : 'bad');
  await changeView();
}

async function rollBack() {
  recalled = true;
  $('roll-back').disabled = true;
  const { ok, text } = await command('/control/roll-back');
  $('roll-back').disabled = false;
  say(text, ok ? 'ok' : 'bad');
  await changeView();
}
