/*
 * Notes the time zone of the browser, in which the pages that follow show times, and says how long ago a time was when the pointer is on
 * it. It changes no text, so nothing moves. Without it, times are in UTC.
 */

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const noted = `zone=${encodeURIComponent(timeZone ?? '')}`;
if (timeZone && !document.cookie.split('; ').includes(noted)) {
  const secure = location.protocol === 'https:' ? '; secure' : '';
  document.cookie = `${noted}; path=/; max-age=31536000; samesite=lax${secure}`;
}

const language = document.documentElement.lang;
const relative = new Intl.RelativeTimeFormat(language, { numeric: 'auto' });
const UNITS = [
  ['year', 31_536_000],
  ['month', 2_592_000],
  ['day', 86_400],
  ['hour', 3_600],
  ['minute', 60],
  ['second', 1],
];

/** Such as "3 minutes ago". */
function fromNow(time) {
  const seconds = Math.round((Date.parse(time.dateTime) - Date.now()) / 1000);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? UNITS.at(-1);
  return relative.format(Math.trunc(seconds / size), unit);
}

addEventListener('pointerover', ({ target }) => {
  const time = target.closest?.('time[data-utc]');
  if (time) time.title = `${fromNow(time)} · ${time.dataset.utc}`;
});
