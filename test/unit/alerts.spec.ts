import { readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { listOf } from '../support/list-of.js';

const ALERTS = readFileSync('deploy/prometheus/alerts.yml', 'utf8')
  .split(/^ {6}- alert: /m)
  .slice(1)
  .map((text) => ({ name: text.slice(0, text.indexOf('\n')), text }));
const DASHBOARD = JSON.parse(readFileSync('deploy/grafana/dashboard.json', 'utf8')) as {
  panels: { id: number; gridPos: { x: number; y: number }; targets: { expr: string }[] }[];
};

/** The names that the sources give to metrics. */
const METRICS = readdirSync('src', { recursive: true, withFileTypes: true })
  .filter((entry) => entry.isFile() && entry.name.endsWith('.ts'))
  .flatMap(({ parentPath, name }) => [
    ...readFileSync(path.join(parentPath, name), 'utf8').matchAll(
      /(?:name(?::| =) |gauge\(\s*)'([a-z]+(?:_[a-z0-9]+)+)'/g,
    ),
  ])
  .map(([, name]) => name!);
/** Those of Prometheus itself, and of prom-client's own collection. */
const OTHERS = /^(up|nodejs_eventloop_lag_p99_seconds|process_resident_memory_bytes)$/;

const metricsIn = (expression: string): string[] =>
  [
    ...expression
      .replace(/"[^"]*"|\b(by|without) \([^)]*\)|\[[^\]]*\]/g, '')
      .matchAll(/\b[a-z]+(?:_[a-z0-9]+)+\b|\bup\b/g),
  ]
    .map(([name]) => name)
    .filter((name) => name !== 'histogram_quantile')
    .map((name) => (METRICS.includes(name) ? name : name.replace(/_(bucket|count|sum)$/, '')));

const EXPRESSIONS = [
  ...ALERTS.map(({ text }) => /expr:([\s\S]*?)\n {8}for:/.exec(text)![1]!),
  ...DASHBOARD.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)),
];

describe('every alert', () => {
  it.each(ALERTS)('$name has a severity, a summary, and a section that says what to do', ({ name, text }) => {
    expect(text).toMatch(/^ {10}severity: (critical|warning)$/m);
    expect(text).toMatch(/^ {10}summary: \S/m);
    expect(text).toContain(`runbook_url: docs/operators.md#${name.toLowerCase()}\n`);
    expect(readFileSync('docs/operators.md', 'utf8')).toContain(`\n### ${name}\n`);
  });

  it('asks for metrics that exist, and so does the dashboard', () => {
    const asked = EXPRESSIONS.flatMap(metricsIn);
    expect(asked.length).toBeGreaterThan(40);
    expect(asked.filter((name) => !METRICS.includes(name) && !OTHERS.test(name))).toEqual([]);
  });
});

it('the alerts and the dashboard ask for metrics of this service only', () => {
  const ours = /\b[a-z]+(_[a-z0-9]+)*\{job="charging-data-service"[^}]*\}/g;
  for (const expression of EXPRESSIONS) {
    expect(expression).toMatch(ours);
    expect([expression, metricsIn(expression.replace(ours, ''))]).toEqual([expression, []]);
  }
});

it('the dashboard shows the time since the last purge of those that purge', () => {
  // The metric of an instance that only answers requests stays 0.
  for (const expression of EXPRESSIONS.filter((each) => each.includes('time() - max by (instance)')))
    expect(expression).toMatch(/purge_last_success_timestamp_seconds\{[^}]*\} > 0\)/);
});

it('the dashboard shows mails, the shared store, trust, schema breaks and the build, each panel in a place of its own', () => {
  const shown = DASHBOARD.panels.flatMap(({ targets }) => targets.map(({ expr }) => expr)).join(' ');
  for (const name of listOf(`
    mail_attempts_total, mails_pending, rate_limit_store_shared, access_changes_trusted,
    event_schema_breaks_total, build_info
  `)) {
    expect(shown).toContain(name);
  }
  const places = DASHBOARD.panels.map(({ gridPos }) => `${gridPos.x} ${gridPos.y}`);
  expect(new Set(places).size).toBe(places.length);
});
