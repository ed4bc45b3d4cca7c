import { FilterForm, PageForm } from '#platform/web/forms/form.js';
import { ExactMoment } from '#platform/web/tables/moment.js';
import { RECOVERY_MAX } from '#events/webhooks/deliveries/recoveries.service.js';
import type { EndpointEntity } from '#events/webhooks/endpoints/endpoint.entity.js';
import type { RecoveryQuery } from './recovery-query.js';
import type { PortalPage } from '../frame/portal-layout.js';
import { timeField } from '#platform/web/forms/field.js';
import { aboutEndpoint, endpointPath } from '../endpoints/about-endpoint.js';

export interface RecoverPageProps {
  endpoint: EndpointEntity;
  query: RecoveryQuery;
  /** The number of failed deliveries; undefined if the times are invalid. */
  count?: number;
}

/** Asks for a time range, shows how many deliveries of it failed, and resends them. */
export function recoverPage({
  endpoint,
  query: { input, errors, range },
  count,
}: RecoverPageProps): PortalPage {
  return aboutEndpoint(endpoint.id, {
    title: 'Recover failed deliveries',
    children: (
      <>
        <p class="lead">
          <bdi>{endpoint.url}</bdi>
        </p>
        <p>
          Use this after an outage of your endpoint: of the deliveries that were created between two times,
          all that have failed are resent. Deliveries that are still being retried are not affected.
        </p>
        <FilterForm
          values={{ ...input }}
          errors={errors}
          submit="Count"
          fields={[timeField('from', 'From (UTC)'), timeField('to', 'Until (UTC)')]}
        />
        {count !== undefined && range && (
          <div class="outcome" role="status">
            <p>
              <strong>
                {count > RECOVERY_MAX && 'More than '}
                {count === 0 ? 'Nothing' : counted(Math.min(count, RECOVERY_MAX))}
              </strong>{' '}
              failed that {count > 1 ? 'were' : 'was'} created from <ExactMoment at={range.from} /> until{' '}
              <ExactMoment at={range.to} />.
            </p>
            {count > RECOVERY_MAX && (
              <p>
                One recovery resends at most {counted(RECOVERY_MAX)}, the oldest first. Recover again for the
                rest.
              </p>
            )}
            {count > 0 &&
              (endpoint.enabled ? (
                <PageForm
                  action={endpointPath(endpoint.id, 'recover')}
                  hidden={{ ...input }}
                  submit="Recover"
                />
              ) : (
                <p>
                  The endpoint is disabled. <a href={endpointPath(endpoint.id)}>Enable it</a> first.
                </p>
              ))}
          </div>
        )}
      </>
    ),
  });
}

/** A number of deliveries as text. */
export const counted = (count: number): string =>
  count === 1 ? '1 delivery' : `${count.toLocaleString('en-GB')} deliveries`;
