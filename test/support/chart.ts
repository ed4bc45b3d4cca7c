import { execFile, spawnSync } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parseAllDocuments } from 'yaml';
import { loadSettings } from '#platform/config/settings.js';

export const CHART = 'deploy/helm/charging-data';
/** The least, a production, and everything. */
export const VALUES = ['least', 'production', 'all'].map((name) => `${CHART}/ci/${name}-values.yaml`);

/** Why Helm cannot run on this machine. */
export const lackingHelm =
  process.platform !== 'linux' || process.arch !== 'x64'
    ? 'Helm comes for x64 Linux only'
    : spawnSync('unzip', ['-v']).error && 'there is no unzip on this machine';

export interface Container {
  image: string;
  env: { name: string; value?: string }[];
  resources: { limits: { memory?: string } };
  securityContext: unknown;
  readinessProbe: { periodSeconds: number; timeoutSeconds: number };
  lifecycle: { preStop: { exec: { command: string[] } } };
}
export interface Pod {
  automountServiceAccountToken: boolean;
  containers: Container[];
  securityContext: { runAsUser: number };
  terminationGracePeriodSeconds: number;
  volumes?: { name: string; secret?: { secretName: string; items: { key: string }[] } }[];
}
/** As much of a document of Kubernetes as the tests look at. */
export interface Document {
  apiVersion: string;
  kind: string;
  metadata: { name: string; annotations?: Record<string, string> };
  data: Record<string, string>;
  spec: Record<string, unknown> & {
    template?: { spec: Pod };
    jobTemplate?: { spec: { template: { spec: Pod } } };
    rules: { http: { paths: { path: string }[] } }[];
  };
}

export const documentsIn = (yaml: string): Document[] =>
  parseAllDocuments(yaml).flatMap((document) => (document.toJS() as Document | null) ?? []);

/** What Helm makes of the chart with a file of values and further options; rejects with its message. */
export async function rendered(values: string, ...options: string[]): Promise<Document[]> {
  const given = ['--namespace', 'charging', '--values', values, ...options];
  const args = ['scripts/helm.mjs', 'template', 'charging-data', CHART, ...given];
  return documentsIn((await promisify(execFile)(process.execPath, args)).stdout);
}

export const named = (documents: Document[], kind: string, name = 'charging-data'): Document =>
  documents.find((document) => document.kind === kind && document.metadata.name === name)!;

export const podsOf = (documents: Document[]): Pod[] =>
  documents.flatMap(({ kind, spec }) =>
    kind === 'Pod'
      ? (spec as unknown as Pod)
      : (spec?.template?.spec ?? spec?.jobTemplate?.spec.template.spec ?? []),
  );

/** Every pod is without power and has limits, and only the migrations have the password of the owner. */
export function expectSafePods(documents: Document[]): void {
  const pods = podsOf(documents);
  expect(pods.length).toBeGreaterThan(2);
  for (const pod of pods) {
    expect(pod).toMatchObject({
      automountServiceAccountToken: false,
      securityContext: {
        runAsNonRoot: true,
        runAsUser: expect.any(Number) as number,
        seccompProfile: { type: 'RuntimeDefault' },
      },
    });
    for (const { securityContext, resources } of pod.containers) {
      expect(securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ['ALL'] },
      });
      expect(resources.limits.memory).toBeDefined();
    }
  }
  expect(pods.filter(({ volumes }) => JSON.stringify(volumes ?? []).includes('owner'))).toHaveLength(1);
  for (const role of ['api', 'worker']) {
    const pod = named(documents, 'Deployment', `charging-data-${role}`).spec.template!.spec;
    const { readinessProbe, lifecycle } = pod.containers[0]!;
    expect(readinessProbe).toMatchObject({ periodSeconds: 5, timeoutSeconds: 3 });
    // Contract §14: the port closes 3 s after SIGTERM, and the process ends within 10 s.
    const waits = Number(lifecycle.preStop.exec.command[1]);
    expect(pod.terminationGracePeriodSeconds).toBeGreaterThan(waits + 3 + 10);
  }
}

const SECRETS: Record<string, string> = {
  service_database_url: 'postgres://charging_service:secret@db/charging_data',
  encryption_key: Buffer.alloc(32, 1).toString('base64'),
  encryption_keys_previous: Buffer.alloc(32, 2).toString('base64'),
  metrics_token: 'm'.repeat(32),
  redis_url: 'redis://redis:6379',
  smtp_url: 'smtps://user:secret@mail.example:465',
  bootstrap_operator_password: 'twelve chars or more',
  bootstrap_operator_client_secret: 's'.repeat(40),
  identity_providers: JSON.stringify([
    {
      id: 'customers',
      label: 'Customers',
      issuer: 'https://login.example.com',
      client_id: 'charging-data',
      client_secret: 'secret',
      audience: ['users'],
      accounts: 'create',
    },
  ]),
};

/** The service accepts the environment of its pods, each secret from a file that is mounted there. */
export async function expectAcceptedEnvironment(documents: Document[]): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'charging-chart-'));
  try {
    for (const [name, value] of Object.entries(SECRETS)) await writeFile(path.join(folder, name), value);
    for (const role of ['api', 'worker']) {
      const { containers, volumes } = named(documents, 'Deployment', `charging-data-${role}`).spec.template!
        .spec;
      const mounted = volumes![0]!.secret!.items.map(({ key }) => key);
      const env = containers[0]!.env.map(({ name, value }) => {
        if (!name.endsWith('_FILE')) return [name, value];
        const file = value!.replace('/run/secrets/charging-data/', '');
        expect(mounted).toContain(file);
        return [name, path.join(folder, file)];
      });
      const settings = await loadSettings(Object.fromEntries(env) as NodeJS.ProcessEnv);
      expect(settings).toMatchObject({
        production: true,
        role,
        port: 3000,
        migrateOnStart: false,
        baseUrl: 'https://auth.example.com',
        databaseUrl: SECRETS.service_database_url,
        metricsToken: SECRETS.metrics_token,
        grantTtl: 31_536_000,
      });
    }
  } finally {
    await rm(folder, { recursive: true });
  }
}
