export interface LookedFor {
  /** Targets that are too small; see {@link faultsOfLayout}. */
  targets?: boolean;
  /** A name that may take at most four lines in a heading and at the top of the portal. */
  name?: string;
  /** Rows of lists that are higher than two lines, and lists without an end. */
  rows?: boolean;
  /** What reaches beyond the right edge of a window of this width. */
  width?: number;
}

/**
 * Runs in the page, once for each size of the window, and returns what is wrong with it there: nothing, or a list for each kind of
 * fault. It must not refer to anything outside.
 *
 * - Ordinary words must not be broken; ids, addresses and names without a place to break may be.
 * - WCAG 2.2, 2.5.8: targets are at least 24 CSS px high and wide. A link within a sentence is as high as its line, and a box can
 *   also be clicked by its label. Bars of charts are as high as their values: the table beside them has the same links.
 * - A row of a list takes two lines, and no list is without an end; text, as in guides, may be long.
 */
export function faultsOfLayout({ targets, name, rows, width }: LookedFor): Record<string, unknown[]> {
  const all = <E extends Element>(selector: string) => [...document.querySelectorAll<E>(selector)];
  const begin = ({ outerHTML }: Element, length = 120) => outerHTML.slice(0, length);

  function* textsIn(root: Node): Generator<Text & { parentElement: Element }> {
    const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) yield walker.currentNode as Text & { parentElement: Element };
  }
  const boxesOf = (text: Text, start: number, length: number) => {
    const range = document.createRange();
    range.setStart(text, start);
    range.setEnd(text, start + length);
    return [...range.getClientRects()];
  };

  const brokenWords = () => {
    const found: string[] = [];
    for (const text of textsIn(document.body)) {
      if (!text.parentElement.checkVisibility()) continue;
      for (const { 0: word, index } of text.data.matchAll(/(?<!\S)\p{L}{2,20}(?=[.,:;!?]?(\s|$))/gu)) {
        const lines = new Set(boxesOf(text, index, word.length).map(({ top }) => Math.round(top)));
        if (lines.size > 1) found.push(`${word} in ${begin(text.parentElement)}`);
      }
    }
    return found;
  };

  const smallTargets = () => {
    const isShown = (element: Element) => element.checkVisibility() && !element.matches('.skip-link, svg a');
    const isInSentence = (element: Element) => {
      const block = element.closest('p, li, dd, td, th, summary, small, label')!;
      const text = (from: Element | null) => (from?.textContent ?? '').trim().length;
      return getComputedStyle(element).display === 'inline' && text(block) > text(element);
    };
    return all('a[href], button, input:not([type=hidden]), select, textarea, summary')
      .filter((element) => isShown(element) && !isInSentence(element))
      .map((element) => {
        const boxes = [element, ...((element as HTMLInputElement).labels ?? [])];
        const sizes = boxes.map((box) => box.getBoundingClientRect());
        return {
          width: Math.max(...sizes.map((s) => s.width)),
          height: Math.max(...sizes.map((s) => s.height)),
          html: begin(element),
        };
      })
      .filter((size) => size.width < 23.9 || size.height < 23.9);
  };

  const longNames = (of: string) => {
    const shownLines = (heading: Element, text: Text) => {
      const { bottom } = heading.getBoundingClientRect();
      const boxes = boxesOf(text, text.data.indexOf(of), of.length);
      const middles = boxes.map(({ top, height }) => Math.round(top + height / 2));
      return new Set(middles.filter((middle) => middle < bottom)).size;
    };
    return all('h1, h2, .identity-name')
      .filter((heading) => heading.checkVisibility() && heading.textContent.includes(of))
      .map((heading) => {
        for (const text of textsIn(heading))
          if (text.data.includes(of)) return { lines: shownLines(heading, text), html: heading.outerHTML };
        throw new Error(`the name is not in one piece: ${heading.outerHTML}`);
      })
      .filter(({ lines }) => lines > 4);
  };

  const tallRows = () =>
    all('table.list tbody tr')
      .filter((row) => row.checkVisibility() && row.getBoundingClientRect().height > 70)
      .map((row) => begin(row, 300));
  const endlessLists = () => {
    const { scrollHeight } = document.documentElement;
    return scrollHeight > 9000 && document.querySelector('table.list, .entries') ? [scrollHeight] : [];
  };

  const tooWide = (most: number) => {
    const { scrollWidth } = document.documentElement;
    const outside = all('body *').filter(
      (element) => element.getBoundingClientRect().right > most + 0.5 && !element.matches('.skip-link'),
    );
    return [...(scrollWidth === most ? [] : [scrollWidth]), ...outside.map((element) => begin(element, 100))];
  };

  const faults = {
    brokenWords: brokenWords(),
    smallTargets: targets ? smallTargets() : [],
    longNames: name ? longNames(name) : [],
    tallRows: rows ? tallRows() : [],
    endlessLists: rows ? endlessLists() : [],
    tooWide: width ? tooWide(width) : [],
  };
  return Object.fromEntries(Object.entries(faults).filter(([, found]) => found.length > 0));
}
