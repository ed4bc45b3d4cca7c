import { SCOPES } from '../../../migrations/scopes.js';
import { PRODUCT_NAME } from '#platform/config/brand-values.js';
import type { Method, OpenApiDocument, Operation, Paths } from './openapi.js';

/** Whom a document is for: partners, or operators and the company's own services. */
export type Audience = 'partners' | 'operators';

type Scope = (typeof SCOPES)[number];

const described = (scopes: Scope[]) =>
  Object.fromEntries(scopes.map(([name, , description]) => [name, description]));

const OF_PARTNERS = described(SCOPES.filter(([, audience]) => audience === 'partner'));
const OF_OPERATORS = described(SCOPES.filter(([, audience]) => audience === 'operator'));

/** The flows of the `oauth2` security scheme (contract §3, §4); operator scopes are for client credentials only. */
const oauth2Flows = (baseUrl: string, audience: Audience) => {
  const tokenUrl = `${baseUrl}/o/token`;
  if (audience === 'operators') return { clientCredentials: { tokenUrl, scopes: OF_OPERATORS } };
  return {
    authorizationCode: {
      authorizationUrl: `${baseUrl}/o/authorize/`,
      tokenUrl,
      refreshUrl: tokenUrl,
      scopes: OF_PARTNERS,
    },
    clientCredentials: { tokenUrl, scopes: OF_PARTNERS },
  };
};

/** The documents of both audiences. */
export type ApiDocuments = Record<Audience, OpenApiDocument>;

const OPERATOR_SCOPES = new Set<string>(
  SCOPES.filter(([, audience]) => audience === 'operator').map(([name]) => name),
);

/** The title of a document: in whose name the service speaks. */
export const titleOf = (audience: Audience, name: string): string =>
  audience === 'partners' ? name : `${name} for operators`;

interface Texts {
  title: string;
  description: string;
  tags: OpenApiDocument['tags'];
}

const common = (oauth: string): string =>
  `Refusals of ${oauth} are RFC 6749 JSON, all others problems (RFC 9457) whose \`type\` is the URL of a page. Each response carries \`X-Request-Id\`. Members are \`snake_case\`, times ISO 8601 UTC.`;

/** In the order in which a reader needs them. */
const TEXTS: Record<Audience, Texts> = {
  partners: {
    title: titleOf('partners', PRODUCT_NAME),
    description: `The OAuth 2 authority and webhook portal of an electric-vehicle charging data company, for partners. ${common('`/o/token` and `/o/revoke_token/`')}`,
    tags: [
      {
        name: 'OAuth',
        description: 'Get a user’s consent, and issue, refresh and revoke tokens.',
      },
      { name: 'Users', description: 'Who shares data with the client.' },
      {
        name: 'Events',
        description: 'The feed of events, what the types of events are, and the way to the webhook portal.',
      },
      { name: 'Webhooks', description: 'What endpoints receive, with an example for each type.' },
      { name: 'Sandbox', description: 'Invented drivers, their sessions, and faults on request.' },
      { name: 'Notifications', description: 'What the client’s user or owner is told.' },
    ],
  },
  operators: {
    title: titleOf('operators', PRODUCT_NAME),
    description: `The admin API, and what the company’s own services use, with tokens that carry operator scopes: those of client credentials, as the API for partners says. ${common('`/o/introspect/`')}`,
    tags: [
      { name: 'Admin', description: 'Operations for operators.' },
      { name: 'Events', description: 'Events that the company’s own services publish.' },
      { name: 'OAuth', description: 'What the company’s own services ask about tokens.' },
      {
        name: 'Disclosures',
        description: 'What the company’s own services report about the data that they served.',
      },
    ],
  },
};

/** What comes first within a tag; the rest follows as it was generated. */
const FIRST = ['token', 'authorize', 'revokeToken', 'introspect', 'listUsers', 'listEvents'];

/**
 * Divides the whole document: what is used with operator scopes, in whichever way a client authenticates, is described to operators,
 * everything else to partners.
 */
export function divided(whole: OpenApiDocument, baseUrl: string): ApiDocuments {
  return {
    partners: documentOf(whole, baseUrl, 'partners'),
    operators: documentOf(whole, baseUrl, 'operators'),
  };
}

function documentOf(whole: OpenApiDocument, baseUrl: string, audience: Audience): OpenApiDocument {
  const { title, description, tags } = TEXTS[audience];
  const paths = ordered(
    pathsOf(whole.paths, audience),
    tags.map(({ name }) => name),
  );
  const { oauth2, ...schemes } = whole.components.securitySchemes as Record<string, object>;
  return withUsedParts({
    ...whole,
    info: { ...whole.info, title, description },
    tags,
    paths,
    webhooks: audience === 'partners' ? whole.webhooks : {},
    components: {
      ...whole.components,
      securitySchemes: { oauth2: { ...oauth2, flows: oauth2Flows(baseUrl, audience) }, ...schemes },
    },
  });
}

const needsOperatorScope = (way: Record<string, string[]>): boolean =>
  Object.values(way)
    .flat()
    .some((scope) => OPERATOR_SCOPES.has(scope));

function pathsOf(paths: Paths, audience: Audience): Paths {
  const entries = Object.entries(paths).map(([path, methods]) => {
    const kept = Object.entries(methods).filter(
      ([, { security = [] }]) => security.some(needsOperatorScope) === (audience === 'operators'),
    );
    return [path, Object.fromEntries(kept)] as const;
  });
  return Object.fromEntries(entries.filter(([, methods]) => Object.keys(methods).length > 0));
}

/** Paths in the order of their tags, which is the order of the reference. */
function ordered(paths: Paths, tags: string[]): Paths {
  const rankOf = (methods: Partial<Record<Method, Operation>>): number =>
    Math.min(
      ...Object.values(methods).map(({ tags: [tag], operationId }) => {
        const first = FIRST.indexOf(operationId);
        return tags.indexOf(tag!) * 100 + (first < 0 ? FIRST.length : first);
      }),
    );
  const sorted = Object.entries(paths).sort(([, one], [, other]) => rankOf(one) - rankOf(other));
  return Object.fromEntries(inTheirPlaces(sorted));
}

/** Those of features behind the paths that they name, one after the other. */
function inTheirPlaces(paths: [string, Partial<Record<Method, Operation>>][]): typeof paths {
  const placed = [...paths];
  for (const path of paths.toReversed()) {
    const behind = Object.values(path[1])[0]?.['x-behind'];
    if (behind === undefined) continue;
    placed.splice(placed.indexOf(path), 1);
    const before = placed.findIndex(([, methods]) =>
      Object.values(methods).some(({ operationId }) => operationId === behind),
    );
    placed.splice(before < 0 ? placed.length : before + 1, 0, path);
  }
  return placed.map(([path, methods]) => {
    const shown = Object.entries(methods).map(([method, { 'x-behind': _, ...operation }]) => [
      method,
      operation,
    ]);
    return [path, Object.fromEntries(shown)];
  });
}

/** The document without components that nothing in it refers to. */
function withUsedParts(document: OpenApiDocument): OpenApiDocument {
  const { schemas, responses, securitySchemes } = document.components;
  const used = new Set<string>();
  const visit = (part: unknown): void => {
    for (const [, kind, name] of JSON.stringify(part).matchAll(/"#\/components\/(\w+)\/([^"/]+)/g)) {
      const key = `${kind}/${name}`;
      if (used.has(key)) continue;
      used.add(key);
      visit((kind === 'schemas' ? schemas : responses)[name!]);
    }
  };
  visit([document.paths, document.webhooks]);
  const ways = JSON.stringify(Object.values(document.paths));
  const kept = <T>(kind: string, parts: Record<string, T>): Record<string, T> =>
    Object.fromEntries(Object.entries(parts).filter(([name]) => used.has(`${kind}/${name}`)));
  return {
    ...document,
    components: {
      ...document.components,
      schemas: kept('schemas', schemas),
      responses: kept('responses', responses),
      securitySchemes: Object.fromEntries(
        Object.entries(securitySchemes).filter(([name]) => ways.includes(`"${name}":[`)),
      ),
    },
  };
}
