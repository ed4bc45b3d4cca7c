import type { Settings } from '../src/config/settings.js';
import type { DemoCredentials } from './demo-credentials.js';
import { demoRedirectUri } from './demo-data.js';

/** The text that the demonstration prints at every start: URLs, credentials, and commands to paste. */
export function demoBanner(settings: Settings, demo: DemoCredentials): string {
  const { baseUrl, brand } = settings;
  const redirectUri = demoRedirectUri(baseUrl);
  const authorizeUrl = (clientId: string, extra: Record<string, string> = {}) =>
    `${baseUrl}/o/authorize/?${new URLSearchParams({ response_type: 'code', client_id: clientId, redirect_uri: redirectUri, ...extra }).toString()}`;
  const { partnerClient: partner, sandboxClient: sandbox, appClient: app, operatorClient: operator } = demo;
  return `
${brand.name}: demonstration
${'='.repeat(`${brand.name}: demonstration`.length)}
Start page   ${baseUrl}/
Account      ${baseUrl}/account   (as the EV driver)
Portal       ${baseUrl}/portal/sign-in   (as the organisation, or its developer)
Console      ${baseUrl}/admin/console   (as the operator)
Mail         ${settings.mail ? 'is sent by SMTP_URL' : `${baseUrl}/demo/mail   (everything it would send)`}
API          ${baseUrl}/docs   (guides: ${baseUrl}/docs/guides)
Metadata     ${baseUrl}/.well-known/oauth-authorization-server
Data folder  ${settings.dataDir} (delete it to start over)

People (log in at ${baseUrl}/login)
  EV driver     ${demo.driver.email}   ${demo.driver.password}
  Organisation  ${demo.organisation.email}   ${demo.organisation.password}
  Developer     ${demo.developer.email}   ${demo.developer.password}   (a member of the organisation)
  Operator      ${demo.operator.email}   ${demo.operator.password}   (admin)
  Operator      ${demo.supportOperator.email}   ${demo.supportOperator.password}   (support)
  Operator      ${demo.viewerOperator.email}   ${demo.viewerOperator.password}   (viewer)
The driver and the operator can also log in with “Continue with Demo company”, without a password.

A partner's client (confidential)
  client_id      ${partner.id}
  client_secret  ${partner.secret}
The same partner's client in the sandbox, whose drivers are invented
  client_id      ${sandbox.id}
  client_secret  ${sandbox.secret}
A partner's native app (public, PKCE)
  client_id      ${app.id}
The operator's client (admin API, introspection)
  client_id      ${operator.id}
  client_secret  ${operator.secret}

1. A client-credentials token:

curl -s -u '${partner.id}:${partner.secret}' -d grant_type=client_credentials ${baseUrl}/o/token

2. A one-time link to the webhook portal (open what it prints in a browser):

TOKEN=$(curl -s -u '${partner.id}:${partner.secret}' -d grant_type=client_credentials ${baseUrl}/o/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -s -H "Authorization: Bearer $TOKEN" ${baseUrl}/webhook_portal

   The client's events, which the portal's endpoints receive, and what a type of event looks like:

curl -s -H "Authorization: Bearer $TOKEN" '${baseUrl}/v2/events?page_size=5'
curl -s ${baseUrl}/v2/event_types/charging_session.updated/versions/1/schema

3. An end user's consent. Open this in a browser, log in as the EV driver, and authorize. The page that follows
   shows a line "CODE=…": paste it here, and then the command below (within one minute):

${authorizeUrl(partner.id, { state: 'demo' })}

curl -s -u '${partner.id}:${partner.secret}' -d grant_type=authorization_code -d redirect_uri=${redirectUri} -d code=$CODE ${baseUrl}/o/token

   The same for the native app, with PKCE instead of a secret:

${authorizeUrl(app.id, { state: 'demo', code_challenge: app.codeChallenge, code_challenge_method: 'S256' })}

curl -s -d client_id=${app.id} -d grant_type=authorization_code -d redirect_uri=${redirectUri} -d code_verifier=${app.codeVerifier} -d code=$CODE ${baseUrl}/o/token

4. The admin API:

ADMIN=$(curl -s -u '${operator.id}:${operator.secret}' -d grant_type=client_credentials ${baseUrl}/o/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -s -H "Authorization: Bearer $ADMIN" ${baseUrl}/admin/clients

5. What a data service follows to know which introspections to forget. Disconnect an application on the account page while it runs:

curl -sN -H "Authorization: Bearer $ADMIN" ${baseUrl}/v2/access_changes

6. A partner's events on this machine, signed, where something listens on port 4000:

CHARGING_DATA_URL=${baseUrl} CHARGING_DATA_CLIENT_ID=${partner.id} CHARGING_DATA_CLIENT_SECRET='${partner.secret}' npx charging-data listen --forward http://localhost:4000/hooks

7. The sandbox: its drivers, and a charging session of one of them, 60 times faster:

SANDBOX=$(curl -s -u '${sandbox.id}:${sandbox.secret}' -d grant_type=client_credentials ${baseUrl}/o/token | sed 's/.*"access_token":"\\([^"]*\\)".*/\\1/')
curl -s -H "Authorization: Bearer $SANDBOX" ${baseUrl}/v2/sandbox/drivers
curl -s -H "Authorization: Bearer $SANDBOX" -H 'Content-Type: application/json' -d '{"speed": 60}' ${baseUrl}/v2/sandbox/drivers/${demo.sandboxDriver.id}/sessions

   A one-time link to its portal, which has the same and more on the page "Sandbox":

curl -s -H "Authorization: Bearer $SANDBOX" ${baseUrl}/webhook_portal

   A driver's consent, without a login (open it in a browser, then exchange the code as above, with this client):

${authorizeUrl(sandbox.id, { state: 'sandbox' })}
`;
}
