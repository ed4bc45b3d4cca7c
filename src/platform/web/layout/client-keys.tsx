import type { VNode } from 'preact';
import { PostButton } from '../forms/form.js';
import { Hour } from '../tables/moment.js';
import { Table } from '../tables/table.js';

/** A registered key, as pages show it. */
interface ShownKey {
  thumbprint: string;
  kid: string | undefined;
  algorithm: string;
  lastUsedAt: Date | null;
}

interface ClientKeysProps {
  client: { jwksUri: string | null };
  keys: ShownKey[];
  /** Where a key is ended, for those who may; the only one cannot be. */
  endAt?: string;
}

/** What the requests and tokens of a client have to prove. */
interface ShownRequirements {
  requirePkce: boolean;
  requirePushedAuthorizationRequests: boolean;
  dpopBoundAccessTokens: boolean;
  securityProfile: string | null;
}

/** The same as facts of a page; nothing for what is not required. */
export const requirementsOf = (client: ShownRequirements): (false | [string, string])[] => [
  client.requirePkce && ['PKCE', 'required'],
  client.requirePushedAuthorizationRequests && ['Pushed authorization requests', 'required'],
  client.dpopBoundAccessTokens && ['DPoP', 'required'],
  client.securityProfile !== null && ['Security profile', 'FAPI 2.0'],
];

/** The public keys with which a client authenticates. */
export function ClientKeys({ client, keys, endAt }: ClientKeysProps): VNode {
  const columns = [
    { head: 'Key ID', cell: ({ kid }: ShownKey) => (kid === undefined ? 'none' : <bdi>{kid}</bdi>) },
    { head: 'Algorithm', cell: ({ algorithm }: ShownKey) => algorithm, onPhone: 'named' as const },
    {
      head: 'Thumbprint',
      cell: ({ thumbprint }: ShownKey) => <code class="id">{thumbprint}</code>,
      onPhone: 'unfolded' as const,
    },
    {
      head: 'Last used',
      cell: ({ lastUsedAt }: ShownKey) => (lastUsedAt ? <Hour at={lastUsedAt} /> : 'not lately'),
      onPhone: 'named' as const,
    },
  ];
  const ending = {
    head: 'Actions',
    onPhone: 'unfolded' as const,
    cell: ({ thumbprint, kid }: ShownKey) => (
      <PostButton action={endAt ?? ''} hidden={{ key: thumbprint }} look="danger">
        End now<span class="visually-hidden"> the key {kid ?? thumbprint}</span>
      </PostButton>
    ),
  };
  const canEnd = endAt !== undefined && keys.length > 1;
  return (
    <>
      <h2>Public keys</h2>
      {client.jwksUri !== null ? (
        <p>
          They are fetched from <code>{client.jwksUri}</code> when they are needed.
        </p>
      ) : (
        <>
          <Table
            caption="Public keys"
            rows={keys}
            columns={canEnd ? [...columns, ending] : columns}
            unfolds
          />
          <p class="muted">When a key was last used is known to the hour, and noted within a few seconds.</p>
        </>
      )}
    </>
  );
}
