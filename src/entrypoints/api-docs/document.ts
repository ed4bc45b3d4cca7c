import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { problemResponses } from '#platform/http/api/api-answers.js';
import { divided, type ApiDocuments } from './audiences.js';
import { completeDocument } from './complete-document.js';
import {
  type OpenApiDocument,
  answerOf,
  type Answer,
  type Media,
  type Operation,
  EVENT_DATA_SCHEMAS,
} from './openapi.js';
import { WEBHOOKS } from './webhooks.js';
import recorded from '../../../openapi-examples.json' with { type: 'json' };

/** Bodies by their names; `example` if there is only one. */
export type Named = Record<string, unknown>;

/** What a run of the service sent and answered for one operation. */
export interface RecordedOperation {
  parameters?: Named;
  requests?: Named;
  responses: Record<string, Named>;
}

/** By the id of the operation. */
export type RecordedExamples = Record<string, RecordedOperation>;

/** The public URL in the recorded examples. */
const RECORDED_URL = 'https://auth.example.com';

/** Adds what was recorded from the running service to every request and response of the document. */
function addExamples(document: OpenApiDocument, baseUrl: string): OpenApiDocument {
  const text = JSON.stringify(recorded).replaceAll(RECORDED_URL, baseUrl);
  const examples = JSON.parse(text) as RecordedExamples;
  const operations = Object.values(document.paths).flatMap((methods) => Object.values(methods));
  const described = new Set(operations.map(({ operationId }) => operationId));
  shareCommonest(
    document,
    Object.entries(examples).flatMap(([id, example]) => (described.has(id) ? [example] : [])),
  );
  for (const operation of operations) {
    const found = examples[operation.operationId];
    if (found) illustrate(document, operation, found);
  }
  return document;
}

/** Gives each shared response the body that most operations answer with. */
function shareCommonest({ components }: OpenApiDocument, examples: RecordedOperation[]): void {
  for (const [name, answer] of Object.entries(components.responses)) {
    const status = name.slice(-3);
    const bodies = examples.flatMap(({ responses }) => Object.values(responses[status] ?? {}));
    const commonest = mostFrequent(bodies.filter((body) => 'title' in (body as object)));
    if (commonest !== undefined) add(answer.content, { example: commonest });
  }
}

function illustrate(document: OpenApiDocument, operation: Operation, found: RecordedOperation): void {
  for (const parameter of operation.parameters ?? [])
    if (found.parameters?.[parameter.name] !== undefined)
      parameter.example = found.parameters[parameter.name];
  add(operation.requestBody?.content, found.requests);
  for (const [status, bodies] of Object.entries(found.responses)) {
    const answer = operation.responses[status];
    if (!answer) continue;
    if (!('$ref' in answer)) add(answer.content, bodies);
    else operation.responses[status] = ownAnswer(answerOf(document, answer), bodies) ?? answer;
  }
}

/** A shared response with an operation's own example; undefined if it is the shared one. */
function ownAnswer(shared: Answer, bodies: Named): Answer | undefined {
  const content = structuredClone(shared.content);
  const [before] = Object.values(content!);
  if (isSame(before!.example, bodies.example)) return undefined;
  add(content, bodies);
  return { ...shared, content };
}

function add(content: Record<string, Media> | undefined, bodies: Named | undefined): void {
  for (const [type, media] of Object.entries(content ?? {})) {
    if (!bodies || type === 'text/html' || type.endsWith('+jwt')) continue;
    if ('example' in bodies) media.example = bodies.example;
    else
      media.examples = Object.fromEntries(Object.entries(bodies).map(([name, value]) => [name, { value }]));
  }
}

const isSame = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** The value that occurs most often; of equals, the first. */
function mostFrequent(values: unknown[]): unknown {
  const count = (value: unknown) => values.filter((each) => isSame(each, value)).length;
  return values.reduce(
    (best, value) => (best === undefined || count(value) > count(best) ? value : best),
    undefined,
  );
}

/** The OpenAPI 3.1 documents of this service with its public URL, generated from its controllers. */
export function openApiDocuments(app: INestApplication, baseUrl: string): ApiDocuments {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setVersion('2.0')
    .addServer(baseUrl)
    .addOAuth2(
      {
        type: 'oauth2',
        description: 'An access token, in the `Authorization` header only.',
        // Those of each document are its own.
        flows: {},
      },
      'oauth2',
    )
    .addBasicAuth(
      {
        type: 'http',
        scheme: 'basic',
        description: 'Client ID and secret, each form-urlencoded before base64 (RFC 6749 §2.3.1).',
      },
      'clientBasic',
    )
    .build();
  const document = SwaggerModule.createDocument(
    app,
    {
      ...config,
      components: { ...config.components, responses: problemResponses(baseUrl) as never },
    },
    { onlyIncludeDecoratedEndpoints: true, autoTagControllers: false },
  );
  // The library's types know neither `webhooks` nor the other parts of OpenAPI 3.1.
  const { components } = document;
  const schemas = { ...components?.schemas, ...EVENT_DATA_SCHEMAS };
  const completed = completeDocument({
    ...document,
    components: { ...components, schemas },
    webhooks: WEBHOOKS,
  } as unknown as OpenApiDocument);
  const { partners, operators } = divided(completed, baseUrl);
  return { partners: addExamples(partners, baseUrl), operators: addExamples(operators, baseUrl) };
}
