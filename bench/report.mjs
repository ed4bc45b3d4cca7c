import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';

const HEAD = [
  ...['', 'floor req/s', 'ours req/s', 'ratio', 'must', 'aim', ''],
  ...['CPU ms/request floor', 'ours', 'p50 ms floor', 'ours', 'p99 ms floor', 'ours'],
  ...['RSS MB floor', 'ours', 'pgbench tps'],
];

/** The report as Markdown. */
export function report({ results, notes }) {
  const rows = results.map(({ id, name, floor, ours, pgbench, must, aim }) => [
    `${id} ${name}`,
    ...[rate(floor.rate), rate(ours.rate), ratio(ours.rate / floor.rate), bound(must), bound(aim)],
    verdict(ours.rate / floor.rate, must, aim),
    ...[floor.processor, ours.processor].map((each) => each.toFixed(3)),
    ...[floor.p50, ours.p50, floor.p99, ours.p99].map((each) => each.toFixed(1)),
    ...[floor.memory, ours.memory].map((each) => each.toFixed(0)),
    pgbench ? rate(pgbench.rate) : '–',
  ]);
  return [
    '# What the service costs, beside the floor',
    ...['', ...notes.map((note) => `- ${note}`), '', table(HEAD, rows), ''],
  ].join('\n');
}

/** Writes the report and the picture. */
export async function write(out, text) {
  await mkdir(path.dirname(out), { recursive: true });
  await writeFile(`${out}.md`, text);
}

export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), line(head.map((_, n) => (n === 0 ? '---' : '---:'))), ...rows.map(line)].join('\n');
}

/** How a ratio stands to what it must and should be. */
export function verdict(value, must, aim) {
  if (must === undefined) return '';
  if (value >= aim) return 'aim';
  return value >= must ? 'must' : '**below**';
}

const rate = (value) => Math.round(value).toLocaleString('en-GB');
const ratio = (value) => value.toFixed(2);
const bound = (value) => (value === undefined ? '–' : value.toFixed(2));
