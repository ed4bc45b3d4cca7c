/*
 * Enhances the guides, which work without a script: remembers the language of the samples, puts what a reader types into them, and `/` leads
 * to the search.
 */

const LANGUAGE = 'docs-language';

/** Shows all samples in this language, where they have it. */
function show(language) {
  for (const choice of document.querySelectorAll('.sample-tabs input')) {
    if (choice.value === language) choice.checked = true;
  }
}

/** A browser may allow nothing to be stored. */
function remembered() {
  try {
    return localStorage.getItem(LANGUAGE);
  } catch {
    return null;
  }
}

function remember(language) {
  try {
    localStorage.setItem(LANGUAGE, language);
  } catch {
    // It is shown on this page only.
  }
}

const language = remembered();
if (language) show(language);

document.addEventListener('change', ({ target }) => {
  if (!target.matches('.sample-tabs input')) return;
  // What is above may change its height: the chosen sample stays where it is.
  const before = target.getBoundingClientRect().top;
  show(target.value);
  scrollBy({ top: target.getBoundingClientRect().top - before, behavior: 'instant' });
  remember(target.value);
});

for (const field of document.querySelectorAll('[data-fills]')) {
  const places = [...document.querySelectorAll(`[data-variable="${field.dataset.fills}"]`)];
  const empty = places.map(({ textContent }) => textContent);
  field.addEventListener('input', () => {
    // Nothing that a shell could read as anything but a word.
    const value = field.value.replace(/[^\w.-]/g, '');
    places.forEach((place, index) => (place.textContent = value || empty[index]));
  });
}

addEventListener('keydown', (event) => {
  const isTyping = event.target.matches?.('input, textarea, select, [contenteditable]');
  if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
  event.preventDefault();
  document.getElementById('docs-query').focus();
});
