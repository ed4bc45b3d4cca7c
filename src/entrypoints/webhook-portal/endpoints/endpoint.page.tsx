import type { VNode } from 'preact';
import { formatCount } from '#platform/web/charts/numbers.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Buttons, LinkButton, PostButton } from '#platform/web/forms/form.js';
import { ExactMoment, Moment } from '#platform/web/tables/moment.js';
import type { Delivery } from '#events/webhooks/deliveries/delivery.js';
import { RECOVERY_MAX } from '#events/webhooks/deliveries/recoveries.service.js';
import { linesOf, type EndpointHeaders } from '#events/webhooks/endpoints/endpoint-headers.js';
import { EndpointFailing } from '#events/webhooks/endpoints/endpoint-failing.js';
import { EndpointState } from '#events/webhooks/endpoints/endpoint-state.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { batchInWords } from '#events/webhooks/batches/batch.js';
import { CredentialsInWords } from '#events/webhooks/receiver-tokens/credential-fields.js';
import { Activity } from '../deliveries/activity.js';
import type { Range } from '#platform/web/charts/ranges.js';
import type { ActivityBucket } from '../deliveries/activity-buckets.js';
import { DeliveryRows } from '../deliveries/delivery-rows.js';
import { whyDisabled } from './endpoint-words.js';
import { TypeList } from './endpoint-list.js';
import { Address } from '#platform/web/tables/address-link.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { utcFieldValue } from '#platform/web/forms/utc-time.js';
import { webhookKeysPath } from '#events/webhooks/signing/webhook-keys.controller.js';
import { writtenKey } from '#events/webhooks/signing/webhook-keys.service.js';
import type { PublishedKey } from '#platform/http/api/published-key.js';
import { endpointPath } from './about-endpoint.js';
import { conditionText } from './filter-fields.js';

export interface EndpointPageProps {
  endpoint: EndpointEntity;
  /** The secret in clear text, only in the response that reveals it. */
  secret?: string;
  /** Its own headers with their values, likewise. */
  headers?: EndpointHeaders;
  /** The public keys that sign, of an endpoint that wants such signatures. */
  publicKeys?: PublishedKey[];
  /** When it was disabled, if what was missed was not sent yet. */
  missed?: { from: Date; to: Date };
  /** How many deliveries failed since it fails. */
  failed?: { count: number; from: Date; to: Date };
  buckets: ActivityBucket[];
  range: Range;
  /** The latest ones. */
  deliveries: Delivery[];
}

/** Everything about one endpoint, and all actions on it. */
export function endpointPage(props: EndpointPageProps): PortalPage {
  const { endpoint, buckets, range, deliveries, missed } = props;
  const path = endpointPath(endpoint.id);
  const reason = whyDisabled(endpoint);
  const isNew = endpoint.enabled && deliveries.length === 0;
  return {
    title: 'Endpoint',
    heading: <Address address={endpoint.url} />,
    part: 'endpoints',
    above: [{ href: '/portal', label: 'Overview' }],
    actions: (
      <LinkButton look={endpoint.enabled && !isNew ? undefined : 'quiet'} href={`${path}/test`}>
        Test
      </LinkButton>
    ),
    children: (
      <>
        {reason && (
          <p class="notice notice-error">
            <strong>Disabled by the service.</strong> {reason}
          </p>
        )}
        <Failing {...props} path={path} />
        {missed && <Missed {...missed} path={path} />}
        {isNew && (
          <div class="verdict">
            <Secret {...props} path={path} />
            <PostButton action={`${path}/test`} hidden={{ type: endpoint.eventTypes[0] }}>
              Send test
            </PostButton>
          </div>
        )}
        <Actions path={path} endpoint={endpoint} />
        <EndpointFacts endpoint={endpoint} />
        {!isNew && <Secret {...props} path={path} />}
        <PublicKeys {...props} path={path} />
        <OwnHeaders {...props} path={path} />
        <Activity path={path} endpointId={endpoint.id} buckets={buckets} range={range} />
        <section>
          <div class="section-head">
            <h2>Latest deliveries</h2>
            {deliveries.length > 0 && (
              <a href={`/portal/deliveries?endpoint=${endpoint.id}`}>All deliveries</a>
            )}
          </div>
          {deliveries.length === 0 ? (
            <p class="empty">No deliveries yet. Send a test to check that the endpoint works.</p>
          ) : (
            <DeliveryRows deliveries={deliveries} withEndpoint={false} place={`endpoint=${endpoint.id}`} />
          )}
        </section>
        <Buttons heading="Delete the endpoint">
          <LinkButton look="danger" href={`${path}/delete`}>
            Delete
          </LinkButton>
        </Buttons>
      </>
    ),
  };
}

/** Why it fails, with the way to recover what failed. */
function Failing({ endpoint, deliveries, failed, path }: EndpointPageProps & { path: string }): VNode {
  return (
    <EndpointFailing endpoint={endpoint} deliveries={deliveries}>
      {failed && failed.count > 0 && (
        <div class="entry-actions">
          <LinkButton
            look="quiet"
            href={`${path}/recover?${new URLSearchParams({ from: utcFieldValue(failed.from), to: utcFieldValue(failed.to) }).toString()}`}
          >
            Recover {failed.count > RECOVERY_MAX ? 'them' : formatCount(failed.count)}
          </LinkButton>
        </div>
      )}
    </EndpointFailing>
  );
}

function Missed({ from, to, path }: { from: Date; to: Date; path: string }): VNode {
  return (
    <div class="notice">
      <p>
        The endpoint was disabled from <Moment at={from} /> until <Moment at={to} />. Events of that time were
        not sent to it. They can be sent now, once, as far as they are kept and the users agree.
      </p>
      <div class="entry-actions">
        <PostButton action={`${path}/missed`} look="quiet">
          Send what was missed
        </PostButton>
      </div>
    </div>
  );
}

function Actions({ path, endpoint }: { path: string; endpoint: EndpointEntity }): VNode {
  return (
    <div class="entry-actions">
      <LinkButton look="quiet" href={`${path}/edit`}>
        Edit
      </LinkButton>
      {endpoint.enabled ? (
        <PostButton action={`${path}/disable`} look="quiet">
          Disable
        </PostButton>
      ) : (
        <PostButton action={`${path}/enable`}>Enable</PostButton>
      )}
      <LinkButton look="quiet" href={`${path}/recover`}>
        Recover
      </LinkButton>
    </div>
  );
}

function EndpointFacts({ endpoint }: { endpoint: EndpointEntity }): VNode {
  const { description, disabledAt, lastAttemptAt } = endpoint;
  const state = (
    <>
      <EndpointState endpoint={endpoint} />
      {disabledAt && (
        <>
          {' '}
          since <Moment at={disabledAt} />
        </>
      )}
    </>
  );
  return (
    <Facts
      facts={[
        ['State', state],
        description !== '' && ['Description', <bdi>{description}</bdi>],
        ['Event types', <TypeList names={endpoint.eventTypes} />],
        endpoint.filters.length > 0 && [
          'Filters',
          <ul>
            {endpoint.filters.map((condition) => (
              <li>
                <bdi>{conditionText(condition)}</bdi>
              </li>
            ))}
          </ul>,
        ],
        endpoint.maxPerMinute !== null && [
          'Attempts per minute',
          `At most ${formatCount(endpoint.maxPerMinute)}`,
        ],
        endpoint.ordered && ['Order', 'One after the other for each user'],
        endpoint.batch && ['Batches', batchInWords(endpoint.batch)],
        endpoint.authentication && ['OAuth', <CredentialsInWords shown={endpoint.authentication} />],
        ['Last attempt', lastAttemptAt ? <ExactMoment at={lastAttemptAt} /> : 'None yet'],
        ['Added', <Moment at={endpoint.createdAt} />],
        ['Endpoint ID', <code>{endpoint.id}</code>],
      ]}
    />
  );
}

function OwnHeaders({ endpoint, headers, path }: EndpointPageProps & { path: string }): VNode | null {
  if (endpoint.headerNames.length === 0) return null;
  return (
    <section>
      <h2>Headers</h2>
      <p>Every request carries them.</p>
      <pre tabIndex={0} role="region" aria-label="Headers">
        <code>{linesOf(endpoint.headerNames, headers)}</code>
      </pre>
      {headers === undefined ? (
        <div class="entry-actions">
          <PostButton action={`${path}/headers`} look="quiet">
            Reveal headers
          </PostButton>
        </div>
      ) : (
        <p class="hint">The values are hidden again when you leave this page.</p>
      )}
    </section>
  );
}

function PublicKeys({ endpoint, publicKeys = [], path }: EndpointPageProps & { path: string }): VNode | null {
  if (publicKeys.length === 0) return null;
  const address = webhookKeysPath(endpoint.clientId);
  return (
    <section>
      <h2>Public key</h2>
      <p>
        Every request has a <code>v1a</code> signature, which you check with this key and without a secret. It
        signs for all endpoints of the client. Programs read it from <a href={address}>{address}</a>.
      </p>
      {publicKeys.length > 1 && (
        <p class="notice">The key was rotated. The old one also signs until 24 hours after that.</p>
      )}
      <pre tabIndex={0} role="region" aria-label="Public key">
        <code>{publicKeys.map(writtenKey).join('\n')}</code>
      </pre>
      <div class="entry-actions">
        <LinkButton look="quiet" href={`${path}/rotate-key`}>
          Rotate key
        </LinkButton>
      </div>
    </section>
  );
}

function Secret({ endpoint, secret, path }: EndpointPageProps & { path: string }): VNode {
  const { previousSecretExpiresAt } = endpoint;
  const isRotating = previousSecretExpiresAt !== null && previousSecretExpiresAt > new Date();
  return (
    <section>
      <h2>Signing secret</h2>
      <p>
        Every request is signed with it, so that you can check that it comes from us.{' '}
        <a href="/portal/verify">How to verify a signature</a>
      </p>
      {isRotating && (
        <p class="notice">
          The secret was rotated. The old one is also valid until <Moment at={previousSecretExpiresAt} />.
        </p>
      )}
      <label for="signing-secret" class="visually-hidden">
        Signing secret
      </label>
      <input
        id="signing-secret"
        class="secret"
        data-copy={secret === undefined ? undefined : ''}
        type="text"
        readOnly
        autocomplete="off"
        spellcheck={false}
        value={secret ?? `whsec_${'•'.repeat(16)}`}
      />
      {secret !== undefined && (
        <p class="hint">
          Copy it now into the settings of your program. It is hidden again when you leave this page.
        </p>
      )}
      <div class="entry-actions">
        {secret === undefined && (
          <PostButton action={`${path}/secret`} look="quiet">
            Reveal secret
          </PostButton>
        )}
        <LinkButton look="quiet" href={`${path}/rotate`}>
          Rotate secret
        </LinkButton>
      </div>
    </section>
  );
}
