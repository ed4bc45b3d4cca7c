/*
 * Enhances pages that work without a script: a copy button, and forms that a second click does not submit again.
 */

/** Adds a copy button beside a secret or an example. */
function addCopyButton(source) {
  const button = document.createElement('button');
  button.type = 'button';
  button.className = 'quiet copy';
  button.textContent = 'Copy';
  button.addEventListener('click', async () => {
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    button.textContent = 'Copied';
    setTimeout(() => (button.textContent = 'Copy'), 2000);
  });
  source.after(button);
}

// Browsers only allow copying over https and on localhost.
if (navigator.clipboard) document.querySelectorAll('[data-copy]').forEach(addCopyButton);

for (const form of document.querySelectorAll('form[data-once]')) {
  form.addEventListener('submit', (event) => {
    if (form.dataset.once === 'sent') event.preventDefault();
    form.dataset.once = 'sent';
  });
  // The browser's back button may show the page in its previous state.
  addEventListener('pageshow', () => (form.dataset.once = ''));
}
