/** A page of the handbook: the last part of its address, which is also the name of its file, and its name in the navigation. */
export interface Entry {
  slug: string;
  label: string;
}

/** The kinds of pages, in the order of the navigation. `folder` is the folder of their files and a part of their addresses. */
export const SHELVES = [
  {
    folder: 'guides',
    label: 'Guides',
    entries: [
      { slug: 'first-token', label: 'Your first token' },
      { slug: 'on-behalf-of-a-user', label: 'On behalf of a user' },
      { slug: 'refresh', label: 'Refresh a token' },
      { slug: 'client-with-keys', label: 'A client with keys' },
      { slug: 'webhooks', label: 'Receive webhooks' },
      { slug: 'webhook-keys', label: 'Check webhooks without a secret' },
      { slug: 'portal', label: 'The portal' },
      { slug: 'events-feed', label: 'Read the events feed' },
      { slug: 'polling-to-webhooks', label: 'Move from polling to webhooks' },
      { slug: 'sandbox', label: 'Try it in the sandbox' },
      { slug: 'limits', label: 'Limits' },
      { slug: 'errors', label: 'Errors' },
      { slug: 'going-live', label: 'Go live' },
      { slug: 'changes', label: 'What changed' },
    ],
  },
  {
    folder: 'libraries',
    label: 'Connect your library',
    entries: [
      { slug: 'openid-client', label: 'openid-client (Node.js)' },
      { slug: 'oauth4webapi', label: 'oauth4webapi (JavaScript)' },
      { slug: 'oidc-client-ts', label: 'oidc-client-ts (browser)' },
      { slug: 'simple-oauth2', label: 'simple-oauth2 (Node.js)' },
      { slug: 'auth-js', label: 'Auth.js' },
      { slug: 'better-auth', label: 'better-auth' },
      { slug: 'passport-oauth2', label: 'passport-oauth2' },
      { slug: 'requests-oauthlib', label: 'requests-oauthlib (Python)' },
      { slug: 'authlib', label: 'Authlib (Python)' },
      { slug: 'go-oauth2', label: 'x/oauth2 (Go)' },
      { slug: 'ruby-oauth2', label: 'oauth2 (Ruby)' },
      { slug: 'php-league-oauth2-client', label: 'league/oauth2-client (PHP)' },
      { slug: 'mcp-sdk', label: 'MCP SDK (agents)' },
      { slug: 'home-assistant', label: 'Home Assistant' },
      { slug: 'n8n', label: 'n8n' },
      { slug: 'spring-security', label: 'Spring Security' },
      { slug: 'mod-auth-openidc', label: 'mod_auth_openidc (Apache)' },
    ],
  },
] as const satisfies { folder: string; label: string; entries: Entry[] }[];

export type Folder = (typeof SHELVES)[number]['folder'];

/** The address of a page. */
export const pathOf = (folder: Folder, slug: string): string => `/docs/${folder}/${slug}`;
