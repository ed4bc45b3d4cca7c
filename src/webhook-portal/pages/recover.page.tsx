import type { VNode } from 'preact';
import { CsrfField } from '../../http/pages/csrf-field.js';
import { ExactMoment } from '../../http/pages/moment.js';
import { RECOVERY_MAX } from '../../webhooks/deliveries/deliveries.service.js';
import type { EndpointEntity } from '../../webhooks/endpoints/endpoint.entity.js';
import type { RecoveryInput, RecoveryQuery } from '../recovery-query.js';
import { TimeField } from './time-field.js';
import { renderPortalPage, type PortalLayoutProps } from './portal-layout.js';

export interface RecoverPageProps {
  layoutProps: PortalLayoutProps;
  csrfToken: string;
  endpoint: EndpointEntity;
  query: RecoveryQuery;
  /** The number of failed deliveries; undefined if the times are invalid. */
  count?: number;
}

/** Asks for a time range, shows how many deliveries failed in it, and resends them. */
export function recoverPage({ layoutProps, csrfToken, endpoint, query, count }: RecoverPageProps): string {
  const path = `/portal/endpoints/${endpoint.id}`;
  const { input, errors } = query;
  return renderPortalPage({
    layoutProps,
    title: 'Recover failed deliveries',
    part: 'endpoints',
    above: { href: path, label: 'Endpoint' },
    children: (
      <>
        <p class="lead">
          <bdi>{endpoint.url}</bdi>
        </p>
        <p>
          Use this after an outage of your endpoint: everything that failed between two times is resent.
          Deliveries that are still being retried are not affected.
        </p>
        <form method="get" class="filter">
          <TimeField id="from" label="From (UTC)" value={input.from} error={errors.from} />
          <TimeField id="to" label="Until (UTC)" value={input.to} error={errors.to} />
          <div class="filter-actions">
            <button type="submit" class="quiet">
              Count
            </button>
          </div>
        </form>
        {count !== undefined && query.range && (
          <div class="outcome" role="status">
            <p>
              <strong>{count === 0 ? 'Nothing' : counted(count)}</strong> failed from{' '}
              <ExactMoment at={query.range.from} /> until <ExactMoment at={query.range.to} />.
            </p>
            {count > RECOVERY_MAX && (
              <p>
                One recovery resends at most {counted(RECOVERY_MAX)}, the oldest first. Recover again for the
                rest.
              </p>
            )}
            {count > 0 &&
              (endpoint.enabled ? (
                <RecoverForm action={`${path}/recover`} csrfToken={csrfToken} input={input} />
              ) : (
                <p>
                  The endpoint is disabled. <a href={path}>Enable it</a> first.
                </p>
              ))}
          </div>
        )}
      </>
    ),
  });
}

interface RecoverFormProps {
  action: string;
  csrfToken: string;
  input: RecoveryInput;
}

function RecoverForm({ action, csrfToken, input }: RecoverFormProps): VNode {
  return (
    <form method="post" action={action}>
      <CsrfField token={csrfToken} />
      <input type="hidden" name="from" value={input.from} />
      <input type="hidden" name="to" value={input.to} />
      <div class="actions actions-row">
        <button type="submit">Recover</button>
      </div>
    </form>
  );
}

/** A number of deliveries as text. */
export const counted = (count: number): string =>
  count === 1 ? '1 delivery' : `${count.toLocaleString('en-GB')} deliveries`;
