/*
 * Replaces the page with the interactive API reference, once something in it is chosen and it has loaded.
 */

const { script, nonce, configuration } = JSON.parse(document.getElementById('docs-settings').textContent);

/** The page's policy refuses inline styles: style sheets get the nonce of this response, attributes are set as properties. */
function makeStylesAllowed() {
  const createElement = document.createElement;
  document.createElement = function (...parameters) {
    const element = createElement.apply(this, parameters);
    if (element instanceof HTMLStyleElement) element.nonce = nonce;
    return element;
  };
  const setAttribute = Element.prototype.setAttribute;
  Element.prototype.setAttribute = function (name, value) {
    if (name === 'style') this.style.cssText = value;
    else setAttribute.call(this, name, value);
  };
  const innerHTML = Object.getOwnPropertyDescriptor(Element.prototype, 'innerHTML');
  Object.defineProperty(Element.prototype, 'innerHTML', {
    ...innerHTML,
    set(html) {
      innerHTML.set.call(this, String(html).replace(/(<[a-z][^<>]*) style="/g, '$1 data-style="'));
      for (const styled of (this.content ?? this).querySelectorAll('[data-style]')) {
        styled.style.cssText = styled.dataset.style;
        styled.removeAttribute('data-style');
      }
    },
  });
  const meta = document.createElement('meta');
  meta.setAttribute('property', 'csp-nonce');
  meta.content = nonce;
  document.head.append(meta);
  // A library in it otherwise tries whether the policy allows it to compile code.
  globalThis.__zod_globalConfig = { jitless: true };
}

/** Gives names to controls that the reference leaves without one for screen readers. */
function nameControls() {
  for (const editor of document.querySelectorAll('[role=combobox]:not([aria-label])')) {
    const label = document.querySelector(`label[for="${editor.parentElement.id}"]`);
    editor.setAttribute('aria-label', label?.textContent || editor.dataset.placeholder || 'Value');
    if (!editor.hasAttribute('aria-expanded')) editor.setAttribute('aria-expanded', 'false');
  }
  for (const button of document.querySelectorAll('button:not([aria-label], [title])')) {
    const isUnnamed = !button.textContent.trim() && !button.querySelector('[aria-label]');
    if (isUnnamed) button.setAttribute('aria-label', button.ariaExpanded ? 'Show or hide' : 'Copy');
  }
}

/** Puts the reference in the place of the whole page, with its own style sheet. */
async function showReference() {
  const styleSheet = document.createElement('link');
  const applied = new Promise((resolve) => styleSheet.addEventListener('load', resolve));
  styleSheet.rel = 'stylesheet';
  styleSheet.href = '/assets/docs.css';
  document.head.append(styleSheet);
  await applied;
  for (const link of document.querySelectorAll('link[rel=stylesheet]')) {
    if (link !== styleSheet) link.remove();
  }
  const reference = document.createElement('div');
  reference.id = 'reference';
  document.body.className = '';
  const ways = document.querySelector('.docs-ways');
  document.body.replaceChildren(ways, reference);
  scrollTo(0, 0);
  new MutationObserver(nameControls).observe(document.body, { childList: true, subtree: true });
  globalThis.Scalar.createApiReference(reference, configuration);
}

/** The address says what is shown: another page leads to an operation, or a link of this one was followed. */
function openReference() {
  if (!location.hash) return;
  removeEventListener('hashchange', openReference);
  makeStylesAllowed();
  const element = document.createElement('script');
  element.src = script;
  element.addEventListener('load', showReference);
  element.addEventListener('error', () => {
    const failed = document.getElementById('docs-failed');
    failed.hidden = false;
    failed.scrollIntoView();
  });
  document.head.append(element);
}

addEventListener('hashchange', openReference);
openReference();
