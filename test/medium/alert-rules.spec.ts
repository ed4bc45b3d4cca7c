import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeUnless } from '../support/left-out.js';

const lackingPromtool =
  spawnSync('promtool', ['--version']).status === 0 ? undefined : 'there is no promtool on this machine';
const RULES = path.resolve('deploy/prometheus/alerts.yml');

/** Series over half an hour, a value each minute, and the alerts that then fire. */
const fires = (series: Record<string, string>): string[] => {
  const folder = mkdtempSync(path.join(tmpdir(), 'charging-alerts-'));
  try {
    const all = { ...HEALTHY, ...series };
    const given = Object.entries(all)
      .filter(([, values]) => values !== '')
      .map(([name, values]) => `      - series: '${name}'\n        values: '${values}'`)
      .join('\n');
    const test = `rule_files: ['${RULES}']\ntests:\n  - interval: 1m\n    input_series:\n${given}\n    promql_expr_test:\n      - expr: count by (alertname) (ALERTS{alertstate="firing"})\n        eval_time: 30m\n        exp_samples: [{ labels: '{alertname="nothing"}', value: 1 }]\n`;
    const file = path.join(folder, 'test.yml');
    writeFileSync(file, test);
    const { stdout, stderr } = spawnSync('promtool', ['test', 'rules', file], { encoding: 'utf8' });
    // What it got in place of what cannot be.
    const got = /got:([\s\S]*)$/.exec(stdout + stderr)?.[1] ?? '';
    return [...got.matchAll(/alertname="(\w+)"/g)].map(([, name]) => name!);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
};

const HEALTHY = {
  'up{job="charging-data-service"}': '1x30',
  build_info: '1x30',
  access_changes_trusted: '1x30',
  webhook_oldest_due_delivery_seconds: '0x30',
  // Of the time since 1970, with which the test begins.
  purge_last_success_timestamp_seconds: '1+60x30',
};

describeUnless(lackingPromtool, 'the alerts, judged by promtool,', () => {
  it('are rules that it accepts', () => {
    const { status, stdout } = spawnSync('promtool', ['check', 'rules', RULES], { encoding: 'utf8' });
    expect([status, stdout]).toEqual([0, expect.stringMatching(/SUCCESS: \d+ rules found/)]);
  });

  it('do not fire while all is well, nor for endpoints that are held back', () => {
    expect(fires({})).toEqual([]);
    expect(fires({ webhook_endpoints_held_back: '3x30' })).toEqual([]);
  });

  it('fire when changes to access are not trusted, and when deliveries wait', () => {
    expect(fires({ access_changes_trusted: '0x30' })).toEqual(['AccessChangesNotTrusted']);
    expect(fires({ webhook_oldest_due_delivery_seconds: '600x30' })).toEqual(['DeliveriesWait']);
  });

  it('fire at the first event that breaks its schema, with which the series begins', () => {
    const breaks = 'event_schema_breaks_total{type="vehicle.created",version="1"}';
    expect(fires({ [breaks]: '_x14 1x15' })).toEqual(['SchemasBroken']);
  });

  it('fire when a log is not sent, unless another instance sends it', () => {
    const sentBy = (instance: string) =>
      `log_export_last_success_timestamp_seconds{log="audit",instance="${instance}"}`;
    expect(fires({ [sentBy('one')]: '1x30' })).toEqual(['LogsNotSent']);
    expect(fires({ [sentBy('one')]: '1x30', [sentBy('two')]: '1+60x30' })).toEqual([]);
  });

  it.each(Object.keys(HEALTHY))('fire when %s is missing', (name) => {
    expect(fires({ [name]: '' })).toEqual(['MetricsMissing']);
  });
});
