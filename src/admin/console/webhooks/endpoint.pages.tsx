import type { VNode } from 'preact';
import type { ClientEntity } from '../../../clients/client.entity.js';
import { Facts } from '../../../http/pages/facts.js';
import { CsrfField } from '../../../http/pages/csrf-field.js';
import { Moment } from '../../../http/pages/moment.js';
import { ErrorNotice } from '../../../http/pages/notices.js';
import type { EndpointEntity } from '../../../webhooks/endpoints/endpoint.entity.js';
import { clientPath } from '../clients/client-layout.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { renderConsolePage } from '../pages/console-layout.js';
import { Ending } from '../pages/ending.js';
import { Id, Words } from '../pages/lists.js';
import { CopiedOnce } from '../pages/shown-once.js';
import { DELIVERIES_PATH, ENDPOINTS_PATH, endpointPath } from './endpoint-paths.js';
import { EndpointState } from './endpoints.page.js';

interface Props {
  layoutProps: UserLayoutProps;
  endpoint: EndpointEntity;
}

const ABOVE = { href: ENDPOINTS_PATH, label: 'Endpoints' };

/** One endpoint: its properties, and actions on it. */
export function endpointPage({
  layoutProps,
  endpoint,
  client,
  tokenFor,
}: Props & { client: ClientEntity; tokenFor: (path: string) => string }): string {
  const { id, enabled } = endpoint;
  const turn = endpointPath(id, enabled ? 'disable' : 'enable');
  return renderConsolePage({
    layoutProps,
    part: 'endpoints',
    title: endpoint.url,
    above: [ABOVE],
    actions: (
      <a class="button-link quiet" href={endpointPath(id, 'edit')}>
        Edit{' '}
      </a>
    ),
    children: (
      <>
        <Facts
          facts={[
            ['URL', <bdi>{endpoint.url}</bdi>],
            ['ID', <Id id={id} />],
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
            ['Failing since', <At time={endpoint.failingSince} none="not failing" />],
            ...(endpoint.disabledAt
              ? [['Disabled since', <Moment at={endpoint.disabledAt} />] as [string, VNode]]
              : []),
            ['Added', <Moment at={endpoint.createdAt} />],
          ]}
        />
        <div class="console-buttons">
          <a class="button-link quiet" href={`${DELIVERIES_PATH}?endpoint_id=${id}`}>
            Deliveries
          </a>
          <a class="button-link quiet" href={`/admin/console/audit?subject=${id}`}>
            Audit log{' '}
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

/** Explains the consequences of deleting an endpoint before it is done. */
export function deleteEndpointPage({
  layoutProps,
  endpoint,
  csrfToken,
}: Props & { csrfToken: string }): string {
  return renderConsolePage({
    layoutProps,
    part: 'endpoints',
    title: 'Delete endpoint',
    above: [ABOVE, { href: endpointPath(endpoint.id), label: endpoint.url }],
    children: (
      <Ending
        question={
          <>
            Delete <bdi class="name">{endpoint.url}</bdi>?
          </>
        }
        consequences={[
          'Nothing more is sent to it, including pending deliveries.',
          'Past deliveries stay listed for as long as deliveries are kept.',
          'Its secret is deleted. A new endpoint with the same URL gets a new secret.',
        ]}
        action={endpointPath(endpoint.id, 'delete')}
        csrfToken={csrfToken}
        submit="Delete endpoint"
        back={endpointPath(endpoint.id)}
      />
    ),
  });
}

/** The signing secret of a new endpoint, shown once; afterwards the page says that it was shown. */
export function endpointSecretPage({
  layoutProps,
  endpoint,
  secret,
}: Props & { secret: string | undefined }): string {
  return renderConsolePage({
    layoutProps,
    part: 'endpoints',
    title: secret === undefined ? 'Secret already shown' : 'Endpoint added',
    above: [ABOVE, { href: endpointPath(endpoint.id), label: endpoint.url }],
    withScript: true,
    children:
      secret === undefined ? (
        <>
          <ErrorNotice>
            The signing secret was already shown and is not shown again here. The partner can see it in the
            webhook portal.
          </ErrorNotice>
          <p class="console-buttons">
            <a class="button-link" href={endpointPath(endpoint.id)}>
              Go to the endpoint
            </a>
          </p>
        </>
      ) : (
        <>
          <p class="notice" role="status">
            Give the signing secret to the partner: it is shown only once here. They can also see it in the
            webhook portal.
          </p>
          <p>
            <CopiedOnce text={secret} />
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
