/*
 * Brings what is new into a list without a reload, while its page is seen. It keeps the focus, ticked boxes, opened details and marked
 * text, and stops with the first error. It looks every few seconds or, where the list has a stream, when that says that something has
 * changed. Without this script, "Refresh" does the same.
 */

const EVERY_MS = 4000;
const list = document.querySelector('[data-live-list]');
const state = document.querySelector('[data-list-status]');

const isTicked = (row) => row.querySelector('input:checked') !== null;
const hasFocus = (element) => element.contains(document.activeElement);

/** Whether text inside the list is marked, which a change would undo. */
function isMarked() {
  const selection = getSelection();
  return !selection.isCollapsed && selection.containsNode(list, true);
}

/** Gives an element the parts of a fresh one that differ, but for the one with the focus. */
function renew(element, fresh) {
  const [parts, freshParts] = [[...element.children], [...fresh.children]];
  if (parts.length !== freshParts.length) {
    if (!hasFocus(element)) element.replaceChildren(...fresh.childNodes);
    return;
  }
  parts.forEach((part, index) => {
    const freshPart = freshParts[index];
    if (part.open) freshPart.open = true;
    if (isSame(part, freshPart) || hasFocus(part)) return;
    part.replaceWith(freshPart);
    globalThis.enhance(freshPart);
  });
}

/** Whether the service sent the same of both. */
const isSame = (part, fresh) =>
  part.cloneNode().outerHTML === fresh.cloneNode().outerHTML &&
  globalThis.asSent(part) === globalThis.asSent(fresh);

/** Puts the rows into the fresh order. Rows that are no longer in it stay while they are ticked or have the focus. */
function renewRows(rows, freshRows) {
  const known = new Map([...rows.children].map((row) => [row.dataset.key, row]));
  const isFresh = new Set([...freshRows.children].map((row) => row.dataset.key));
  for (const row of known.values()) {
    if (!isFresh.has(row.dataset.key) && !isTicked(row) && !hasFocus(row)) row.remove();
  }
  let place = rows.firstElementChild;
  for (const fresh of [...freshRows.children]) {
    while (place && !isFresh.has(place.dataset.key)) place = place.nextElementSibling;
    const row = known.get(fresh.dataset.key);
    if (row) renew(row, fresh);
    if (row && row === place) place = place.nextElementSibling;
    // A row that is moved would lose the focus.
    else if (!row || !hasFocus(row)) {
      rows.insertBefore(row ?? fresh, place);
      if (!row) globalThis.enhance(fresh);
    }
  }
}

function renewList(fresh) {
  const [rows, freshRows] = [list.querySelector('[data-key]'), fresh.querySelector('[data-key]')];
  if (!rows || !freshRows) {
    if (isSame(list, fresh) || hasFocus(list)) return;
    list.replaceChildren(...fresh.childNodes);
    globalThis.enhance(list);
    return;
  }
  renewRows(rows.parentElement, freshRows.parentElement);
  const [pager, freshPager] = [list.querySelector('.pager'), fresh.querySelector('.pager')];
  if (!pager && freshPager) list.append(freshPager);
  else if (pager && freshPager) renew(pager, freshPager);
}

async function look() {
  // An operator's session ends unless someone uses it, which this is not.
  const headers = { accept: 'text/html', 'x-unattended': '1' };
  const response = await fetch(list.dataset.liveList, { headers });
  if (!response.ok) throw new Error(String(response.status));
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const fresh = page.querySelector('[data-live-list]');
  if (!fresh) throw new Error('no list');
  if (!isMarked()) renewList(fresh);
  for (const part of page.querySelectorAll('[data-live-part]')) {
    const shown = document.getElementById(part.id);
    if (!shown || isSame(shown, part) || hasFocus(shown)) continue;
    shown.replaceWith(part);
    globalThis.enhance(part);
  }
}

let timer;
let isLooking = false;

function lookLater(after) {
  clearTimeout(timer);
  timer = document.hidden ? undefined : setTimeout(lookNow, after);
}

async function lookNow() {
  // What is fetched first must not be shown last.
  if (isLooking) return lookLater(EVERY_MS / 8);
  isLooking = true;
  try {
    await look();
    if (!stream) lookLater(EVERY_MS);
  } catch {
    document.removeEventListener('visibilitychange', onVisibility);
    unfollow();
    state.textContent = 'The list is no longer updated, because of an error. Refresh it to go on.';
  } finally {
    isLooking = false;
  }
}

let stream;

function unfollow() {
  stream?.close();
  stream = undefined;
}

/** Looks whenever the stream says so. It connects again by itself; where it cannot, the list is looked at as without one. */
function follow() {
  stream = new EventSource(list.dataset.stream);
  stream.addEventListener('change', () => lookLater(0));
  stream.onerror = () => {
    if (stream?.readyState !== EventSource.CLOSED) return;
    unfollow();
    lookLater(EVERY_MS);
  };
}

function onVisibility() {
  // Browsers open only a few connections to a site.
  if (document.hidden) unfollow();
  else if (list.dataset.stream && !stream) follow();
  lookLater(0);
}

if (list && state) {
  state.textContent = list.dataset.liveWords ?? 'New deliveries appear here by themselves.';
  document.addEventListener('visibilitychange', onVisibility);
  if (list.dataset.stream && !document.hidden) follow();
  else lookLater(EVERY_MS);
}
