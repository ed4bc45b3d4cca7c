import type { VNode } from 'preact';
import { API_REFERENCE_SCRIPT } from '../../http/server/assets.js';
import { logoPath, type Brand } from '../../web/layout/brand.js';
import { BrandMark, type LayoutProps } from '../../web/layout/layout.js';
import type { Audience } from '../audiences.js';
import type { OpenApiDocument } from '../openapi.js';
import { referenceSettings } from '../reference-settings.js';

/** Where the documents are served. */
const DOCUMENT_URLS: Record<Audience, string> = {
  partners: '/openapi.json',
  operators: '/openapi/operators.json',
};

interface DocsPageProps {
  info: OpenApiDocument['info'];
  audience: Audience;
  /** The style sheets of the interactive reference carry it. */
  nonce: string;
  brand: Brand;
  /** The sandbox client of a member, with which requests are tried out. */
  clientId?: string;
}

/** The way to the OpenAPI document and the guides. A script puts the interactive reference in its place. */
export function docsPage({ info, audience, nonce, brand, clientId }: DocsPageProps): LayoutProps {
  const url = DOCUMENT_URLS[audience];
  const configuration = referenceSettings(url, clientId);
  const settings = { script: API_REFERENCE_SCRIPT, nonce, configuration };
  return {
    title: audience === 'partners' ? 'API' : 'API for operators',
    width: 'wide',
    scripts: API_REFERENCE_SCRIPT ? ['/assets/docs.js'] : [],
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
        </nav>
        <p>{info.description.replaceAll('`', '')}</p>
        <p>
          Machine-readable: <a href={url}>{url.slice(1)}</a> (OpenAPI 3.1). For OAuth clients:{' '}
          <a href="/.well-known/oauth-authorization-server">metadata</a>.
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
