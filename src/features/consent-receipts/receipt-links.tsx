import type { VNode } from 'preact';
import type { ConnectedClient } from '#access/tokens/grants/connected-client.js';
import { hidden } from '#entrypoints/account/pages/message-parts.js';
import { Say, useText } from '#platform/web/layout/say.js';

/** The receipt of the newest version of the consent to an application. */
export const ReceiptLink = ({ client: { name, versionId } }: { client: ConnectedClient }): VNode | null =>
  versionId === null ? null : (
    <a href={`/account/receipts/${versionId}`}>
      <Say it="Receipt<hidden> of {name}</hidden>" with={{ name, hidden }} />
    </a>
  );

export function AllReceiptsLink(): VNode {
  const t = useText();
  return (
    <p>
      <a href="/account/receipts">{t('All receipts')}</a>
    </p>
  );
}
