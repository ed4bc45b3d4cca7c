// Writes what deploy/ has that follows from something else, after a compilation: the version of the chart from package.json, its
// values.schema.json from the declaration of the settings, and deploy/kubernetes from the chart. With --check it only says what is out of date.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { getMetadataStorage } from 'class-validator';
import { format } from 'oxfmt';
import { ProcessEnvironment } from '../dist/src/platform/config/process-environment.js';

const root = path.join(import.meta.dirname, '..');
const CHART = 'deploy/helm/charging-data';

// The chart sets these itself.
const FIXED = ['NODE_ENV', 'ROLE', 'PORT', 'HOST', 'MIGRATE_ON_START', 'DATA_DIR'];
// Files of a Secret, never values.
const SECRET = [
  'DATABASE_URL',
  'ENCRYPTION_KEY',
  'ENCRYPTION_KEYS_PREVIOUS',
  'BOOTSTRAP_OPERATOR_PASSWORD',
  'BOOTSTRAP_OPERATOR_CLIENT_SECRET',
  'REDIS_URL',
  'METRICS_TOKEN',
  'IDENTITY_PROVIDERS',
  'SMTP_URL',
];

/** What a value may be, by the checks of its setting. */
function settingSchemas() {
  const storage = getMetadataStorage();
  const schemas = {};
  const defaults = new ProcessEnvironment();
  for (const { propertyName, name, type, constraints = [] } of storage.getTargetValidationMetadatas(
    ProcessEnvironment,
    '',
    false,
    false,
  )) {
    if (FIXED.includes(propertyName) || SECRET.includes(propertyName)) continue;
    const preset = defaults[propertyName];
    const schema = (schemas[propertyName] ??= preset === undefined ? {} : { default: preset });
    const [first, second] = constraints;
    if (name === 'wholeNumber') {
      Object.assign(schema, { type: 'integer', minimum: first, maximum: second });
    } else if (name === 'isIn') {
      // YAML reads true as a boolean.
      schema.enum = first.includes('true') ? [...first, true, false] : first;
    } else if (name === 'matches') {
      Object.assign(schema, { type: 'string', pattern: first.source });
    } else if (name === 'isLength') {
      Object.assign(schema, { type: 'string', minLength: first, maxLength: second });
    } else if (type === 'customValidation') {
      Object.assign(schema, { type: 'string', minLength: 1 });
    }
  }
  return schemas;
}

const object = (properties, required) => ({
  type: 'object',
  additionalProperties: false,
  ...(required && { required }),
  properties,
});
const text = { type: 'string' };
const filled = { type: 'string', minLength: 1 };
const flag = { type: 'boolean' };
const count = (minimum, maximum) => ({ type: 'integer', minimum, ...(maximum && { maximum }) });
const strings = { type: 'object', additionalProperties: text };
const list = (items = { type: 'object' }) => ({ type: 'array', items });
const resources = { type: 'object' };
const key = { type: 'string', pattern: '^[-._a-zA-Z0-9]+$' };

function valuesSchema() {
  const settings = settingSchemas();
  const secrets = Object.fromEntries(SECRET.map((name) => [name, key]));
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    ...object(
      {
        // Given by Helm to every chart.
        global: { type: 'object' },
        image: {
          ...object({
            repository: filled,
            tag: text,
            digest: { type: 'string', pattern: '^(sha256:[0-9a-f]{64})?$' },
            pullPolicy: { enum: ['Always', 'IfNotPresent', 'Never'] },
            pullSecrets: list(text),
          }),
          anyOf: [{ properties: { tag: filled } }, { properties: { digest: filled } }],
        },
        settings: object(settings, ['BASE_URL']),
        secrets: object(
          { name: filled, version: text, keys: object(secrets, ['DATABASE_URL', 'ENCRYPTION_KEY']) },
          ['keys'],
        ),
        migration: object({
          secret: filled,
          key,
          serviceRole: filled,
          deadlineSeconds: count(60),
          hook: flag,
        }),
        api: object({
          replicas: count(1),
          resources,
          autoscaling: object({
            enabled: flag,
            minReplicas: count(1),
            maxReplicas: count(1),
            cpuPercent: count(1, 100),
            requestsPerSecond: count(0),
            eventLoopMilliseconds: count(0),
          }),
        }),
        worker: object({ replicas: count(1), resources }),
        extraEnv: list(object({ name: filled, value: text, valueFrom: { type: 'object' } }, ['name'])),
        extraVolumes: list(),
        extraVolumeMounts: list(),
        podAnnotations: strings,
        nodeSelector: strings,
        tolerations: list(),
        priorityClassName: text,
        service: object({ port: count(1, 65535), annotations: strings }),
        httpRoute: object({ enabled: flag, parentRefs: list(), annotations: strings }),
        ingress: object({
          enabled: flag,
          className: text,
          controller: { enum: ['', 'haproxy'] },
          tlsSecret: text,
          annotations: strings,
        }),
        networkPolicy: object({
          enabled: flag,
          from: list(),
          metricsFrom: list(),
          dns: { ...list(), minItems: 1 },
          egress: object(
            Object.fromEntries(
              ['database', 'redis', 'mail', 'identityProviders', 'collector', 'webhooks', 'other'].map(
                (name) => [name, list()],
              ),
            ),
          ),
          except: list({ type: 'string', pattern: '/[0-9]+$' }),
        }),
        monitoring: object({
          enabled: flag,
          labels: strings,
          interval: filled,
          runbookBase: text,
          dashboard: flag,
          dashboardLabel: filled,
        }),
        backupCheck: {
          ...object({
            enabled: flag,
            schedule: filled,
            image: filled,
            claim: text,
            maxAgeHours: count(1),
            size: filled,
          }),
          if: { properties: { enabled: { const: true } } },
          then: { properties: { claim: filled } },
        },
      },
      ['image', 'settings', 'secrets'],
    ),
  };
}

/** The plain manifests: the Job of the migrations by itself, because a Job is replaced, not applied again. */
function manifests() {
  const values = ['--namespace', 'charging-data', '--values', 'deploy/kubernetes/values.yaml'];
  const { stdout, status, stderr } = spawnSync(
    process.execPath,
    ['scripts/helm.mjs', 'template', 'charging-data', CHART, '--skip-tests', ...values],
    { cwd: root, encoding: 'utf8' },
  );
  if (status !== 0) throw new Error(stderr);
  const documents = stdout
    .split(/^---\n/m)
    .filter((part) => /^kind:/m.test(part))
    .map((part) => part.replaceAll(/^ *(app\.kubernetes\.io\/managed-by|helm\.sh\/chart): .*\n/gm, ''));
  const note =
    '# Rendered from deploy/helm/charging-data with values.yaml by scripts/write-deploy.mjs: change those.\n';
  const file = (isWanted) =>
    `${note}${documents
      .filter(isWanted)
      .map((part) => `---\n${part}`)
      .join('')}`;
  const isJob = (part) => /^kind: Job$/m.test(part);
  return { 'migrate.yaml': file(isJob), 'charging-data.yaml': file((part) => !isJob(part)) };
}

const outdated = [];
function keep(file, content) {
  let before;
  try {
    before = readFileSync(path.join(root, file), 'utf8');
  } catch {
    // It is written for the first time.
  }
  if (before === content) return;
  outdated.push(file);
  if (!process.argv.includes('--check')) writeFileSync(path.join(root, file), content);
}

const { version } = JSON.parse(readFileSync(path.join(root, 'package.json'), 'utf8'));
const chart = readFileSync(path.join(root, CHART, 'Chart.yaml'), 'utf8');
keep(`${CHART}/Chart.yaml`, chart.replace(/^((?:v|appV)ersion:) .*/gm, `$1 ${version}`));
const schema = `${CHART}/values.schema.json`;
const { code } = await format(schema, JSON.stringify(valuesSchema()), { printWidth: 110 });
keep(schema, code);
for (const [name, content] of Object.entries(manifests())) keep(`deploy/kubernetes/${name}`, content);
if (process.argv.includes('--check') && outdated.length > 0) {
  process.stderr.write(`Run node scripts/write-deploy.mjs: out of date: ${outdated.join(', ')}\n`);
  process.exitCode = 1;
}
