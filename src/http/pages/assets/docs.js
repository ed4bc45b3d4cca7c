/*
 * Replaces the list of operations with the interactive API reference, once that has loaded. Without it the list stays.
 */

const { script, nonce, configuration } = JSON.parse(document.getElementById('api-reference').textContent);

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
  const meta = document.createElement('meta');
  meta.setAttribute('property', 'csp-nonce');
  meta.content = nonce;
  document.head.append(meta);
  // A library in it otherwise tries whether the policy allows it to compile code.
  globalThis.__zod_globalConfig = { jitless: true };
}

/** An element with an id and children. */
function section(id, ...children) {
  const element = document.createElement('div');
  element.id = id;
  element.append(...children);
  return element;
}

function showReference() {
  const styleSheet = document.createElement('link');
  styleSheet.rel = 'stylesheet';
  styleSheet.href = '/assets/docs.css';
  styleSheet.addEventListener('load', () => {
    for (const link of document.querySelectorAll('link[rel=stylesheet]')) {
      if (link !== styleSheet) link.remove();
    }
    const reference = section('reference');
    document.body.className = '';
    document.body.replaceChildren(reference);
    globalThis.Scalar.createApiReference(reference, configuration);
  });
  document.head.append(styleSheet);
}

makeStylesAllowed();
const element = document.createElement('script');
element.src = script;
element.addEventListener('load', showReference);
document.head.append(element);
