/*
 * Enhances pages that work without a script: buttons to copy and to download, and forms that a second click does not submit again; the key
 * that leads to the search; and it notes which groups of the side bar are folded up.
 */

// By the English ones, where the page is in another language.
const words = JSON.parse(document.querySelector('main')?.dataset.words ?? '{}');
const inLanguage = (english) => words[english] ?? english;

/** The text of a secret, an example or a field; of a list, a line for each item. */
function textOf(source) {
  if (source.tagName === 'UL') return [...source.children].map((item) => item.textContent).join('\n');
  return source.value ?? source.textContent;
}

/** Adds a copy button beside a secret or an example, or after the whole block that it is in. */
function addCopyButton(source) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet copy';
  const name = source.dataset.copy || inLanguage('Copy');
  button.textContent = name;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(textOf(source));
    button.textContent = inLanguage('Copied');
    setTimeout(() => (button.textContent = name), 2000);
  });
  (source.closest('.copied-whole') ?? source).after(button);
}

/** Two sheets, and a tick once it is copied; the shapes are Lucide's. */
const COPY_ICON =
  '<svg class="icon" viewBox="0 0 24 24" width="16" height="16" fill="none" stroke="currentcolor" stroke-width="1.75" ' +
  'stroke-linecap="round" stroke-linejoin="round" aria-hidden="true"><g><rect x="8" y="8" width="14" height="14" rx="2"/>' +
  '<path d="M4 16c-1.1 0-2-.9-2-2V4c0-1.1.9-2 2-2h10c1.1 0 2 .9 2 2"/></g><path d="M20 6 9 17l-5-5"/></svg>';

/** Adds a small button after an id in a list. One listener serves all, also those that are put into the page later. */
function addIdButton(code) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'copy-id';
  button.innerHTML = COPY_ICON;
  button.title = inLanguage('Copy');
  button.dataset.id = code.textContent;
  button.ariaLabel = `${inLanguage('Copy')} ${code.textContent}`;
  (code.closest('a') ?? code).after(button);
}

document.addEventListener('click', async ({ target }) => {
  const button = target.closest?.('.copy-id');
  if (!button) return;
  await navigator.clipboard.writeText(button.dataset.id);
  const { ariaLabel } = button;
  button.classList.add('copied');
  button.ariaLabel = inLanguage('Copied');
  setTimeout(() => {
    button.classList.remove('copied');
    button.ariaLabel = ariaLabel;
  }, 2000);
});

function addCopyButtons(root) {
  // Browsers only allow copying over https and on localhost.
  if (!navigator.clipboard) return;
  root.querySelectorAll('[data-copy]').forEach(addCopyButton);
  root.querySelectorAll('table.list code.id').forEach(addIdButton);
}

/** Does with a part that a script fetched what was done with the page. */
globalThis.enhance = (part) => {
  addCopyButtons(part);
  globalThis.showSince?.(part);
};

/** What the service sent of a part: without our buttons, with exact times, and as if nothing had been opened. */
globalThis.asSent = (part) => {
  const copy = part.cloneNode(true);
  copy.querySelectorAll('button:is(.copy, .copy-id)').forEach((button) => button.remove());
  copy.querySelectorAll('details[open]').forEach((details) => details.removeAttribute('open'));
  copy.querySelectorAll('time[data-since]').forEach((time) => time.replaceWith(time.dateTime));
  return copy.innerHTML;
};

/** Adds a button that saves a list as a file. The file is made here: no address holds what is in it. */
function addDownloadButton(source) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet copy';
  button.textContent = inLanguage('Download');
  button.addEventListener('click', () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([`${textOf(source)}\n`], { type: 'text/plain' }));
    link.download = source.dataset.download;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href));
  });
  source.after(button);
}

const search = document.querySelector('a[aria-keyshortcuts="/"]');
addEventListener('keydown', (event) => {
  const isTyping = event.target.matches?.('input, textarea, select, [contenteditable]');
  if (!search || event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  const field = search.ariaCurrent ? document.querySelector('main [name="q"]') : null;
  if (field) field.focus();
  else search.click();
});

const groups = document.querySelectorAll('.nav-group');
const noteFolded = () => {
  const folded = [...groups].filter(({ open }) => !open).map(({ dataset }) => dataset.group);
  const secure = location.protocol === 'https:' ? '; secure' : '';
  document.cookie = `cds_folded=${folded.join('.')}; path=/; max-age=31536000; samesite=lax${secure}`;
};
// Not "toggle", which comes for those that are open from the start, too.
groups.forEach((group) => group.firstElementChild.addEventListener('click', () => setTimeout(noteFolded)));

document.querySelectorAll('[data-download]').forEach(addDownloadButton);
addCopyButtons(document);

for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.once === 'sent') event.preventDefault();
    form.dataset.once = 'sent';
  });
  // The browser's back button may show the page in its previous state.
  addEventListener('pageshow', () => (form.dataset.once = ''));
}
