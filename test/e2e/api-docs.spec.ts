import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import { RequestMethod } from '@nestjs/common';
import { DiscoveryService, MetadataScanner, ModulesContainer } from '@nestjs/core';
import { describeApi } from '../../src/describe-api.js';
import { committedDocument } from '../support/openapi-document.js';
import { useSharedService } from '../support/test-service.js';

/** Pages that people open in a browser, and routes for the infrastructure. */
const NOT_DESCRIBED =
  /^\/($|login|logout|portal|account|admin\/console|password\/|email\/|sign-up|invitations\/|demo\/|docs|openapi\.json|openapi\/|asyncapi\.json|brand\.css|logos\/|health\/|metrics|v2\/problems\/)/;

const CONSENT_FORM = 'POST /o/authorize';

/** Returns every route of every controller, written as in the document. */
function routesOf(app: NestFastifyApplication): string[] {
  const discovery = new DiscoveryService(app.get(ModulesContainer));
  const scanner = new MetadataScanner();
  const list = (value: unknown) => (Array.isArray(value) ? (value as string[]) : [value as string]);
  return discovery.getControllers().flatMap(({ metatype }) => {
    if (!metatype) return [];
    const prefixes = list(Reflect.getMetadata('path', metatype) ?? '');
    return scanner.getAllMethodNames(metatype.prototype as object).flatMap((name) => {
      const handler = (metatype.prototype as Record<string, object>)[name]!;
      const method = Reflect.getMetadata('method', handler) as RequestMethod | undefined;
      if (method === undefined) return [];
      return prefixes.flatMap((prefix) =>
        list(Reflect.getMetadata('path', handler)).map((path) => {
          const whole = `/${prefix}/${path}`.replace(/\/+/g, '/').replace(/(.)\/$/, '$1');
          return `${RequestMethod[method]} ${whole.replace(/:([a-z_]+)/g, '{$1}')}`;
        }),
      );
    });
  });
}

describe('The API description', () => {
  const service = useSharedService();

  it('is served as OpenAPI 3.1 with the address of the service', async () => {
    const described = await describeApi(service.url);
    for (const [path, document] of [
      ['/openapi.json', described.partners],
      ['/openapi/operators.json', described.operators],
    ] as const) {
      const answer = await service.http.get(path);
      expect(answer.status).toBe(200);
      expect(answer.headers.get('content-type')).toMatch(/^application\/json/);
      expect(answer.json).toEqual(JSON.parse(JSON.stringify(document)));
    }
  });

  it('describes every route for programs, and no others', () => {
    const routes = routesOf(service.app).filter(
      (route) => !NOT_DESCRIBED.test(route.split(' ')[1]!) && route !== CONSENT_FORM,
    );
    const described = Object.entries(committedDocument.paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path.replace(/(.)\/$/, '$1')}`),
    );
    expect([...new Set(routes)].sort()).toEqual(described.sort());
  });

  it('has a page that leads to the document, and says that the reference needs JavaScript', async () => {
    const page = await service.http.get('/docs', { headers: { accept: 'text/html' } });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<a href="/openapi.json">');
    expect(page.text).toMatch(/<noscript><p class="notice">The reference .* needs JavaScript/);
  });

  it('has a page whose scripts and styles come from this service alone', async () => {
    const policies = await Promise.all(
      [1, 2].map(async () => {
        const { headers, text } = await service.http.get('/docs', { headers: { accept: 'text/html' } });
        const policy = headers.get('content-security-policy')!;
        const [, nonce] = /style-src 'self' 'nonce-([\w-]{22})';/.exec(policy)!;
        expect(text).toContain(`"nonce":"${nonce}"`);
        expect(text).not.toMatch(/<script(?! src="\/assets\/| type="application\/json")|<[^>]+ style=/);
        expect(policy).not.toMatch(/unsafe|\*|data:|https?:/);
        expect(policy).toContain("script-src 'self';");
        return policy;
      }),
    );
    expect(policies[0]).not.toBe(policies[1]);
  });
});
