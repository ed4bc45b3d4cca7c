import type { Settings } from '#platform/config/settings.js';
import { CLI_PACKAGE_PATH } from '#platform/http/server/downloads.js';
import {
  AUTHORIZATION_ERROR_KINDS,
  OAUTH_ERROR_KINDS,
  type OAuthErrorKind,
} from '#platform/http/problems/oauth-error-kinds.js';
import { PROBLEM_KINDS, type ProblemKind } from '#platform/http/problems/problem-kinds.js';
import { CHECKLIST_MARK } from '../going-live/going-live-checks.js';
import { exportOf } from './your-values.js';

const oauthErrors = (kinds: Record<string, OAuthErrorKind>): string =>
  Object.entries(kinds)
    .map(([code, { cause, whatToDo }]) => `### ${code}\n\n${cause}\n\n**What to do:** ${whatToDo}`)
    .join('\n\n');

const problems = (kinds: Record<string, ProblemKind>): string =>
  Object.entries(kinds)
    .map(
      ([slug, { status, title, explanation, whatToDo }]) =>
        `### ${status} ${slug}\n\n${title}: ${explanation}\n\n**What to do:** ${whatToDo} The \`type\` is [/v2/problems/${slug}/](/v2/problems/${slug}/).`,
    )
    .join('\n\n');

/** Every error that the service can answer with, in Markdown, from the catalogues that the answers themselves are made from. */
const ERROR_INDEX = {
  oauth_errors: oauthErrors(OAUTH_ERROR_KINDS),
  authorization_errors: oauthErrors(AUTHORIZATION_ERROR_KINDS),
  problems: problems(PROBLEM_KINDS),
};

const UNITS: [seconds: number, name: string][] = [
  [86_400, 'day'],
  [3600, 'hour'],
  [60, 'minute'],
  [1, 'second'],
];

/** A setting in seconds as people say it: in the largest unit that divides it, so that nothing is rounded. */
export function duration(seconds: number): string {
  const [size, name] = UNITS.find(([each]) => seconds % each === 0 && seconds >= each) ?? [1, 'second'];
  const count = seconds / size;
  return `${count} ${name}${count === 1 ? '' : 's'}`;
}

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
