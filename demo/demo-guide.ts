import path from 'node:path';
import type { Settings } from '#platform/config/settings.js';
import type { DemoCredentials } from './demo-credentials.js';
import { demoRedirectUri } from './demo-data.js';

/** Something to try: what it is, and commands to paste or an address to open. */
interface DemoStep {
  title: string;
  note?: string;
  commands: string[];
}

export interface DemoGuide {
  links: { name: string; url: string; note?: string }[];
  people: { who: string; email: string; password: string; note: string }[];
  clients: { name: string; id: string; secret?: string }[];
  steps: DemoStep[];
}

/** Everything about the demonstration: addresses, credentials, and commands to paste. */
export function demoGuide(settings: Settings, demo: DemoCredentials): DemoGuide {
  const { baseUrl } = settings;
  const redirectUri = demoRedirectUri(baseUrl);
  const authorizeUrl = (clientId: string, extra: Record<string, string> = {}) =>
    `${baseUrl}/o/authorize/?${new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, ...extra }).toString()}`;
  const { partnerClient: partner, sandboxClient: sandbox, appClient: app, operatorClient: operator } = demo;
  const tokenOf = ({ id, secret }: { id: string; secret: string }) =>
    `curl -s -u '${id}:${secret}' -d grant_type=client_credentials ${baseUrl}/o/token`;
  const inVariable = (name: string, client: { id: string; secret: string }) =>
    `${name}=$(${tokenOf(client)} | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')`;
  const withToken = (name: string, rest: string) => `curl -s -H "Authorization: Bearer $${name}" ${rest}`;
  const person = (who: string, { email, password }: { email: string; password: string }, note: string) => ({
    who,
    email,
    password,
    note,
  });
  return {
    links: [
      { name: 'Start page', url: `${baseUrl}/` },
      { name: 'Account', url: `${baseUrl}/account`, note: 'as the EV driver' },
      { name: 'Portal', url: `${baseUrl}/portal/sign-in`, note: 'as the organisation, or its developer' },
      { name: 'Console', url: `${baseUrl}/admin/console`, note: 'as the operator' },
      settings.mail
        ? { name: 'Mail', url: `${baseUrl}/demo/mail`, note: 'nothing: mail is sent by SMTP_URL' }
        : { name: 'Mail', url: `${baseUrl}/demo/mail`, note: 'everything it would send' },
      { name: 'API', url: `${baseUrl}/docs` },
      { name: 'Guides', url: `${baseUrl}/docs/guides` },
      { name: 'Metadata', url: `${baseUrl}/.well-known/oauth-authorization-server` },
    ],
    people: [
      person('EV driver', demo.driver, ''),
      person('Organisation', demo.organisation, 'a partner'),
      person('Developer', demo.developer, 'a member of the partner'),
      person('Operator', demo.operator, 'admin'),
      person('Operator', demo.supportOperator, 'support'),
      person('Operator', demo.viewerOperator, 'viewer'),
    ],
    clients: [
      { name: 'A partner’s client in the sandbox, for the guides', ...sandbox },
      { name: 'The same partner’s live client (confidential)', ...partner },
      { name: 'A partner’s native app (public, PKCE)', id: app.id },
      { name: 'The operator’s client (admin API, introspection)', ...operator },
    ],
    steps: [
      { title: 'A first token, of the client in the sandbox', commands: [tokenOf(sandbox)] },
      {
        title: 'A one-time link to the webhook portal of the live client',
        note: 'Open what it prints in a browser',
        commands: [inVariable('TOKEN', partner), withToken('TOKEN', `${baseUrl}/webhook_portal`)],
      },
      {
        title: 'The client’s events, and what a type of event looks like',
        note: 'The portal’s endpoints receive the same. With TOKEN from above',
        commands: [
          withToken('TOKEN', `'${baseUrl}/v2/events?page_size=5'`),
          `curl -s ${baseUrl}/v2/event_types/charging_session.updated/versions/1/schema`,
        ],
      },
      {
        title: 'An end user’s consent',
        note: 'Open this in a browser, log in as the EV driver, and authorize. The page that follows shows a line CODE=…: paste it, and then the command below, within one minute',
        commands: [
          authorizeUrl(partner.id, { state: 'demo' }),
          `curl -s -u '${partner.id}:${partner.secret}' -d grant_type=authorization_code -d redirect_uri=${redirectUri} -d code=$CODE ${baseUrl}/o/token`,
        ],
      },
      {
        title: 'The same for the native app, with PKCE instead of a secret',
        commands: [
          authorizeUrl(app.id, {
            state: 'demo',
            code_challenge: app.codeChallenge,
            code_challenge_method: 'S256',
          }),
          `curl -s -d client_id=${app.id} -d grant_type=authorization_code -d redirect_uri=${redirectUri} -d code_verifier=${app.codeVerifier} -d code=$CODE ${baseUrl}/o/token`,
        ],
      },
      {
        title: 'The admin API',
        commands: [inVariable('ADMIN', operator), withToken('ADMIN', `${baseUrl}/admin/clients`)],
      },
      {
        title: 'Which introspections a data service must forget',
        note: 'With ADMIN from above. Disconnect an application on the account page while it runs',
        commands: [withToken('ADMIN', `-N ${baseUrl}/v2/access_changes`)],
      },
      {
        title: 'A partner’s events on this machine, signed',
        note: 'Where something listens on port 4000',
        commands: [
          `CHARGING_DATA_URL=${baseUrl} CHARGING_DATA_CLIENT_ID=${partner.id} CHARGING_DATA_CLIENT_SECRET='${partner.secret}' npx charging-data listen --forward http://localhost:4000/hooks`,
        ],
      },
      {
        title: 'The sandbox: its drivers, and a charging session',
        note: 'It runs 60 times faster',
        commands: [
          inVariable('SANDBOX', sandbox),
          withToken('SANDBOX', `${baseUrl}/v2/sandbox/drivers`),
          withToken(
            'SANDBOX',
            `-H 'Content-Type: application/json' -d '{"speed": 60}' ${baseUrl}/v2/sandbox/drivers/${demo.sandboxDriver.id}/sessions`,
          ),
        ],
      },
      {
        title: 'A one-time link to its portal',
        note: 'The page “Sandbox” has the same and more',
        commands: [withToken('SANDBOX', `${baseUrl}/webhook_portal`)],
      },
      {
        title: 'A driver’s consent, without a login',
        note: 'Open it in a browser, then exchange the code as above, with this client',
        commands: [authorizeUrl(sandbox.id, { state: 'sandbox' })],
      },
      {
        title: 'The company in one file (docs/company-file.md)',
        note: 'In another terminal, in the folder of the service',
        commands: [
          settingsOfTool(settings),
          'npm run -s operator -- export > company.yaml',
          'npm run -s operator -- apply -f company.yaml --dry-run',
        ],
      },
    ],
  };
}

/** What the operator's tool needs, as a line for a shell: the database and its key. Their secrets stay in the data folder. */
function settingsOfTool({ databaseUrl, dataDir }: Settings): string {
  const { username, host, pathname } = new URL(databaseUrl!);
  const file = (name: string) => `'${path.resolve(dataDir, name).replaceAll("'", String.raw`'\''`)}'`;
  const url = `postgres://${username}:$(cat ${file('postgres-password')})@${host}${pathname}`;
  return `export DATABASE_URL="${url}" ENCRYPTION_KEY_FILE=${file('encryption-key')}`;
}
