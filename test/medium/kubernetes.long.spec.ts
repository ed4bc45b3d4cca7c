import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { parse } from 'yaml';
import {
  type Document,
  expectAcceptedEnvironment,
  expectSafePods,
  lackingHelm,
  named,
  podsOf,
  rendered,
  VALUES,
} from '../support/chart.js';
import { describeUnless } from '../support/left-out.js';

const GUIDE = readFileSync('docs/deployment.md', 'utf8');
const PLAIN = 'deploy/kubernetes/values.yaml';
const [LEAST, PRODUCTION, ALL] = VALUES as [string, string, string];

/** Where kubernetes-models has what judges a document. */
const moduleOf = ({ apiVersion, kind }: Document) =>
  `${apiVersion.startsWith('monitoring.') ? '@kubernetes-models/prometheus-operator' : 'kubernetes-models'}/${apiVersion}/${kind}`;

describeUnless(lackingHelm, 'the Helm chart, rendered by Helm', () => {
  let folder: string;
  let sets: Record<string, Document[]>;
  beforeAll(async () => {
    folder = await mkdtemp(path.join(tmpdir(), 'charging-chart-'));
    const all = [...VALUES, PLAIN].map(async (values) => [values, await rendered(values)] as const);
    sets = Object.fromEntries(await Promise.all(all));
  });
  afterAll(() => rm(folder, { recursive: true }));

  it.each([
    ['a setting that does not exist', 'settings.ACCES_TOKEN_TTL_SECONDS=60', 'ACCES_TOKEN_TTL_SECONDS'],
    ['a network without a way to the database', 'networkPolicy.enabled=true', 'PostgreSQL'],
    ['an Ingress whose addresses are not believed', 'ingress.enabled=true', 'TRUSTED_PROXIES'],
  ])('refuses %s', async (_what, value, word) => {
    await expect(rendered(LEAST, '--set', value)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(word),
    });
  });

  it('is made of documents that the API of Kubernetes knows to the last member', async () => {
    const documents = Object.values(sets).flat();
    expect(Object.values(sets).map((set) => set.length)).toEqual([7, 20, 18, 9]);
    // Values and formats are judged by the checks made from Kubernetes' schemas, unknown members by the types made from them.
    for (const document of documents) {
      const models = (await import(moduleOf(document))) as Record<
        string,
        new (data: Document) => { validate(): void }
      >;
      new models[document.kind]!(document).validate();
    }
    const judged = (document: object, model: Document, n: number | string) =>
      `import type { I${model.kind} as T${n} } from '${moduleOf(model)}';\nexport const d${n}: T${n} = ${JSON.stringify(document)};\n`;
    const service = documents.find(({ kind }) => kind === 'Service')!;
    const wrong = judged({ ...service, spec: { prots: [] } }, service, 'Wrong').replace(
      'export',
      '// @ts-expect-error: a member that does not exist is refused\nexport',
    );
    // Modules are found from here.
    const cache = path.resolve('node_modules/.cache', path.basename(folder));
    await mkdir(cache, { recursive: true });
    try {
      const file = path.join(cache, 'documents.ts');
      await writeFile(
        file,
        `${documents.map((document, n) => judged(document, document, n)).join('')}${wrong}`,
      );
      const how = ['--noEmit', '--strict', '--skipLibCheck', '--target', 'es2022', '--module', 'nodenext'];
      const tsc = ['node_modules/typescript-native/bin/tsc', '--ignoreConfig', ...how, '--types', '', file];
      const { status, stdout } = spawnSync(process.execPath, tsc, { encoding: 'utf8' });
      expect([status, stdout]).toEqual([0, '']);
    } finally {
      await rm(cache, { recursive: true });
    }
  });

  it.each(VALUES)(
    'gives %s pods without power, and an environment that the service accepts',
    async (values) => {
      expectSafePods(sets[values]!);
      await expectAcceptedEnvironment(sets[values]!);
    },
  );

  it('allows an instance the silences of the guide, and repeats nothing that must not be sent twice', () => {
    const [all, once] = ['charging-data', 'charging-data-once'].map((name) => {
      const { metadata, spec } = named(sets[PRODUCTION]!, 'Ingress', name);
      const annotations = Object.entries(metadata.annotations!).map(([key, value]) => [
        key.split('/')[1],
        value,
      ]);
      return {
        annotations: Object.fromEntries(annotations) as Record<string, string>,
        paths: spec.rules[0]!.http.paths.map(({ path: prefix }) => prefix),
      };
    });
    const rows = [...GUIDE.matchAll(/^\| ([^|]+) \| (\d+) s[^|]*\| ([^|]+) \|$/gm)];
    expect(rows).toHaveLength(7);
    for (const [, request, seconds, repeated] of rows) {
      for (const { annotations } of [all!, once!])
        expect(Number(annotations['proxy-read-timeout'])).toBeGreaterThanOrEqual(Number(seconds));
      // A controller repeats only what reads.
      const [, prefix] = /`GET ([^?{`]+?)\/?[?{`]/.exec(request!) ?? [];
      if (prefix && repeated !== 'yes') expect(once!.paths).toContain(prefix);
    }
    expect(once!.annotations).toMatchObject({ 'proxy-next-upstream': 'off', 'proxy-buffering': 'off' });
    expect(named(sets[PRODUCTION]!, 'Ingress', 'charging-data-metrics').metadata.annotations).toEqual({
      'nginx.ingress.kubernetes.io/whitelist-source-range': '127.0.0.1/32',
    });
    expect(named(sets[ALL]!, 'Ingress').metadata.annotations).toMatchObject({
      'haproxy.org/timeout-server': '45s',
      'cert-manager.io/cluster-issuer': 'company',
    });
  });

  it('lets webhooks out, but not to private networks, the cluster or the metadata of a cloud', () => {
    const { egress } = named(sets[ALL]!, 'NetworkPolicy').spec as {
      egress?: { to: { ipBlock: { cidr: string; except: string[] } }[] }[];
    };
    const [four, six] = egress!.at(-1)!.to.map(({ ipBlock }) => ipBlock);
    expect(four!.except).toEqual(
      expect.arrayContaining([
        '10.0.0.0/8',
        '169.254.0.0/16',
        '172.16.0.0/12',
        '192.168.0.0/16',
        '203.0.113.0/24',
      ]),
    );
    expect(six!.cidr).toBe('2000::/3');
    expect(six!.except).toContain('2001:db8::/32');
  });

  it('has the alerts and the dashboard of this repository', () => {
    const documents = sets[PRODUCTION]!;
    const alerts = readFileSync('deploy/prometheus/alerts.yml', 'utf8');
    const base = 'https://wiki.example.com/charging-data/docs/operators.md#';
    expect(named(documents, 'PrometheusRule').spec).toEqual(
      parse(alerts.replaceAll('runbook_url: docs/operators.md#', `runbook_url: ${base}`)),
    );
    const shown = named(documents, 'ConfigMap', 'charging-data-dashboard').data['charging-data.json']!;
    expect(JSON.parse(shown)).toEqual(JSON.parse(readFileSync('deploy/grafana/dashboard.json', 'utf8')));
  });

  it('passes settings on as they are', () => {
    const { env } = named(sets[ALL]!, 'Deployment', 'charging-data-api').spec.template!.spec.containers[0]!;
    const { settings } = parse(readFileSync(ALL, 'utf8')) as { settings: Record<string, unknown> };
    const given = env.filter(({ name }) => name in settings).map(({ name, value }) => [name, value]);
    expect(given).toEqual(
      Object.keys(settings)
        .sort()
        .map((name) => [name, String(settings[name])]),
    );
  });

  it('lets the migrations wait as long as the settings say', () => {
    const { env } = named(sets[ALL]!, 'Job', 'charging-data-migrate').spec.template!.spec.containers[0]!;
    expect(env).toContainEqual({ name: 'MIGRATION_WAIT_SECONDS', value: '1200' });
  });

  it('runs the migrations first, in a network of their own', () => {
    const hooks = sets[PRODUCTION]!.filter(({ metadata }) => metadata.annotations?.['helm.sh/hook']);
    expect(hooks.map(({ kind }) => kind).sort()).toEqual(['Job', 'NetworkPolicy']);
  });

  it('is installed with the values and the Secrets that the guide shows', async () => {
    const part = GUIDE.slice(GUIDE.indexOf('\n## On Kubernetes\n'), GUIDE.indexOf('\n## On Debian\n'));
    const values = path.join(folder, 'values.yaml');
    await writeFile(values, /```yaml\n([\s\S]*?)```/.exec(part)![1]!);
    const mounted = podsOf(await rendered(values)).flatMap(({ volumes }) =>
      volumes.flatMap(({ secret }) => secret?.items.map(({ key }) => `${secret.secretName}/${key}`) ?? []),
    );
    const created = [...part.matchAll(/secret generic (\S+)((?:[ \\\n]+--from-file=\S+)+)/g)];
    const keys = created.flatMap(([, name, files]) =>
      [...files!.matchAll(/secrets\/(\w+)/g)].map(([, key]) => `${name}/${key}`),
    );
    expect([...new Set(mounted)].sort()).toEqual(keys.sort());
    // The change of the key, too, which replaces the pods twice.
    const changes = part.match(/--set secrets\.keys\.\S+ --set-string \S+/g)!;
    expect(new Set(changes).size).toBe(2);
    for (const change of changes) {
      const changed = named(await rendered(values, ...change.split(' ')), 'Deployment', 'charging-data-api');
      expect(changed.spec.template!.spec.containers[0]!.env.map(({ name }) => name)).toContain(
        'ENCRYPTION_KEYS_PREVIOUS_FILE',
      );
    }
  });
});
