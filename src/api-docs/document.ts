import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { problemResponses } from '../http/api/api-answers.js';
import { EVENT_DATA_SCHEMAS } from './event-data.js';
import { addExamples } from './examples.js';
import { completeDocument } from './complete-document.js';
import type { OpenApiDocument } from './openapi.js';
import { oauth2Flows } from './security.js';
import { WEBHOOKS } from './webhooks.js';

const DESCRIPTION =
  'The OAuth 2 authority and webhook portal of an electric-vehicle charging data company. Refusals of `/o/token`, `/o/revoke_token/` and `/o/introspect/` are RFC 6749 JSON, all others problems (RFC 9457) whose `type` is the URL of a page. Each response carries `X-Request-Id`. Members are `snake_case`, times ISO 8601 UTC.';

// The library's types know the licences of OpenAPI 3.0 only.
const LICENSE: { name: string } = Object.assign(
  { name: 'All rights reserved' },
  { identifier: 'LicenseRef-Proprietary' },
);

/** The OpenAPI 3.1 document of this service with its public URL, generated from its controllers. */
export function openApiDocument(app: INestApplication, baseUrl: string): OpenApiDocument {
  const config = new DocumentBuilder()
    .setOpenAPIVersion('3.1.0')
    .setTitle('Charging Data Service')
    .setVersion('2.0')
    .setDescription(DESCRIPTION)
    .addServer(baseUrl)
    .addTag('OAuth', 'Issue, refresh, revoke and introspect tokens.')
    .addTag('Partners', 'Endpoints for partners, with a bearer token and a rate limit.')
    .addTag('Events', 'Events that the company’s own services publish, what they are, and the feed of them.')
    .addTag('Admin', 'Operations for operators.')
    .addTag('Webhooks', 'What endpoints receive, with an example for each type.')
    .addOAuth2(
      {
        type: 'oauth2',
        description: 'An access token, in the `Authorization` header only.',
        flows: oauth2Flows(baseUrl),
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
      info: {
        ...config.info,
        license: LICENSE,
      },
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
  return addExamples(completed, baseUrl);
}
