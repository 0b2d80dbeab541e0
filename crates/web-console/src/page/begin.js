// What the page does first, and with keys and buttons.

function select(tab) {
  for (const one of document.querySelectorAll('[role=tab]')) {
    const is = one === tab;
    one.setAttribute('aria-selected', is);
    one.tabIndex = is ? 0 : -1;
    $(one.getAttribute('aria-controls')).hidden = !is;
  }
  // Where there is little room, tabs stand beyond the edge.
  tab.scrollIntoView({ block: 'nearest', inline: 'nearest' });
  const view = tab.getAttribute('aria-controls');
  if (view === 'dropped') droppedView();
  if (view === 'log') logView();
  if (view === 'waiting') queuesView();
  if (view === 'change') changeView();
  show();
}

addEventListener('DOMContentLoaded', () => {
  const tabs = [...document.querySelectorAll('[role=tab]')];
  for (const tab of tabs) tab.addEventListener('click', () => select(tab));
  document.querySelector('nav').addEventListener('keydown', (key) => {
    const move = { ArrowRight: 1, ArrowLeft: -1 }[key.key];
    const at = tabs.indexOf(document.activeElement);
    if (!move || at < 0) return;
    const open = tabs.filter((one) => !one.hidden);
    const tab = open[(open.indexOf(tabs[at]) + move + open.length) % open.length];
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
  $('reload').addEventListener('submit', (done) => { done.preventDefault(); reload(done.submitter.name === 'trial' ? Number($('trial-seconds').value) : 0); });
  $('roll-back').addEventListener('click', rollBack);
  let isAsked = false;
  addEventListener('scroll', () => {
    if (isAsked) return;
    isAsked = true;
    requestAnimationFrame(() => { isAsked = false; link(); });
  }, { passive: true });
  new ResizeObserver(link).observe($('canvas'));
  follow();
});
