/*
 * Enhances portal pages that work without a script: updates the live parts of a page while something is in progress, instead
 * of reloading it.
 */

const liveParts = (root) => [...root.querySelectorAll('[data-live]')];

/** Fetches the page again and replaces the parts that changed, until nothing is in progress. */
async function refresh() {
  const response = await fetch(location.href, { headers: { accept: 'text/html' } });
  // The session has ended, or the object of the page is gone: reloading shows that.
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

refreshLater(document.querySelector('main').dataset.refresh);
