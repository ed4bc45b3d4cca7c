import type { VNode } from 'preact';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Buttons, LinkButton, PostButton } from '#platform/web/forms/form.js';
import { Moment } from '#platform/web/tables/moment.js';
import { Table } from '#platform/web/tables/table.js';
import type { Delivery } from '#events/webhooks/deliveries/delivery.js';
import { batchInWords } from '#events/webhooks/batches/batch.js';
import { EndpointFailing } from '#events/webhooks/endpoints/endpoint-failing.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import { CredentialsInWords } from '#events/webhooks/receiver-tokens/credential-fields.js';
import { clientPath } from '../clients/client-layout.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { ActionConfirmation } from '../pages/disconnection.js';
import { Id, NameLink, CommaList } from '../pages/lists.js';
import { CopiedOnce, ShownAlready, OneTimeValue } from '#platform/web/layout/one-time-value.js';
import { DELIVERIES_PATH, ENDPOINTS_PATH, endpointPath } from '../pages/resource-link.js';
import { deliveryColumns } from './deliveries.page.js';
import { EndpointState } from './endpoints.page.js';

interface Props {
  endpoint: EndpointEntity;
}

const ABOVE = { href: ENDPOINTS_PATH, label: 'Endpoints' };

interface EndpointPageProps extends Props {
  client: ClientEntity;
  /** The latest ones. */
  deliveries: Delivery[];
}

/** One endpoint: why it fails, its properties and latest deliveries, and actions on it. */
export function endpointPage({ endpoint, client, deliveries }: EndpointPageProps): ConsolePage {
  const { id, enabled } = endpoint;
  const turn = endpointPath(id, enabled ? 'disable' : 'enable');
  return {
    part: 'endpoints',
    title: endpoint.url,
    above: [ABOVE],
    actions: (
      <LinkButton look="quiet" href={endpointPath(id, 'edit')}>
        Edit
      </LinkButton>
    ),
    children: (
      <>
        <EndpointFailing endpoint={endpoint} deliveries={deliveries} />
        <Facts
          facts={[
            ['URL', <bdi>{endpoint.url}</bdi>],
            ['ID', <Id id={id} />],
            [
              'Client',
              <NameLink href={clientPath(client.id)} name={client.name} environment={client.environment} />,
            ],
            ['State', <EndpointState endpoint={endpoint} />],
            endpoint.description !== '' && ['Description', <bdi>{endpoint.description}</bdi>],
            ['Event types', <CommaList items={endpoint.eventTypes} />],
            endpoint.filters.length > 0 && ['Filters', <code>{JSON.stringify(endpoint.filters)}</code>],
            endpoint.maxPerMinute !== null && ['Attempts per minute', `at most ${endpoint.maxPerMinute}`],
            endpoint.ordered && ['Order', 'one after the other for each user'],
            endpoint.batch && ['Batches', batchInWords(endpoint.batch)],
            ['Signatures', <CommaList items={endpoint.signatureVersions} />],
            endpoint.headerNames.length > 0 && ['Headers', <CommaList items={endpoint.headerNames} />],
            endpoint.authentication && ['OAuth', <CredentialsInWords shown={endpoint.authentication} />],
            ['Last attempt', <At time={endpoint.lastAttemptAt} />],
            ['Failing since', <At time={endpoint.failingSince} none="not failing" />],
            endpoint.disabledAt && ['Disabled since', <Moment at={endpoint.disabledAt} />],
            ['Added', <Moment at={endpoint.createdAt} />],
          ]}
        />
        <Buttons>
          <LinkButton look="quiet" href={`${DELIVERIES_PATH}?endpoint_id=${id}`}>
            Deliveries
          </LinkButton>
          <LinkButton look="quiet" href={`/admin/console/audit?subject=${id}`}>
            Audit log
          </LinkButton>
          <PostButton action={turn} look="quiet">
            {enabled ? 'Disable' : 'Enable'}
          </PostButton>
        </Buttons>
        {deliveries.length > 0 && (
          <>
            <h2>Latest deliveries</h2>
            <Table
              caption="Latest deliveries"
              rows={deliveries}
              columns={deliveryColumns(new Map([[client.id, client.name]]))}
            />
          </>
        )}
        <Buttons heading="Delete the endpoint">
          <LinkButton look="danger" href={endpointPath(id, 'delete')}>
            Delete
          </LinkButton>
        </Buttons>
      </>
    ),
  };
}

const At = ({ time, none = 'never' }: { time: Date | null; none?: string }): VNode =>
  time ? <Moment at={time} /> : <>{none}</>;

/** Explains the consequences of deleting an endpoint before it is done. */
export function deleteEndpointPage({ endpoint }: Props): ConsolePage {
  return {
    part: 'endpoints',
    title: 'Delete endpoint',
    above: [ABOVE, { href: endpointPath(endpoint.id), label: endpoint.url }],
    children: (
      <ActionConfirmation
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
        submit="Delete endpoint"
        cancel={endpointPath(endpoint.id)}
      />
    ),
  };
}

/** The signing secret of a new endpoint, shown once; afterwards the page says that it was shown. */
export function endpointSecretPage({
  endpoint,
  secret,
}: Props & { secret: string | undefined }): ConsolePage {
  return {
    part: 'endpoints',
    title: secret === undefined ? 'Secret already shown' : 'Endpoint added',
    above: [ABOVE, { href: endpointPath(endpoint.id), label: endpoint.url }],
    children:
      secret === undefined ? (
        <ShownAlready note="The signing secret was already shown and is not shown again here. The partner can see it in the webhook portal.">
          <LinkButton href={endpointPath(endpoint.id)}>Go to the endpoint</LinkButton>
        </ShownAlready>
      ) : (
        <OneTimeValue
          note="Give the signing secret to the partner: it is shown only once here. They can also see it in the webhook portal."
          next={endpointPath(endpoint.id)}
        >
          <p>
            <CopiedOnce text={secret} />
          </p>
        </OneTimeValue>
      ),
  };
}
