import type { VNode } from 'preact';
import type { ClientEntity } from '../../../clients/client.entity.js';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import { Moment } from '../../../http/pages/moment.js';
import type { EndpointEntity } from '../../../webhooks/endpoints/endpoint.entity.js';
import { clientPath } from '../clients/client-frame.js';
import { renderConsolePage, type ConsoleFrame } from '../pages/console-layout.js';
import { Ending } from '../pages/ending.js';
import { Facts, Id, Words } from '../pages/lists.js';
import { DELIVERIES_PATH, ENDPOINTS_PATH, endpointPath } from './endpoint-paths.js';
import { EndpointState } from './endpoints.page.js';

interface Props {
  frame: ConsoleFrame;
  endpoint: EndpointEntity;
}

const ABOVE = { href: ENDPOINTS_PATH, label: 'Endpoints' };

/** One endpoint: what it is, and what can be done with it. */
export function endpointPage({
  frame,
  endpoint,
  client,
  tokenFor,
}: Props & { client: ClientEntity; tokenFor: (path: string) => string }): string {
  const { id, enabled } = endpoint;
  const turn = endpointPath(id, enabled ? 'disable' : 'enable');
  return renderConsolePage({
    frame,
    part: 'endpoints',
    title: endpoint.url,
    above: [ABOVE],
    actions: (
      <a class="button-link quiet" href={endpointPath(id, 'edit')}>
        Change
      </a>
    ),
    children: (
      <>
        <Facts
          facts={[
            ['Id', <Id id={id} />],
            [
              'Client',
              <a href={clientPath(client.id)}>
                <bdi>{client.name}</bdi>
              </a>,
            ],
            ['State', <EndpointState endpoint={endpoint} />],
            ...(endpoint.description
              ? [['Description', <bdi>{endpoint.description}</bdi>] as [string, VNode]]
              : []),
            ['Event types', <Words words={endpoint.eventTypes} />],
            ['Last attempt', <At time={endpoint.lastAttemptAt} />],
            ['Failing since', <At time={endpoint.failingSince} none="it is not" />],
            ...(endpoint.disabledAt
              ? [['Disabled since', <Moment at={endpoint.disabledAt} />] as [string, VNode]]
              : []),
            ['Added', <Moment at={endpoint.createdAt} />],
          ]}
        />
        <div class="console-buttons">
          <a class="button-link quiet" href={`${DELIVERIES_PATH}?endpoint_id=${id}`}>
            Its deliveries
          </a>
          <a class="button-link quiet" href={`/admin/console/audit?subject=${id}`}>
            Trail
          </a>
          <form method="post" action={turn}>
            <CsrfField token={tokenFor(turn)} />
            <button type="submit" class="quiet">
              {enabled ? 'Disable' : 'Enable'}
            </button>
          </form>
          <a class="button-link quiet" href={endpointPath(id, 'delete')}>
            Delete
          </a>
        </div>
      </>
    ),
  });
}

const At = ({ time, none = 'never' }: { time: Date | null; none?: string }): VNode =>
  time ? <Moment at={time} /> : <>{none}</>;

/** Says what deleting an endpoint means, before it happens. */
export function deleteEndpointPage({ frame, endpoint, csrfToken }: Props & { csrfToken: string }): string {
  return renderConsolePage({
    frame,
    part: 'endpoints',
    title: 'Delete the endpoint',
    above: [ABOVE, { href: endpointPath(endpoint.id), label: endpoint.url }],
    children: (
      <Ending
        question={
          <>
            Delete <bdi class="name">{endpoint.url}</bdi>?
          </>
        }
        consequences={[
          'Nothing more is sent to it, not even what is waiting.',
          'What it was sent stays listed for as long as deliveries are kept.',
          'Its secret is gone. An endpoint with the same address gets another.',
        ]}
        action={endpointPath(endpoint.id, 'delete')}
        csrfToken={csrfToken}
        submit="Delete the endpoint"
        back={endpointPath(endpoint.id)}
      />
    ),
  });
}

/** The signing secret of a new endpoint. */
export function endpointSecretPage({ frame, endpoint, secret }: Props & { secret: string }): string {
  return renderConsolePage({
    frame,
    part: 'endpoints',
    title: 'The endpoint is added',
    above: [ABOVE, { href: endpointPath(endpoint.id), label: endpoint.url }],
    children: (
      <>
        <p class="notice" role="status">
          Give the signing secret to the partner. They can also see it in the webhook portal.
        </p>
        <p>
          <code class="secret">{secret}</code>
        </p>
        <p class="console-buttons">
          <a class="button-link" href={endpointPath(endpoint.id)}>
            I have copied it
          </a>
        </p>
      </>
    ),
  });
}
