/*
 * Enhances pages that work without a script: buttons to copy and to download, and forms that a second click does not submit again; the key
 * that leads to the search.
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

function addCopyButtons(root) {
  // Browsers only allow copying over https and on localhost.
  if (navigator.clipboard) root.querySelectorAll('[data-copy]').forEach(addCopyButton);
}

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
