import type { Settings } from '#platform/config/settings.js';
import { CLI_PACKAGE_PATH } from '#platform/http/server/downloads.js';
import { CHECKLIST_MARK } from '../going-live/checklist-mark.js';
import { duration } from './duration.js';
import { ERROR_INDEX } from './error-index.js';
import { exportOf } from './your-values.js';

/** Gets a client-credentials token and sets $ACCESS_TOKEN. */
const clientToken = (baseUrl: string): string => `\`\`\`sh file=token.sh
ANSWER=$(curl --fail-with-body --silent --show-error \\
  --user "$CLIENT_ID:$CLIENT_SECRET" \\
  --data grant_type=client_credentials \\
  ${baseUrl}/o/token)
printf '%s\\n' "$ANSWER"
ACCESS_TOKEN=$(printf %s "$ANSWER" | sed -n 's/.*"access_token":"\\([^"]*\\)".*/\\1/p')
\`\`\``;

/** What the pages say about the running service, by the placeholder that stands for it, such as `{{base_url}}`. */
export const placeholdersOf = (settings: Settings): Record<string, string> => ({
  base_url: settings.baseUrl,
  credentials: exportOf('CLIENT_ID', 'CLIENT_SECRET'),
  redirect_uri: exportOf('REDIRECT_URI'),
  environment: exportOf('CLIENT_ID', 'CLIENT_SECRET', 'REDIRECT_URI'),
  client_token: clientToken(settings.baseUrl),
  access_token_seconds: String(settings.accessTokenTtl),
  access_token_lifetime: duration(settings.accessTokenTtl),
  code_lifetime: duration(settings.authorizationCodeTtl),
  refresh_token_lifetime: duration(settings.refreshTokenTtl),
  grant_lifetime: duration(settings.grantTtl),
  refresh_grace: duration(settings.refreshGrace),
  portal_link_lifetime: duration(settings.portalLinkTtl),
  portal_session_lifetime: duration(settings.portalSessionTtl),
  retention: duration(settings.retentionDays * 86_400),
  rate_limit: String(settings.rateLimit),
  oauth_rate_limit: String(settings.oauthRateLimit),
  oauth_address_limit: String(settings.oauthRateLimit * 10),
  retry_schedule: settings.webhookRetrySchedule.map(duration).join(', '),
  cli_package: settings.baseUrl + CLI_PACKAGE_PATH,
  webhook_urls: settings.webhookAllowPrivateAddresses
    ? 'an `https` or `http` URL'
    : 'an `https` URL with a public address',
  checklist: CHECKLIST_MARK,
  ...ERROR_INDEX,
});

/** Puts the values in place of their placeholders. Throws for a placeholder that has none. */
export const fillIn = (source: string, values: Record<string, string>): string =>
  source.replace(/\{\{(\w+)\}\}/g, (_match, name: string) => {
    if (values[name] === undefined) throw new Error(`Nothing stands for {{${name}}}.`);
    return values[name];
  });
