import {
  DISABLED_BECAUSE,
  type EndpointDisabledReason,
  type EndpointEntity,
} from '#events/webhooks/endpoints/endpoint.entity.js';

type Health = Pick<EndpointEntity, 'enabled' | 'disabledReason' | 'failingSince'>;

const WHAT_TO_DO: Record<EndpointDisabledReason, string> = {
  gone: ', which asks us to stop sending. If that was a mistake, fix it and enable it again.',
  failing: '. Fix it, enable it again, and recover the failed deliveries.',
};

/** Why the service disabled an endpoint, and what to do; undefined if it did not. */
export function whyDisabled({ enabled, disabledReason }: Health): string | undefined {
  if (enabled || disabledReason === null) return undefined;
  return `It ${DISABLED_BECAUSE[disabledReason]}${WHAT_TO_DO[disabledReason]}`;
}

/** The share of successful deliveries as a whole percentage, 100 only if all succeeded; undefined without attempts. */
export function successRate({
  delivered,
  failed,
}: {
  delivered: number;
  failed: number;
}): string | undefined {
  const all = delivered + failed;
  if (all === 0) return undefined;
  const percent = (100 * delivered) / all;
  const whole = failed === 0 ? 100 : delivered === 0 ? 0 : Math.min(99, Math.max(1, Math.round(percent)));
  return `${whole} %`;
}
