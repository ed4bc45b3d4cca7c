import { scaleBand, scaleLinear } from 'd3-scale';
import { symbol, symbolTriangle } from 'd3-shape';

const [WIDTH, LEFT, RIGHT, ROW, TITLE, AXIS] = [1060, 370, 270, 30, 44, 26];

/**
 * The chart of a run as SVG: for each workload the throughput as a multiple of the floor's, and below it the other requirements
 * as ratios. Each bar has its minimum (a line) and its aim (a triangle).
 */
export function chart({ results, bounds }) {
  const speeds = results.map(({ id, name, floor, ours, must, aim }) => {
    const words = `${ratio(ours.rate / floor.rate)}: ${count(ours.rate)} beside ${count(floor.rate)} a second`;
    return { label: `${id} ${name}`, value: ours.rate / floor.rate, words, must, aim };
  });
  const kept = bounds
    .filter(({ atMost }) => !atMost)
    .map(({ name, ours, must, aim }) => ({ label: name, value: ours, words: ratio(ours), must, aim }));
  const panels = [
    {
      title: 'Requests per second, as a multiple of the floor’s (line: the minimum, triangle: the aim)',
      rows: speeds,
    },
    { title: 'How much of the throughput is kept', rows: kept },
  ].filter(({ rows }) => rows.length > 0);
  let top = 0;
  const drawn = panels.map(({ title, rows }) => {
    const text = panel(title, rows, top);
    top += heightOf(rows);
    return text;
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${top}" width="${WIDTH}" height="${top}" role="img" ` +
    `aria-label="The service compared with the floor" font-family="sans-serif" font-size="13">\n` +
    `<rect width="${WIDTH}" height="${top}" fill="#ffffff"/>\n${drawn.join('\n')}\n</svg>\n`
  );
}

const heightOf = (rows) => TITLE + rows.length * ROW + AXIS;

function panel(title, rows, top) {
  const bottom = top + TITLE + rows.length * ROW;
  const most = Math.max(1, ...rows.flatMap(({ value, aim }) => [value, aim ?? 0]));
  const x = scaleLinear([0, most], [LEFT, WIDTH - RIGHT]).nice();
  const y = scaleBand(
    rows.map((_, n) => n),
    [top + TITLE, bottom],
  ).padding(0.3);
  const ticks = x.ticks(6).map((at) => {
    const stroke = at === 1 ? '#333333' : '#dddddd';
    return (
      `<line x1="${x(at)}" x2="${x(at)}" y1="${top + TITLE - 4}" y2="${bottom}" stroke="${stroke}"/>` +
      `<text x="${x(at)}" y="${bottom + 16}" text-anchor="middle" fill="#555555">${at}</text>`
    );
  });
  const bars = rows.map((row, n) => bar(row, x, y(n), y.bandwidth()));
  return `<text x="12" y="${top + 24}" font-weight="bold">${escape(title)}</text>\n${[...ticks, ...bars].join('\n')}`;
}

function bar({ label, value, words, must, aim }, x, y, height) {
  const middle = y + height / 2;
  const fill = must !== undefined && value < must ? '#c0392b' : '#2e7d6b';
  const marks = [
    must === undefined
      ? ''
      : `<line x1="${x(must)}" x2="${x(must)}" y1="${y - 3}" y2="${y + height + 3}" stroke="#111111" stroke-width="2"/>`,
    aim === undefined
      ? ''
      : `<path d="${symbol(symbolTriangle, 50)()}" transform="translate(${x(aim)},${middle})" fill="#111111"/>`,
  ];
  const text = (at, content, anchor) =>
    `<text x="${at}" y="${middle}" dominant-baseline="central" text-anchor="${anchor}">${escape(content)}</text>`;
  return [
    text(LEFT - 8, label, 'end'),
    `<rect x="${x(0)}" y="${y}" width="${Math.max(0, x(value) - x(0))}" height="${height}" fill="${fill}"/>`,
    ...marks,
    text(WIDTH - RIGHT + 12, words, 'start'),
  ].join('');
}

const ratio = (value) => value.toFixed(2);
const count = (value) => Math.round(value).toLocaleString('en-GB');
const escape = (text) => text.replace(/[&<>"]/g, (letter) => `&#${letter.charCodeAt(0)};`);
