/*
 * Notes the time zone of the browser, in which the pages that follow show times; says how long ago a time was when the pointer is on it,
 * and in the text itself where a list says so and it was within a week. A time keeps its room, so nothing moves. Without this script
 * times are exact, and in UTC.
 */

const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
const noted = `cds_zone=${encodeURIComponent(timeZone ?? '')}`;
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
const WEEK_MS = 604_800_000;
const MINUTE_MS = 60_000;
const isExact = document.querySelector('main')?.dataset.times === 'exact';

const fromNowMs = (time) => Date.parse(time.dateTime) - Date.now();

/** Such as "3 minutes ago": rounded, so that in six days and 23 hours is "in 7 days". */
function fromNow(time) {
  const seconds = Math.round(fromNowMs(time) / 1000);
  const [unit, size] = UNITS.find(([, each]) => Math.abs(seconds) >= each) ?? UNITS.at(-1);
  return relative.format(Math.round(seconds / size), unit);
}

/** Shows the recent times in a part of the page as the time since; an older one as it was sent. */
function showSince(root) {
  if (isExact) return;
  for (const time of root.querySelectorAll('time[data-since]')) {
    time.dataset.since ||= time.textContent;
    const text = Math.abs(fromNowMs(time)) < WEEK_MS ? fromNow(time) : time.dataset.since;
    if (time.textContent !== text) time.textContent = text;
  }
}

/** Notes the room of what is shown now, which the style sheet keeps where there is enough of it. */
function keepRoom(times) {
  const sizes = times.map((time) => time.getBoundingClientRect());
  times.forEach(({ style }, n) => {
    style.setProperty('--width', `${sizes[n].width}px`);
    style.setProperty('--height', `${sizes[n].height}px`);
  });
}

if (!isExact) keepRoom([...document.querySelectorAll('time[data-since]')]);
showSince(document);
setInterval(() => document.hidden || showSince(document), MINUTE_MS);
document.addEventListener('visibilitychange', () => document.hidden || showSince(document));

addEventListener('pointerover', ({ target }) => {
  const time = target.closest?.('time[data-utc]');
  if (time && !time.dataset.since) time.title = `${fromNow(time)} · ${time.dataset.utc}`;
});
