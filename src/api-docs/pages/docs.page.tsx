import type { ComponentChildren, VNode } from 'preact';
import type { Audience } from '../audiences.js';
import { renderPage } from '../../web/layout/layout.js';
import {
  answerOf,
  examplesOf,
  type Answer,
  deref,
  type Media,
  type OpenApiDocument,
  type Operation,
  type Paths,
} from '../openapi.js';
import { samplesOf, type Sample } from '../samples.js';
import { SchemaView } from './schema-view.js';

/** What the script of the page needs to replace the list of operations with the interactive reference. */
export interface InteractiveReference {
  script: string;
  nonce: string;
  configuration: object;
}

/** Where the documents are served. */
export const DOCUMENT_URLS: Record<Audience, string> = {
  partners: '/openapi.json',
  operators: '/openapi/operators.json',
};

/**
 * The OpenAPI document as a page: without a script, with a collapsible section per operation. With one, the interactive reference
 * takes its place.
 */
export function docsPage(
  document: OpenApiDocument,
  audience: Audience,
  reference?: InteractiveReference,
): string {
  const { info, tags, paths, webhooks, components } = document;
  const url = DOCUMENT_URLS[audience];
  return renderPage({
    title: audience === 'partners' ? 'API' : 'API for operators',
    width: 'wide',
    scripts: reference ? ['/assets/docs.js'] : [],
    children: (
      <>
        <h1>{audience === 'partners' ? `${info.title} API` : info.title}</h1>
        {/* The script puts it above the interactive reference. */}
        <nav class="docs-ways" aria-label="Guides">
          <a href="/docs/guides">Guides</a>
          <a href="/docs/guides#connect-your-library">Connect your library</a>
          {audience === 'operators' && <a href="/docs">API for partners</a>}
        </nav>
        <p>
          <Marked text={info.description} />
        </p>
        <p>
          Machine-readable: <a href={url}>{url.slice(1)}</a> (OpenAPI 3.1). For OAuth clients:{' '}
          <a href="/.well-known/oauth-authorization-server">metadata</a>.
        </p>
        {tags.map(({ name, description }) => (
          <section class="docs-section">
            <h2>{name}</h2>
            <p>{description}</p>
            <Operations document={document} paths={name === 'Webhooks' ? webhooks : paths} tag={name} />
          </section>
        ))}
        <section class="docs-section">
          <h2>Schemas</h2>
          {Object.entries(components.schemas).map(([name, schema]) => (
            <details>
              <summary>{name}</summary>
              <Anchored id={`schema-${name}`}>
                <SchemaView schema={schema} />
              </Anchored>
            </details>
          ))}
        </section>
        {reference && (
          <script
            type="application/json"
            id="docs-settings"
            dangerouslySetInnerHTML={{ __html: JSON.stringify(reference).replaceAll('<', '\\u003c') }}
          />
        )}
      </>
    ),
  });
}

/** The anchor is inside the collapsed part: a browser that navigates to it opens that part, without a script. */
const Anchored = ({ id, children }: { id: string; children: ComponentChildren }): VNode => (
  <div class="docs-anchored" id={id}>
    {children}
  </div>
);

function Operations({
  document,
  paths,
  tag,
}: {
  document: OpenApiDocument;
  paths: Paths;
  tag: string;
}): VNode {
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
  );
  return (
    <>
      {operations
        .filter(({ operation }) => operation.tags.includes(tag))
        .map(({ path, method, operation }) => (
          <details>
            <summary>
              <code class="docs-method">{tag === 'Webhooks' ? 'EVENT' : method.toUpperCase()}</code>{' '}
              <code>{path}</code> <bdi class="docs-summary">{operation.summary}</bdi>
            </summary>
            <Anchored id={operation.operationId}>
              <OperationView document={document} operation={operation} />
              {tag !== 'Webhooks' && (
                <Samples samples={samplesOf(operation, method, path, document.servers[0]!.url)} />
              )}
            </Anchored>
          </details>
        ))}
    </>
  );
}

const Samples = ({ samples }: { samples: Sample[] }): VNode => (
  <>
    <h3>Samples</h3>
    {samples.map(({ language, code }) => (
      <details>
        <summary>{language}</summary>
        <pre tabIndex={0}>
          <code>{code}</code>
        </pre>
      </details>
    ))}
  </>
);

function OperationView({ document, operation }: { document: OpenApiDocument; operation: Operation }): VNode {
  const { description, parameters = [], requestBody, responses, security = [] } = operation;
  const scopes = security.flatMap((way) => Object.values(way).flat());
  return (
    <>
      {description && (
        <p>
          <Marked text={description} />
        </p>
      )}
      {scopes.length > 0 && (
        <p>
          Requires <code>{[...new Set(scopes)].join(' ')}</code>.
        </p>
      )}
      {parameters.length > 0 && (
        <>
          <h3>Parameters</h3>
          <dl class="docs-members">
            {parameters.map(({ name, in: place, required, description: text }) => (
              <div>
                <dt>
                  <code>{name}</code> <small>{`${place}${required ? ', required' : ''}`}</small>
                </dt>
                <dd>{text && <Marked text={text} />}</dd>
              </div>
            ))}
          </dl>
        </>
      )}
      {requestBody && (
        <>
          <h3>Request body</h3>
          <Content
            content={Object.fromEntries(
              Object.entries(requestBody.content).map(([type, media]) => [
                type,
                { ...media, schema: deref(document, media.schema) },
              ]),
            )}
          />
        </>
      )}
      <h3>Responses</h3>
      <dl class="docs-members">
        {Object.entries(responses).map(([status, answer]) => (
          <AnswerView status={status} answer={answerOf(document, answer)} />
        ))}
      </dl>
    </>
  );
}

function AnswerView({ status, answer }: { status: string; answer: Answer }): VNode {
  return (
    <div>
      <dt>
        <code>{status}</code>
      </dt>
      <dd>
        <Marked text={answer.description} />
        {answer.content && <Content content={answer.content} />}
      </dd>
    </div>
  );
}

function Content({ content }: { content: Record<string, Media> }): VNode {
  return (
    <>
      {Object.entries(content).map(([type, media]) => (
        <div>
          <p>
            <small>{type}</small>
          </p>
          {type !== 'text/html' && <SchemaView schema={media.schema} />}
          {examplesOf(media).map(([name, value]) => (
            <>
              {name !== undefined && (
                <p>
                  <small>
                    <code>{name}</code>
                  </small>
                </p>
              )}
              <pre tabIndex={0}>
                <code>{JSON.stringify(value, null, 2)}</code>
              </pre>
            </>
          ))}
        </div>
      ))}
    </>
  );
}

/** Text in which parts between backticks are code. */
function Marked({ text }: { text: string }): VNode {
  return <>{text.split('`').map((part, index) => (index % 2 === 1 ? <code>{part}</code> : part))}</>;
}
