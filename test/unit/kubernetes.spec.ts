import { Ajv } from 'ajv';
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import {
  CHART,
  documentsIn,
  expectAcceptedEnvironment,
  expectSafePods,
  lackingHelm,
  VALUES,
} from '../support/chart.js';
import { describeUnless } from '../support/left-out.js';

const read = (file: string) => readFileSync(file, 'utf8');

type Values = { [name: string]: Values | string | number | boolean | null | unknown[] };
const isMap = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
/** As Helm merges values: null takes a member away. */
const merged = (below: Values, above: Values): Values => {
  const result = { ...below };
  for (const [name, value] of Object.entries(above)) {
    const old = result[name];
    if (value === null) delete result[name];
    else result[name] = isMap(value) && isMap(old) ? merged(old, value) : value;
  }
  return result;
};

describe('the values of the Helm chart', () => {
  const judge = new Ajv({ allErrors: true }).compile(
    JSON.parse(read(`${CHART}/values.schema.json`)) as object,
  );
  const preset = parse(read(`${CHART}/values.yaml`)) as Values;
  const least = merged(preset, parse(read(VALUES[0]!)) as Values);

  it.each([
    ['a setting that does not exist', { settings: { ACCES_TOKEN_TTL_SECONDS: 60 } }, '/settings'],
    ['a secret in plain sight', { settings: { SMTP_URL: 'smtps://mail.example' } }, '/settings'],
    ['a setting that the chart sets', { settings: { ROLE: 'all' } }, '/settings'],
    ['a number outside of its limits', { settings: { RETENTION_DAYS: 0 } }, '/settings/RETENTION_DAYS'],
    ['a word that is none of its words', { settings: { LOG_LEVEL: 'loud' } }, '/settings/LOG_LEVEL'],
    ['no public address', { settings: { BASE_URL: null } }, '/settings'],
    ['an image without a version', { image: { tag: '' } }, '/image'],
    ['a digest that is none', { image: { digest: 'latest' } }, '/image/digest'],
    ['no key for the encryption', { secrets: { keys: { ENCRYPTION_KEY: null } } }, '/secrets/keys'],
    ['a secret that is none', { secrets: { keys: { LOG_LEVEL: 'log_level' } } }, '/secrets/keys'],
    ['a value that does not exist', { api: { replica: 3 } }, '/api'],
    ['a check of no backup', { backupCheck: { enabled: true } }, '/backupCheck/claim'],
  ] as [string, Values, string][])('refuse %s', (_what, values, where) => {
    expect(judge(merged(least, values))).toBe(false);
    expect(judge.errors!.map(({ instancePath }) => instancePath)).toContain(where);
  });

  it.each([...VALUES, 'deploy/kubernetes/values.yaml'])('may be those of %s', (file) => {
    judge(merged(preset, parse(read(file)) as Values));
    expect(judge.errors).toBeNull();
  });

  it('wait for the database as long as the service can, and for the migrations less long than Helm in the guide', () => {
    const { maximum } = (
      JSON.parse(read(`${CHART}/values.schema.json`)) as {
        properties: { settings: { properties: Record<string, { maximum: number }> } };
      }
    ).properties.settings.properties.DATABASE_WAIT_SECONDS!;
    expect((preset.settings as Values).DATABASE_WAIT_SECONDS).toBe(maximum);
    const { deadlineSeconds } = preset.migration as Values;
    const commands = read('docs/deployment.md').match(/^helm (install|upgrade) .*$/gm)!;
    expect(commands).toHaveLength(3);
    for (const command of commands) {
      const [, minutes] = /--wait --timeout (\d+)m\b/.exec(command) ?? [];
      expect(Number(minutes) * 60).toBeGreaterThan(deadlineSeconds as number);
    }
  });

  it('name the PostgreSQL of docker-compose.yml', () => {
    const { image } = preset.backupCheck as Values;
    expect(read('docker-compose.yml')).toContain(`image: ${image as string}\n`);
  });
});

describeUnless(lackingHelm, 'values.schema.json and the plain manifests', () => {
  it('follow from the settings and from the chart (node scripts/write-deploy.mjs)', async () => {
    await promisify(execFile)(process.execPath, ['scripts/write-deploy.mjs', '--check']);
  });
});

describe('the plain manifests', () => {
  const documents = ['charging-data', 'migrate'].flatMap((name) =>
    documentsIn(read(`deploy/kubernetes/${name}.yaml`)),
  );

  it('have pods without power, and limits', () => expectSafePods(documents));

  it('give an environment that the service accepts', () => expectAcceptedEnvironment(documents));

  it('have no hooks, and the Job that is replaced by itself', () => {
    expect(read('deploy/kubernetes/charging-data.yaml')).not.toMatch(/^kind: Job$|helm\.sh/m);
    expect(documentsIn(read('deploy/kubernetes/migrate.yaml')).map(({ kind }) => kind)).toEqual(['Job']);
  });
});
