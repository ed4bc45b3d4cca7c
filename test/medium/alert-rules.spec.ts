import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describeUnless } from '../support/left-out.js';

const lackingPromtool =
  spawnSync('promtool', ['--version']).status === 0 ? undefined : 'there is no promtool on this machine';
const RULES = path.resolve('deploy/prometheus/alerts.yml');
const JOB = 'job="charging-data-service"';

/** Of this service, unless the series says of which. */
const ofJob = (series: string): string =>
  /[{,]job=/.test(series) ? series : `${series.replace(/\}$/, ',').replace(/^\w+$/, '$&{')}${JOB}}`;

/** Series over half an hour, a value each minute, and the alerts that then fire. */
const fires = (series: Record<string, string>): string[] => {
  const folder = mkdtempSync(path.join(tmpdir(), 'charging-alerts-'));
  try {
    const all = { ...HEALTHY, ...series };
    const given = Object.entries(all)
      .filter(([, values]) => values !== '')
      .map(([name, values]) => `      - series: '${ofJob(name)}'\n        values: '${values}'`)
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
  up: '1x30',
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

  it('neither fire for another service, nor take its metrics for those of this one', () => {
    const another = 'job="another"';
    const failing = {
      [`http_request_duration_seconds_count{${another},status="500"}`]: '0+60x30',
      [`nodejs_eventloop_lag_p99_seconds{${another}}`]: '5x30',
      [`database_connections{${another},state="waiting"}`]: '9x30',
    };
    expect(fires(failing)).toEqual([]);
    expect(fires({ build_info: '', [`build_info{${another}}`]: '1x30' })).toEqual(['MetricsMissing']);
  });

  it('fire when changes to access are not trusted, and when deliveries wait', () => {
    expect(fires({ access_changes_trusted: '0x30' })).toEqual(['AccessChangesNotTrusted']);
    expect(fires({ webhook_oldest_due_delivery_seconds: '600x30' })).toEqual(['DeliveriesWait']);
  });

  it('fire 30 days before the client secret of an identity provider ends, but not for one that does not', () => {
    // The test begins in 1970.
    const end = (days: number) => ({
      'identity_provider_secret_end_timestamp_seconds{provider="apple"}': `${days * 86_400}x30`,
    });
    expect(fires(end(29))).toEqual(['ProviderSecretEnds']);
    expect(fires(end(31))).toEqual([]);
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
