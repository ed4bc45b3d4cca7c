import type { ComponentChildren, VNode } from 'preact';
import { Facts } from '../tables/facts.js';
import { Moment } from '../tables/moment.js';
import { CopiedOnce, ShownAlready, OneTimeValue } from './one-time-value.js';

/** A client's new secret, passed on to the page that shows it once. */
export interface ShownSecret {
  secret: string;
  /** Whether it is the first of the client. */
  isNew?: boolean;
  /** ISO 8601; null if there were no previous secrets. */
  previousSecretExpiresAt: string | null;
}

/** The title of the page with the secret of an existing client, or of that without one. */
export const newSecretTitle = (shown: ShownSecret | undefined): string =>
  shown ? 'New secret' : 'Secret already shown';

export interface NewClientSecretProps {
  clientId: string;
  /** Undefined if it was shown already. */
  shown: ShownSecret | undefined;
  next: string;
  /** The ways on if it was shown already. */
  children: ComponentChildren;
}

/** A client's new secret, shown once; afterwards that it was shown. */
export const NewClientSecret = ({ clientId, shown, next, children }: NewClientSecretProps): VNode =>
  shown ? (
    <OneTimeValue note="Copy the secret now and keep it safe: it is shown only once." next={next}>
      <Facts
        facts={[
          ['Client ID', <code class="id">{clientId}</code>],
          ['Client secret', <CopiedOnce text={shown.secret} />],
          !shown.isNew && ['Previous secrets', previousText(shown.previousSecretExpiresAt)],
        ]}
      />
    </OneTimeValue>
  ) : (
    <ShownAlready note="The secret was already shown and cannot be shown again. If nobody copied it, rotate the secret.">
      {children}
    </ShownAlready>
  );

function previousText(until: string | null): VNode {
  if (until === null) return <>none</>;
  const time = new Date(until);
  if (time.getTime() <= Date.now()) return <>ended</>;
  return (
    <>
      valid until <Moment at={time} />
    </>
  );
}
