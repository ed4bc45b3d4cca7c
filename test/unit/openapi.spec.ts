import { readFile } from 'node:fs/promises';
import type { ApiDocuments } from '#entrypoints/api-docs/audiences.js';
import { answerOf, type OpenApiDocument } from '#entrypoints/api-docs/openapi.js';
import { describeApi } from '../../src/describe-api.js';
import { examplesOf } from '../support/openapi-document.js';
import { openApiErrors, schemaErrors } from '../support/openapi-judge.js';

let documents: ApiDocuments;
beforeAll(async () => void (documents = await describeApi('https://auth.example.com')));

const judged = (change: { status?: number; headers?: Record<string, string>; json?: unknown }): string[] =>
  openApiErrors({
    method: 'POST',
    path: '/v2/events',
    status: change.status ?? 202,
    headers: new Headers(change.headers ?? { 'content-type': 'application/json', 'x-request-id': 'r1' }),
    text: JSON.stringify(change.json ?? { id: 'evnt01HN2NJ9NMRZBXT1H6FT9N7735', deliveries: 1 }),
  });

describe.each([
  ['partners', 'openapi.json'],
  ['operators', 'openapi-operators.json'],
] as const)('the OpenAPI document for %s', (audience, file) => {
  let document: OpenApiDocument;
  beforeAll(() => void (document = documents[audience]));

  it('is committed in its current form: after a change, npm run openapi writes it', async () => {
    expect(JSON.parse(await readFile(file, 'utf8'))).toEqual(JSON.parse(JSON.stringify(document)));
  });

  it('names each operation once, and every path parameter', () => {
    const seen = new Set<string>();
    for (const [path, methods] of Object.entries(document.paths)) {
      const inPath = [...path.matchAll(/\{([^}]+)\}/g)].map(([, name]) => name);
      for (const { operationId, parameters = [] } of Object.values(methods)) {
        expect(seen).not.toContain(operationId);
        seen.add(operationId);
        const described = parameters.filter((one) => one.in === 'path').map(({ name }) => name);
        expect([operationId, described]).toEqual([operationId, inPath]);
      }
    }
  });

  it('has no dangling references', () => {
    const references = JSON.stringify(document).match(/"#\/components\/[^"]+"/g)!;
    expect(references.length).toBeGreaterThan(100);
    for (const reference of new Set(references)) {
      const [, , kind, name] = reference.slice(1, -1).split('/');
      expect(document.components).toHaveProperty([kind!, name!]);
    }
  });

  it('has an example of each body that its schema allows', () => {
    const operations = Object.values({ ...document.paths, ...document.webhooks }).flatMap((methods) =>
      Object.values(methods),
    );
    for (const { operationId, requestBody, responses } of operations) {
      const answers = Object.values(responses).map((answer) => answerOf(document, answer));
      for (const content of [requestBody?.content, ...answers.map((answer) => answer.content)])
        for (const [type, media] of Object.entries(content ?? {})) {
          if (type === 'text/html' || operationId === 'authorize') continue;
          const errors = examplesOf(media).map(([, value]) => schemaErrors(media.schema, value));
          expect([operationId, type, errors.length > 0, errors.flat()]).toEqual([
            operationId,
            type,
            true,
            [],
          ]);
        }
    }
  });
});

describe('the OpenAPI document', () => {
  it('describes each event with its headers and an example', () => {
    const { webhooks } = documents.partners;
    expect(Object.keys(webhooks)).toContain('charging_session.created');
    for (const [type, { post }] of Object.entries(webhooks)) {
      expect(post!.requestBody!.content['application/json']!.example).toMatchObject({ type });
      expect(post!.parameters!.map(({ name }) => name)).toContain('webhook-signature');
    }
  });
});

describe('the check of every response in the tests', () => {
  it('rejects a status, a media type, a header or a member that is not described', () => {
    expect(judged({})).toEqual([]);
    expect(judged({ status: 201 })).toEqual(['the status 201 is not described']);
    expect(judged({ headers: { 'content-type': 'application/json' } })).toEqual([
      'the header X-Request-Id is missing',
    ]);
    expect(judged({ headers: { 'content-type': 'text/plain', 'x-request-id': 'r1' } })).toEqual([
      'the media type text/plain is not described',
    ]);
    expect(judged({ json: { id: 'evnt01HN2NJ9NMRZBXT1H6FT9N7735' } })).toHaveLength(1);
    expect(judged({ json: { id: 'x', deliveries: 1, more: 1 } })).toHaveLength(2);
  });
});
