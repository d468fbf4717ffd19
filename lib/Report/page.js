// The page is whole without this; it searches, folds and sorts.
'use strict';
{
  const search = document.getElementById('search');
  const found = document.getElementById('found');
  const items = Array.from(document.querySelectorAll('.item'));
  const folds = Array.from(document.querySelectorAll('details'));
  // Made at the first search.
  let texts = null;
  // Which folds were open before the search; null when there is none.
  let before = null;
  let hits = [];
  let current = -1;

  function getAncestors(element) {
    const ancestors = [];
    for (let e = element.parentElement; e; e = e.parentElement)
      if (e.tagName === 'DETAILS')
        ancestors.push(e);
    return ancestors;
  }

  function endSearch() {
    for (const element of document.querySelectorAll('.miss, .current'))
      element.classList.remove('miss', 'current');
    if (before)
      folds.forEach((fold, i) => { fold.open = before[i]; });
    before = null;
    found.value = '';
  }

  function find(query) {
    const words = query.toLowerCase().split(/\s+/).filter(Boolean);
    hits = [];
    current = -1;
    if (words.length === 0)
      return endSearch();
    texts = texts || items.map(item => item.textContent.toLowerCase());
    before = before || folds.map(fold => fold.open);
    const kept = new Set();
    items.forEach((item, i) => {
      const isHit = words.every(word => texts[i].includes(word));
      item.classList.toggle('miss', !isHit);
      item.classList.remove('current');
      if (!isHit)
        return;
      hits.push(item);
      getAncestors(item).forEach(fold => kept.add(fold));
    });
    for (const fold of folds) {
      fold.classList.toggle('miss', !kept.has(fold));
      fold.open = kept.has(fold);
    }
    found.value = hits.length + ' found';
  }

  // Enter goes from hit to hit.
  function goOn() {
    if (hits.length === 0)
      return;
    if (current >= 0)
      hits[current].classList.remove('current');
    current = (current + 1) % hits.length;
    hits[current].classList.add('current');
    hits[current].scrollIntoView({block: 'center'});
    found.value = (current + 1) + ' of ' + hits.length;
  }

  let timer = 0;
  search.addEventListener('input', () => {
    clearTimeout(timer);
    timer = setTimeout(() => find(search.value), 120);
  });
  document.getElementById('finder').addEventListener('submit', event => {
    event.preventDefault();
    clearTimeout(timer);
    if (current < 0)
      find(search.value);
    goOn();
  });

  function setFolds(id, isOpen) {
    for (const fold of document.getElementById(id).querySelectorAll('details'))
      fold.open = isOpen;
  }
  for (const button of document.querySelectorAll('button[data-fold]'))
    button.addEventListener('click', () => setFolds(button.dataset.fold, false));
  for (const button of document.querySelectorAll('button[data-unfold]'))
    button.addEventListener('click',
                            () => setFolds(button.dataset.unfold, true));

  function getKey(row, column) {
    const cell = row.cells[column];
    if (cell.dataset.v !== undefined)
      return Number(cell.dataset.v);
    const text = cell.textContent.trim();
    return cell.classList.contains('n') ? (text === '' ? -Infinity : Number(text))
                                        : text;
  }
  function compare(a, b) {
    if (typeof a === 'number' && typeof b === 'number')
      return a === b ? 0 : a < b ? -1 : 1;
    return String(a).localeCompare(String(b));
  }
  function sortTable(head) {
    const order = head.dataset.order === 'down' ? 'up' : 'down';
    for (const other of head.parentElement.children)
      delete other.dataset.order;
    head.dataset.order = order;
    const sign = order === 'down' ? -1 : 1;
    const body = head.closest('table').tBodies[0];
    const rows = Array.from(body.rows, row => [getKey(row, head.cellIndex), row]);
    rows.sort((a, b) => sign * compare(a[0], b[0]));
    body.append(...rows.map(row => row[1]));
  }
  for (const head of document.querySelectorAll('th'))
    head.addEventListener('click', () => sortTable(head));

  // What a link leads to is shown, whatever is folded or searched for.
  function showTarget() {
    const target = document.getElementById(
        decodeURIComponent(location.hash.slice(1)));
    if (!target)
      return;
    if (target.classList.contains('miss')) {
      search.value = '';
      find('');
    }
    getAncestors(target).forEach(fold => { fold.open = true; });
    if (target.tagName === 'DETAILS')
      target.open = true;
    target.scrollIntoView({block: 'start'});
  }
  window.addEventListener('hashchange', showTarget);
  showTarget();
}
