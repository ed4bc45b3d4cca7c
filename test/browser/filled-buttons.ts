/** Runs in the page: the words of the buttons that are shown in the colour of the one that the page is for. */
export function filledButtons(): string[] {
  const sample = document.createElement('i');
  sample.style.backgroundColor = 'var(--pico-primary-background)';
  document.body.append(sample);
  const colour = getComputedStyle(sample).backgroundColor;
  sample.remove();
  return (
    [
      ...document.querySelectorAll<HTMLElement>(
        'main :is(button, [role=button], .button-link, [type=submit])',
      ),
    ]
      // The preview of a brand shows one as a sample.
      .filter((button) => !button.closest('[aria-labelledby="sample"]'))
      .filter((button) => button.checkVisibility() && getComputedStyle(button).backgroundColor === colour)
      .map((button) => button.textContent.trim() || (button as HTMLInputElement).value)
  );
}
