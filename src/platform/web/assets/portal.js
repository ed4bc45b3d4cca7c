/*
 * Enhances portal pages that work without a script: updates the live parts of a page while something is in progress, instead
 * of reloading it.
 */

/** An answer that takes longer will not come: the connection is gone. */
const LONGEST_MS = 30_000;

const liveParts = (root) => [...root.querySelectorAll('[data-live]')];

/** Replaces a part, and opens again what was open. */
function replace(part, fresh) {
  const nameOf = (details) => details.querySelector('summary')?.textContent;
  const open = new Set([...part.querySelectorAll('details[open]')].map(nameOf));
  part.replaceChildren(...fresh.childNodes);
  part.querySelectorAll('details').forEach((details) => (details.open = open.has(nameOf(details))));
  globalThis.enhance(part);
}

/** Fetches the page again and replaces the parts that changed, until nothing is in progress; what fails is tried again. */
async function refresh() {
  const signal = AbortSignal.timeout(LONGEST_MS);
  const response = await fetch(location.href, { headers: { accept: 'text/html' }, signal });
  // It cannot answer at the moment, as while it is being replaced; what the page shows is still the latest.
  if (response.status === 429 || response.status >= 500) throw new Error(String(response.status));
  // The session has ended, or the object of the page is gone: reloading shows that.
  if (!response.ok) return location.reload();
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const [shown, fresh] = [liveParts(document), liveParts(page)];
  if (shown.length !== fresh.length) return location.reload();
  shown.forEach((part, index) => {
    if (globalThis.asSent(part) !== globalThis.asSent(fresh[index])) replace(part, fresh[index]);
  });
  refreshLater(page.querySelector('main').dataset.refresh);
}

function refreshLater(seconds) {
  if (!seconds) return;
  const again = () => refreshLater(seconds);
  setTimeout(() => (document.hidden ? again() : refresh().catch(again)), seconds * 1000);
}

refreshLater(document.querySelector('main').dataset.refresh);

/** Ticks all boxes of a group, or none of them where all are ticked. */
function addSelectAll(group) {
  const boxes = [...group.querySelectorAll('input[type=checkbox]')];
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'link-button';
  button.textContent = 'Select all';
  button.setAttribute('aria-label', `Select all of ${group.dataset.selectAll}`);
  button.addEventListener('click', () => {
    const tick = boxes.some(({ checked }) => !checked);
    boxes.forEach((box) => (box.checked = tick));
  });
  group.firstElementChild.append(' ', button);
}

document.querySelectorAll('[data-select-all]').forEach(addSelectAll);
