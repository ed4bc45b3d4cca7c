/*
 * What a script can add to the portal, whose pages work without one: buttons that copy, and parts of a page that change
 * while something is under way, in place of loading the page again.
 */

const liveParts = (root) => [...root.querySelectorAll('[data-live]')];

/** Fetches the page again and puts the parts that changed in the place of those shown, until nothing is under way. */
async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  // The session has ended, or what the page shows is gone: loading it says so.
  if (!response.ok) return location.reload();
  const page = new DOMParser().parseFromString(await response.text(), 'text/html');
  const [shown, fresh] = [liveParts(document), liveParts(page)];
  if (shown.length !== fresh.length) return location.reload();
  shown.forEach((part, index) => {
    if (part.innerHTML !== fresh[index].innerHTML) part.replaceChildren(...fresh[index].childNodes);
  });
  refreshLater(page.querySelector('main').dataset.refresh);
}

function refreshLater(seconds) {
  if (!seconds) return;
  const again = () => refreshLater(seconds);
  setTimeout(() => (document.hidden ? again() : refresh().catch(again)), seconds * 1000);
}

/** A button beside what is worth copying: a secret, or an example. */
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

// Browsers let pages copy over https and on the machine itself.
if (navigator.clipboard) document.querySelectorAll('[data-copy]').forEach(addCopyButton);
refreshLater(document.querySelector('main').dataset.refresh);
