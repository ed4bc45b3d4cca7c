import type { OpenApiDocument, Operation } from '#entrypoints/api-docs/openapi.js';
import { madeOnce, useSharedService } from '../support/spec.js';
import { listOf } from '../support/list-of.js';

const OPERATOR_SCOPES = ['admin:read', 'admin:write', 'event:publish', 'token:introspect'];

/* That it is the generated one, and served so, is in api-docs.spec.ts. */
describe('The API description', () => {
  const service = useSharedService();
  const partners = madeOnce(() => documentAt('/openapi.json'));
  const operators = madeOnce(() => documentAt('/openapi/operators.json'));

  const documentAt = async (path: string): Promise<OpenApiDocument> =>
    (await service.http.get(path)).json as unknown as OpenApiDocument;
  const operationsOf = ({ paths }: OpenApiDocument): { path: string; operation: Operation }[] =>
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.values(methods).map((operation) => ({ path, operation })),
    );
  const scopesOf = ({ security = [] }: Operation): string[] =>
    security.flatMap((way) => Object.values(way).flat());
  const page = async (path: string): Promise<string> =>
    (await service.http.get(path, { headers: { accept: 'text/html' } })).text;

  it('for partners has nothing that they cannot use', () => {
    const internal = operationsOf(partners).filter(
      ({ path, operation }) =>
        path.startsWith('/admin') || scopesOf(operation).some((scope) => OPERATOR_SCOPES.includes(scope)),
    );
    expect(internal).toEqual([]);
    const text = JSON.stringify(partners);
    for (const scope of OPERATOR_SCOPES)
      expect(JSON.stringify(partners.components.securitySchemes)).not.toContain(scope);
    expect(text).not.toContain('/admin/');
    // Whoever asks with credentials in place of a token needs the scope, too.
    expect(Object.keys(partners.paths).filter((path) => path.includes('introspect'))).toEqual([]);
    expect(text).not.toMatch(/rights reserved/i);
    expect(Object.keys(partners.paths['/v2/events']!)).toEqual(['get']);
  });

  it('for operators has all that needs one of their scopes, and nothing else', () => {
    for (const { operation } of operationsOf(operators)) {
      expect(scopesOf(operation)).toHaveLength(1);
      expect(OPERATOR_SCOPES).toContain(scopesOf(operation)[0]);
    }
    const ids = operationsOf(operators).map(({ operation }) => operation.operationId);
    expect(ids).toEqual(
      expect.arrayContaining(['createClient', 'publishEvent', 'followAccessChanges', 'introspect']),
    );
    expect(operators.webhooks).toEqual({});
  });

  it('begins with the token, and goes on with users, events and the sandbox', async () => {
    expect(Object.keys(partners.paths)[0]).toBe('/o/token');
    expect(partners.tags.map(({ name }) => name)).toEqual(
      listOf(`
      OAuth, Users, Events, Webhooks, Sandbox, Notifications
    `),
    );
    const tags = operationsOf(partners).map(({ operation }) => operation.tags[0]!);
    const at = ['OAuth', 'Users', 'Events', 'Sandbox'].map((tag) => tags.indexOf(tag));
    expect(at[0]).toBe(0);
    expect(at).toEqual(at.toSorted((a, b) => a - b));
  });

  it('says of each number in a query what it is', () => {
    for (const document of [partners, operators]) {
      const numbers = operationsOf(document).flatMap(({ operation }) =>
        (operation.parameters ?? []).filter(
          ({ in: place, schema }) => place === 'query' && schema.type === 'integer',
        ),
      );
      expect(numbers.length).toBeGreaterThan(0);
      for (const { name, schema, description } of numbers)
        expect([name, description ?? schema.description]).toEqual([name, expect.any(String)]);
    }
  });

  it('has no part that nothing in it refers to, and every part that something refers to', () => {
    for (const document of [partners, operators]) {
      const text = JSON.stringify(document);
      for (const kind of ['schemas', 'responses'] as const) {
        for (const name of Object.keys(document.components[kind]))
          expect(text).toContain(`"#/components/${kind}/${name}"`);
      }
      for (const [, kind, name] of text.matchAll(/"#\/components\/(\w+)\/([^"/]+)"/g))
        expect(document.components).toHaveProperty([kind!, name!]);
    }
  });

  it('is a page for each, which names its own document', async () => {
    const [forPartners, forOperators] = [await page('/docs'), await page('/docs/operators')];
    expect(forOperators).toContain('<a href="/openapi/operators.json">');
    expect(forOperators).toContain('"url":"/openapi/operators.json"');
    expect(forPartners).not.toContain('/admin/');
    expect(forPartners).toContain('"url":"/openapi.json"');
  });
});
