import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, SwaggerModule } from '@nestjs/swagger';
import { problemResponses } from '#platform/http/api/api-answers.js';
import { EVENT_DATA_SCHEMAS } from './event-data.js';
import { divided, type ApiDocuments } from './audiences.js';
import { addExamples } from './examples.js';
import { completeDocument } from './complete-document.js';
import type { OpenApiDocument } from './openapi.js';
import { WEBHOOKS } from './webhooks.js';

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
