// Writes the tables of domain events and questions in docs/architecture.md from the code, after compiling: who says and asks, who listens
// and answers. `--check`: only compares them. It also finds a name that nobody says or asks.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { DOMAIN_EVENTS } from '../dist/src/access/domain/domain-events.js';
import { DOMAIN_QUESTIONS } from '../dist/src/access/domain/domain-questions.js';
import { PLATFORM_QUESTIONS } from '../dist/src/platform/database/domain/platform-questions.js';

const root = path.join(import.meta.dirname, '..');
const page = path.join(root, 'docs/architecture.md');
const DECORATED = /@(?:OnDomainEvent|Answers)\('([^']+)'(?:, (\d+))?\)\n(?: *@.*\n)* *(?:async )?(\w+)\(/g;
const USED = /\.(?:say|ask|askAll)\(\s*'([^']+)'/g;

const used = [];
const declared = [];
for (const file of readdirSync(path.join(root, 'src'), { recursive: true, encoding: 'utf8' }).sort()) {
  if (!file.endsWith('.ts')) continue;
  const text = readFileSync(path.join(root, 'src', file), 'utf8');
  const classAt = (index) => [...text.slice(0, index).matchAll(/^export class (\w+)/gm)].at(-1)?.[1];
  for (const { 1: name, index } of text.matchAll(USED)) used.push({ name, by: classAt(index) ?? file });
  for (const { 0: match, 1: name, 2: place, index } of overlapping(text))
    declared.push({
      name,
      place: Number(place ?? 0),
      by: classAt(index),
      method: match.match(/(\w+)\($/)[1],
    });
}

/** Each decorator, also if a method has several. */
function* overlapping(text) {
  for (let match; (match = DECORATED.exec(text)); DECORATED.lastIndex = match.index + 1) yield match;
}

const named = (items) => [...new Set(items)].map((item) => `\`${item}\``).join(', ') || '—';
const usersOf = (name) => named(used.filter((each) => each.name === name).map(({ by }) => by));
const declaredAs = (name) =>
  declared.filter((each) => each.name === name).sort((one, other) => one.place - other.place);

const row = (...cells) => `| ${cells.join(' | ')} |`;
const table = (heads, rows) => [row(...heads), `|${'---|'.repeat(heads.length)}`, ...rows].join('\n');
const TABLES = {
  'domain events': table(
    ['Event', 'What happened', 'Said by', 'Listeners, in their order'],
    Object.entries(DOMAIN_EVENTS).map(([name, { about }]) =>
      row(
        `\`${name}\``,
        about,
        usersOf(name),
        named(declaredAs(name).map(({ by, method }) => `${by}.${method}`)),
      ),
    ),
  ),
  'domain questions': table(
    ['Question', 'What is asked', 'Answers', 'Asked by', 'Answered by'],
    Object.entries({ ...PLATFORM_QUESTIONS, ...DOMAIN_QUESTIONS }).map(([name, { use, about }]) =>
      row(`\`${name}\``, about, use, usersOf(name), named(declaredAs(name).map(({ by }) => by))),
    ),
  ),
};

const before = readFileSync(page, 'utf8');
const after = Object.entries(TABLES).reduce(
  (text, [title, content]) =>
    text.replace(
      new RegExp(`(<!-- ${title} -->\n)[^]*?(<!-- end -->)`),
      (_all, begin, end) => `${begin}${content}\n${end}`,
    ),
  before,
);
const faults = [...new Set(declared.map(({ name }) => name))].filter((name) => usersOf(name) === '—');
for (const name of faults) process.stderr.write(`Nobody says or asks ${name}.\n`);
const isStale = process.argv.includes('--check') && after !== before;
if (isStale)
  process.stderr.write('docs/architecture.md is older than the code: node scripts/write-architecture.mjs\n');
if (isStale || faults.length > 0) process.exitCode = 1;
else writeFileSync(page, after);
