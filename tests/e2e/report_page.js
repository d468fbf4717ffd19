// What report.py adds to a copy of a report's page: uses the page as a user
// would, and writes what is wrong, or "passed", into an element of its own.
'use strict';
(async function () {
  const wrong = [];
  const check = (condition, what) => condition || wrong.push(what);
  window.addEventListener('error', event => wrong.push(event.message));

  const all = (selector, root = document) =>
      Array.from(root.querySelectorAll(selector));
  const isVisible = element => element.checkVisibility();
  const wait = ms => new Promise(resolve => setTimeout(resolve, ms));
  const search = document.getElementById('search');
  const found = document.getElementById('found');
  async function find(text) {
    search.value = text;
    search.dispatchEvent(new Event('input'));
    await wait(400);
    return all('.item').filter(isVisible);
  }

  async function checkSearch() {
    const nodes = all('.node');
    check(nodes.length > 0, 'the graph has no nodes');
    const name = nodes[Math.floor(nodes.length / 2)].childNodes[1].textContent.trim();
    const opened = all('details').map(fold => fold.open);
    const hits = await find(name.toUpperCase());
    check(hits.length > 0, 'nothing is found: ' + name);
    check(hits.every(hit => hit.textContent.includes(name)),
          'what does not match is shown');
    check(hits.some(hit => hit.classList.contains('node')),
          'the node is not shown: ' + name);
    check(found.value === hits.length + ' found', 'the count: ' + found.value);
    document.getElementById('finder').requestSubmit();
    check(all('.current').length === 1 && isVisible(all('.current')[0]),
          'Enter leads to no hit');
    check((await find('no-such thing')).length === 0, 'nonsense is found');
    check(found.value === '0 found', 'the count of nonsense: ' + found.value);
    await find('');
    check(all('.miss').length === 0, 'something is hidden after a search');
    check(all('details').every((fold, i) => fold.open === opened[i]),
          'folds are not as before the search');
  }

  function checkFolds() {
    const node = all('.group .node')[0];
    if (!node)
      return;
    document.querySelector('button[data-unfold]').click();
    check(isVisible(node), 'a node is hidden when all is unfolded');
    check(all('.graph details').every(fold => fold.open), 'not all is unfolded');
    document.querySelector('button[data-fold]').click();
    check(!isVisible(node), 'a node is shown when all is folded');
    all('.group > summary')[0].click();
    check(all('.group')[0].open, 'a click opens no group');
    location.hash = '#' + node.id;
    window.dispatchEvent(new Event('hashchange'));
    check(isVisible(node), 'a link to a node in a fold does not show it');
  }

  function checkSorting() {
    const table = document.querySelector('table.costs');
    const head = all('th', table).findIndex(th => th.textContent === 'moved');
    const values = () =>
        Array.from(table.tBodies[0].rows, row => Number(row.cells[head].dataset.v));
    const before = values().sort((a, b) => a - b);
    table.tHead.rows[0].cells[head].click();
    check(String(values()) === String(before.slice().reverse()),
          'a click on a head does not sort');
    table.tHead.rows[0].cells[head].click();
    check(String(values()) === String(before), 'a second one does not turn it');
  }

  function checkPasses() {
    const idle = all('.passes .idle');
    check(idle.length > 0 && !idle.some(isVisible),
          'passes that changed nothing are shown');
    document.querySelector('input.idle').click();
    check(idle.every(isVisible), 'passes that changed nothing stay hidden');
  }

  function checkImage() {
    for (const image of all('svg')) {
      const rects = all('.live-range rect', image);
      check(rects.length > 0, 'the arena is empty');
      const {width, height} = image.viewBox.baseVal;
      check(rects.every(rect => {
        const box = rect.getBBox();
        return box.x >= 0 && box.y >= 0 && box.x + box.width <= width &&
               box.y + box.height <= height && box.width > 0;
      }), 'an activation is outside the image');
      check(rects.every(rect => rect.firstElementChild.textContent.includes(
                            'written by')), 'an activation has no title');
    }
  }

  function checkLinks() {
    for (const link of all('a'))
      check(document.getElementById(link.getAttribute('href').slice(1)),
            'a link leads nowhere: ' + link.getAttribute('href'));
    const ids = all('[id]').map(element => element.id);
    check(new Set(ids).size === ids.length, 'an id is there twice');
    check(all('[src], link').length === 0, 'the page needs other files');
    check(performance.getEntriesByType('resource').length === 0,
          'the page loads other files');
  }

  try {
    checkLinks();
    checkImage();
    await checkSearch();
    checkFolds();
    checkSorting();
    checkPasses();
  } catch (error) {
    wrong.push(String(error));
  }
  const result = document.createElement('output');
  result.id = 'result';
  result.textContent = wrong.slice(0, 10).join('; ') || 'passed';
  document.body.append(result);
})();
