import type { VNode } from 'preact';
import type { FilterField } from '#platform/web/forms/form.js';
import { SandboxBadge } from '#platform/web/layout/sandbox-badge.js';
import type { Environment } from '#access/users/accounts/environment.js';

/** The environment of a client or a user, in words. */
export const EnvironmentName = ({ of }: { of: { environment: Environment } }): VNode =>
  of.environment === 'sandbox' ? <SandboxBadge of={of} /> : <>live</>;

/** The choice of an environment in the filter of a list; `all` is what the list shows without one. */
export const environmentFilter = (all: 'Live and sandbox' | 'Live'): FilterField => ({
  name: 'environment',
  label: 'Environment',
  options: [
    { value: '', label: all },
    ...(all === 'Live' ? [] : [{ value: 'live', label: 'Live' }]),
    { value: 'sandbox', label: 'Sandbox' },
  ],
});
