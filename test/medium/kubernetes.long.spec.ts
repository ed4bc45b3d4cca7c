import { execFile, spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { promisify } from 'node:util';
import { parse } from 'yaml';
import {
  CHART,
  type Container,
  type Document,
  expectAcceptedEnvironment,
  expectSafePods,
  lackingHelm,
  named,
  type Pod,
  podsOf,
  rendered,
  VALUES,
} from '../support/chart.js';
import { freePort } from '../support/free-port.js';
import { describeUnless } from '../support/left-out.js';
import { useService } from '../support/test-service.js';
import { listOf } from '../support/list-of.js';

const GUIDE = readFileSync('docs/deployment.md', 'utf8');
const PLAIN = 'deploy/kubernetes/values.yaml';
const [LEAST, PRODUCTION, ALL] = VALUES as [string, string, string];

const PACKAGES: [group: string, name: string][] = [
  ['monitoring.', '@kubernetes-models/prometheus-operator'],
  ['gateway.', '@kubernetes-models/gateway-api'],
];
const PROXIES = 'settings.TRUSTED_PROXIES=10.0.0.0/8';
const PEER = JSON.stringify({ podSelector: { matchLabels: { app: 'peer' } } });
const RULE = JSON.stringify({
  ports: [{ port: 1234, protocol: 'TCP' }],
  to: [{ ipBlock: { cidr: '10.1.2.3/32' } }],
});

/** Where kubernetes-models has what judges a document. */
const moduleOf = ({ apiVersion, kind }: Document) => {
  const [, name] = PACKAGES.find(([group]) => apiVersion.startsWith(group)) ?? [];
  return `${name ?? 'kubernetes-models'}/${apiVersion}/${kind}`;
};

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
    ['a route whose addresses are not believed', 'httpRoute.enabled=true', 'TRUSTED_PROXIES'],
    [
      'metrics for everybody',
      `ingress.enabled=true,${PROXIES},secrets.keys.METRICS_TOKEN=null`,
      'METRICS_TOKEN',
    ],
    ['a route without a Gateway', `httpRoute.enabled=true,${PROXIES}`, 'httpRoute.parentRefs'],
  ])('refuses %s', async (_what, value, word) => {
    await expect(rendered(LEAST, '--set', value)).rejects.toMatchObject({
      code: 1,
      stderr: expect.stringContaining(word),
    });
  });

  it.each([
    ['Redis', 'secrets.keys.REDIS_URL=redis_url', 'redis'],
    ['the mail server', 'secrets.keys.SMTP_URL=smtp_url', 'mail'],
    ['identity providers', 'secrets.keys.IDENTITY_PROVIDERS=identity_providers', 'identityProviders'],
    ['a collector', 'settings.OTEL_EXPORTER_OTLP_ENDPOINT=http://collector.monitoring:4318', 'collector'],
    [
      'a collector of logs',
      'settings.OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=http://logs:4318/v1/logs',
      'collector',
    ],
    ['private endpoints', 'settings.WEBHOOK_ALLOW_PRIVATE_ADDRESSES=true', 'webhooks'],
    ['Prometheus', 'monitoring.enabled=true', 'metricsFrom'],
    ['a Gateway', `httpRoute.enabled=true,${PROXIES}`, 'from'],
    ['an Ingress controller', `ingress.enabled=true,${PROXIES}`, 'from'],
  ])('has a network that %s is not shut out of by mistake', async (_who, switchedOn, name) => {
    const inside = [
      '--set',
      'networkPolicy.enabled=true',
      '--set-json',
      `networkPolicy.egress.database=[${RULE}]`,
    ];
    await rendered(LEAST, ...inside);
    await expect(rendered(LEAST, ...inside, '--set', switchedOn)).rejects.toMatchObject({
      stderr: expect.stringMatching(new RegExp(`networkPolicy\\.(egress\\.)?${name} must`)),
    });
    const isPeer = name === 'from' || name === 'metricsFrom';
    const key = isPeer ? `networkPolicy.${name}` : `networkPolicy.egress.${name}`;
    const value = isPeer ? PEER : RULE;
    const more = ['--set', switchedOn, '--set-json', 'httpRoute.parentRefs=[{"name":"public"}]'];
    const documents = await rendered(LEAST, ...inside, ...more, '--set-json', `${key}=[${value}]`);
    const { ingress, egress } = named(documents, 'NetworkPolicy').spec as unknown as {
      ingress: { from: object[] }[];
      egress: object[];
    };
    if (isPeer) expect(ingress[0]!.from).toContainEqual(JSON.parse(PEER));
    else expect(egress.filter((rule) => JSON.stringify(rule) === RULE)).toHaveLength(2);
    // Public addresses may be reached in any case.
    if (!isPeer) await rendered(LEAST, ...inside, ...more, '--set-json', `${key}=[]`);
  });

  it('lets pods ask the DNS of the cluster, with its cache on each node, or where the values say', () => {
    const rulesOf = (values: string) =>
      (
        named(sets[values]!, 'NetworkPolicy').spec as unknown as {
          egress: { to: object[]; ports: object[] }[];
        }
      ).egress;
    const preset = rulesOf(PRODUCTION)[0]!;
    expect(preset.to).toEqual([
      { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': 'kube-system' } } },
      { ipBlock: { cidr: '169.254.20.10/32' } },
    ]);
    expect(preset.ports.map(({ port }: { port?: number }) => port)).toEqual([53, 53]);
    expect(rulesOf(ALL)[0]!.ports.map(({ port }: { port?: number }) => port)).toEqual([5353, 5353]);
    expect(JSON.stringify(rulesOf(ALL))).not.toContain('kube-system');
    for (const name of ['charging-data-migrate', 'charging-data-test']) {
      const { egress } = named(sets[ALL]!, 'NetworkPolicy', name).spec as unknown as { egress: object[] };
      expect(egress[0]).toEqual(rulesOf(ALL)[0]);
    }
  });

  describe('has a test of a release, which', () => {
    const service = useService();
    const run = async (env: Record<string, string>) => {
      const { spec } = named(sets[LEAST]!, 'Pod', 'charging-data-test') as unknown as { spec: Pod };
      const [{ command, env: given }] = spec.containers as [Container & { command: string[] }];
      expect(Object.fromEntries(given.map(({ name, value }) => [name, value]))).toEqual({
        SERVICE_URL: 'http://charging-data.charging.svc:80',
        BASE_URL: 'https://auth.example.com',
      });
      expect(command[0]).toBe('node');
      const { status, stdout, stderr } = await new Promise<Record<string, unknown>>((resolve) => {
        execFile(process.execPath, command.slice(1), { env }, (error, out, err) =>
          resolve({ status: error ? error.code : 0, stdout: out, stderr: err }),
        );
      });
      return [status, stdout, stderr];
    };

    it('passes where the service is ready, with the address of the values', async () => {
      const { url } = service;
      expect(await run({ SERVICE_URL: url, BASE_URL: url })).toEqual([
        0,
        `${url} is ready, as ${url}.\n`,
        '',
      ]);
    });

    it('fails where it has another address, or nobody answers, and says so', async () => {
      const { url } = service;
      const [status, , why] = await run({ SERVICE_URL: url, BASE_URL: 'https://auth.example.com' });
      expect([status, why]).toEqual([1, expect.stringContaining(`The issuer is ${url}`)]);
      const nobody = `http://127.0.0.1:${await freePort()}`;
      const refused = await run({ SERVICE_URL: nobody, BASE_URL: url });
      expect(refused).toEqual([1, '', expect.stringContaining('ECONNREFUSED')]);
      const notFound = await run({ SERVICE_URL: `${url}/nowhere`, BASE_URL: url });
      expect(notFound).toEqual([1, '', expect.stringContaining('/health/ready: 404')]);
    });
  });

  it('says after an installation what is left to do, and how to test it', async () => {
    const notes = async (values: string) => {
      const args = ['install', 'charging-data', CHART, '--dry-run=client', '--namespace', 'charging'];
      const { stdout } = await promisify(execFile)(process.execPath, [
        'scripts/helm.mjs',
        ...args,
        '--values',
        values,
      ]);
      return stdout.slice(stdout.indexOf('\nNOTES:\n'));
    };
    const least = await notes(LEAST);
    expect(least).toContain('is installed for https://auth.example.com.');
    expect(least).toContain('helm test charging-data --namespace charging\n');
    expect(least).toContain('port-forward service/charging-data 3000:80\n');
    for (const missing of ['networkPolicy.enabled', 'REDIS_URL', 'SMTP_URL', 'monitoring.enabled'])
      expect(least).toContain(missing);
    expect(await notes(ALL)).not.toMatch(/is not set|is false|no way in/);
  });

  it('is made of documents that the API of Kubernetes knows to the last member', async () => {
    const documents = Object.values(sets).flat();
    expect(Object.values(sets).map((set) => set.length)).toEqual([8, 20, 21, 11]);
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

  it('allows an instance the silences of the guide, and a stream to go on', () => {
    const rows = [...GUIDE.matchAll(/^\| ([^|]+) \| (\d+) s[^|]*\| ([^|]+) \|$/gm)];
    expect(rows).toHaveLength(7);
    const longest = Math.max(...rows.map(([, , seconds]) => Number(seconds)));
    for (const values of [PRODUCTION, ALL]) {
      const { hostnames, rules } = named(sets[values]!, 'HTTPRoute').spec as unknown as {
        hostnames: string[];
        rules: {
          matches: { path: { value: string } }[];
          timeouts: { request: string };
          backendRefs: object[];
        }[];
      };
      expect(hostnames).toEqual(['auth.example.com']);
      const times = rules.map(({ matches, timeouts }) => [matches[0]!.path.value, timeouts.request]);
      expect(times[0]).toEqual(['/v2/access_changes', '0s']);
      expect(times[1]![0]).toBe('/');
      expect(parseInt(times[1]![1]!, 10)).toBeGreaterThan(longest);
      const port = values === ALL ? 8080 : 80;
      for (const { backendRefs } of rules) expect(backendRefs).toEqual([{ name: 'charging-data', port }]);
    }
    expect(named(sets[ALL]!, 'Ingress').metadata.annotations).toEqual({
      'haproxy.org/timeout-server': `${longest}s`,
      'haproxy.org/timeout-check': '5s',
      'cert-manager.io/cluster-issuer': 'company',
    });
  });

  it('lets webhooks out, but not to private networks, the cluster or the metadata of a cloud', () => {
    const { egress } = named(sets[ALL]!, 'NetworkPolicy').spec as {
      egress?: { to: { ipBlock: { cidr: string; except: string[] } }[] }[];
    };
    const [four, six] = egress!.at(-1)!.to.map(({ ipBlock }) => ipBlock);
    expect(four!.except).toEqual(
      expect.arrayContaining(
        listOf(`
        10.0.0.0/8, 169.254.0.0/16, 172.16.0.0/12, 192.168.0.0/16, 203.0.113.0/24
      `),
      ),
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
    const first = hooks.filter(({ metadata }) => metadata.annotations!['helm.sh/hook'] !== 'test');
    expect(first.map(({ kind }) => kind).sort()).toEqual(['Job', 'NetworkPolicy']);
  });

  it('is installed with the values and the Secrets that the guide shows', async () => {
    const part = GUIDE.slice(GUIDE.indexOf('\n## On Kubernetes\n'), GUIDE.indexOf('\n## On Debian\n'));
    const values = path.join(folder, 'values.yaml');
    await writeFile(values, /```yaml\n([\s\S]*?)```/.exec(part)![1]!);
    const mounted = podsOf(await rendered(values)).flatMap(
      ({ volumes }) =>
        volumes?.flatMap(
          ({ secret }) => secret?.items.map(({ key }) => `${secret.secretName}/${key}`) ?? [],
        ) ?? [],
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
