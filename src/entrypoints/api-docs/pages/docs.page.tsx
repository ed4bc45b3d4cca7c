import type { VNode } from 'preact';
import { API_REFERENCE_SCRIPT } from '#platform/http/server/assets.js';
import type { MemberClient } from '#events/partners/members/member.js';
import { logoPath, type Brand } from '#platform/web/layout/brand.js';
import { BrandMark, type LayoutProps } from '#platform/web/layout/layout.js';
import { Table } from '#platform/web/tables/table.js';
import type { Audience } from '../audiences.js';
import { type OpenApiDocument, operationAnchor, webhookAnchor } from '../openapi.js';
import { referenceSettings } from '../reference-settings.js';
import { SIGNED } from '../webhooks.js';

interface Listed {
  /** Of the interactive reference. */
  anchor: string;
  name: string;
  summary: string;
}

/** The operations of each tag, and the webhooks by type, each a link into the interactive reference. */
const OperationLists = ({ of: { tags, paths, webhooks } }: { of: OpenApiDocument }): VNode => (
  <>
    {tags.map(({ name, description }) => (
      <section>
        <h2>{name}</h2>
        <p>{description}</p>
        <Table
          caption={name}
          columns={[
            { head: name === WEBHOOKS ? 'Type' : 'Operation', cell: link },
            { head: 'What it does', cell: ({ summary }) => summary },
          ]}
          rows={name === WEBHOOKS ? typesIn(webhooks) : operationsOf(name, paths)}
        />
      </section>
    ))}
  </>
);

const WEBHOOKS = 'Webhooks';

// Without a script a link leads to itself.
const link = ({ anchor, name }: Listed): VNode => (
  <a id={anchor.slice(1)} href={anchor}>
    <code class="whole">{name}</code>
  </a>
);

const operationsOf = (tag: string, paths: OpenApiDocument['paths']): Listed[] =>
  Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods)
      .filter(([, { tags }]) => tags[0] === tag)
      .map(([method, { summary }]) => ({
        anchor: operationAnchor(tag, method, path),
        name: `${method.toUpperCase()} ${path}`,
        summary,
      })),
  );

const typesIn = (webhooks: OpenApiDocument['webhooks']): Listed[] =>
  Object.entries(webhooks).map(([type, { post }]) => ({
    anchor: webhookAnchor(type),
    name: type,
    summary: post?.description?.replace(SIGNED, '').replaceAll('`', '') ?? '',
  }));

/** Where the documents are served. */
const DOCUMENT_URLS: Record<Audience, string> = {
  partners: '/openapi.json',
  operators: '/openapi/operators.json',
};

interface DocsPageProps {
  document: OpenApiDocument;
  audience: Audience;
  /** The style sheets of the interactive reference carry it. */
  nonce: string;
  brand: Brand;
  /** The reader's client, as which requests are tried out. */
  client?: MemberClient;
}

/**
 * All operations, and the way to the OpenAPI document and the guides. A script puts the interactive reference in its place once an operation is
 * chosen: it is larger than all other pages together.
 */
export function docsPage({ document, audience, nonce, brand, client }: DocsPageProps): LayoutProps {
  const url = DOCUMENT_URLS[audience];
  const configuration = referenceSettings(url, client?.id);
  const settings = { script: API_REFERENCE_SCRIPT, nonce, configuration };
  const { info } = document;
  const description = info.description.replaceAll('`', '');
  return {
    title: audience === 'partners' ? 'API' : 'API for operators',
    description,
    width: 'broad',
    scripts: API_REFERENCE_SCRIPT ? ['/assets/docs.js'] : [],
    footer: 'for developers',
    children: (
      <>
        <h1>{audience === 'partners' ? `${info.title} API` : info.title}</h1>
        {/* The script puts it above the interactive reference. */}
        <nav class="docs-ways" aria-label="Guides">
          <a class="docs-home" href="/">
            <Mark of={brand} /> <bdi>{brand.name}</bdi>
          </a>
          <a href="/docs/guides">Guides</a>
          <a href="/docs/guides#connect-your-library">Connect your library</a>
          {audience === 'partners' ? (
            <a href="/docs/search">Search all docs</a>
          ) : (
            <a href="/docs">API for partners</a>
          )}
          {client && <ForClient of={client} />}
        </nav>
        <p>{description}</p>
        <p>
          Machine-readable: <a href={url}>{url.slice(1)}</a> (OpenAPI 3.1)
          {audience === 'partners' && (
            <>
              , <a href="/asyncapi.json">asyncapi.json</a> (the events, AsyncAPI 3.0)
            </>
          )}
          . For OAuth clients: <a href="/.well-known/oauth-authorization-server">metadata</a>.
        </p>
        <noscript>
          <p class="notice">
            The reference of all operations needs JavaScript. Without it, read the OpenAPI document or the
            guides.
          </p>
        </noscript>
        <p class="notice notice-error" id="docs-failed" hidden>
          The reference could not be loaded. Reload the page, or read the OpenAPI document.
        </p>
        <p id="reference">
          Choose an operation to see its parameters and answers, and to try it out, or open the{' '}
          <a href="#reference">whole reference</a>.
        </p>
        <OperationLists of={document} />
        <script
          type="application/json"
          id="docs-settings"
          dangerouslySetInnerHTML={{ __html: JSON.stringify(settings).replaceAll('<', '\\u003c') }}
        />
      </>
    ),
  };
}

const Mark = ({ of: { logoId } }: { of: Brand }): VNode =>
  logoId === null ? <BrandMark /> : <img class="brand-logo" src={logoPath(logoId)} alt="" height="32" />;

const ForClient = ({ of: { name, environment } }: { of: MemberClient }): VNode => (
  <span class="docs-client">
    {environment === 'sandbox' ? 'Sandbox' : 'Live'}: <bdi>{name}</bdi>
  </span>
);
