/*
 * Enhances pages that work without a script: a copy button, and forms that a second click does not submit again.
 */

/** Adds a copy button beside a secret or an example, or after the whole block that it is in. */
function addCopyButton(source) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet copy';
  const name = source.dataset.copy || 'Copy';
  button.textContent = name;
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = name), 2000);
  });
  (source.closest('.copied-whole') ?? source).after(button);
}

function addCopyButtons(root) {
  // Browsers only allow copying over https and on localhost.
  if (navigator.clipboard) root.querySelectorAll('[data-copy]').forEach(addCopyButton);
}

addCopyButtons(document);

for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.once === 'sent') event.preventDefault();
    form.dataset.once = 'sent';
  });
  // The browser's back button may show the page in its previous state.
  addEventListener('pageshow', () => (form.dataset.once = ''));
}
