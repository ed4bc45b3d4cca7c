import { usesKeys, type ClientEntity } from '#access/clients/client.entity.js';
import type { SecretInfo } from '#access/clients/client-secret.entity.js';
import type { EndpointInList } from '#events/webhooks/endpoints/endpoint-health.js';

/** Stands in the text of a guide where the checklist belongs. */
export const CHECKLIST_MARK = '@checklist@';

/** What is known of a live client that is about to be used. */
interface LiveFacts {
  client: ClientEntity;
  /** Newest first. */
  secrets: SecretInfo[];
  endpoints: EndpointInList[];
  /** Members of the organisation besides the owner's own account. */
  members: number;
  refusals: number;
}

const MINUTE_MS = 60_000;

/** Undefined for what does not concern the client. */
type Verdict = boolean | undefined;

export interface Check {
  title: string;
  /** What is meant, and where it is done. */
  hint: string;
  judge: (facts: LiveFacts) => Verdict | Promise<Verdict>;
}

const isForDevelopment = (uri: string): boolean =>
  /^http:\/\/(localhost|127\.0\.0\.1|\[::1\])[:/]?/.test(uri);

/** Earlier secrets are no longer listed after a while; the first one is made with the client. */
const wasRotated = ({ createdAt }: ClientEntity, [newest, ...earlier]: SecretInfo[]): boolean =>
  earlier.length > 0 ||
  (newest !== undefined && newest.createdAt.getTime() - createdAt.getTime() > MINUTE_MS);

const hasSecret = (client: ClientEntity): boolean => client.type === 'confidential' && !usesKeys(client);

const enabled = ({ endpoints }: LiveFacts): EndpointInList[] => endpoints.filter((each) => each.enabled);

/** What the service can see of the way to live use: a plain list for everybody, judged for a member. */
export const GOING_LIVE_CHECKS: readonly Check[] = [
  {
    title: 'You have a live client',
    hint: 'Your contact registers one for each application. Test and live do not share one.',
    judge: () => true,
  },
  {
    title: 'Its redirect URIs are the live ones',
    hint: 'At least one is registered, and none leads to localhost. Ask for changes on the page Redirect URIs of the portal.',
    judge: ({ client: { grantTypes, redirectUris } }) =>
      grantTypes.includes('authorization_code')
        ? redirectUris.length > 0 && !redirectUris.some(isForDevelopment)
        : undefined,
  },
  {
    title: 'Users can read who you are',
    hint: 'The consent page shows your site and your privacy policy. Tell your contact both addresses.',
    judge: ({ client: { grantTypes, site, privacyPolicy } }) =>
      grantTypes.includes('authorization_code') ? site !== null && privacyPolicy !== null : undefined,
  },
  {
    title: 'The secret was rotated once',
    hint: 'So you know that your programs can take a new one without a break. Rotate it on the page Credentials of the portal.',
    judge: ({ client, secrets }) => (hasSecret(client) ? wasRotated(client, secrets) : undefined),
  },
  {
    title: 'The newest secret is in use',
    hint: 'Your live program has got a token with it.',
    judge: ({ client, secrets: [newest] }) =>
      hasSecret(client) ? newest !== undefined && newest.lastUsedAt !== null : undefined,
  },
  {
    title: 'A webhook endpoint is enabled',
    hint: 'Add it in the portal. If you read the events feed instead, you need none.',
    judge: (facts) => enabled(facts).length > 0,
  },
  {
    title: 'Deliveries arrive',
    hint: 'Each enabled endpoint has answered a delivery with 2xx at its present URL, and none is failing. Send a test from the page of the endpoint.',
    judge: (facts) =>
      enabled(facts).length > 0 &&
      // An endpoint that was enabled again is not failing, although it has never succeeded.
      enabled(facts).every(({ hasSucceeded, failingSince }) => hasSucceeded && failingSince === null),
  },
  {
    title: 'More than one person can open the portal',
    hint: 'Invite members on the page Members of the portal, each with the least role that will do.',
    judge: (facts) => facts.members > 0,
  },
  {
    title: 'Nothing was refused in the last 24 hours',
    hint: 'The page Refusals of the portal says what was, and why.',
    judge: (facts) => facts.refusals === 0,
  },
];
