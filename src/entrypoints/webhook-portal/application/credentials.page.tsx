import type { VNode } from 'preact';
import type { SecretInfo } from '#access/clients/client-secret.entity.js';
import { usesKeys, type ClientEntity } from '#access/clients/client.entity.js';
import type { KeyInfo } from '#access/clients/keys/key-info.js';
import { ClientKeys, requirementsOf } from '#platform/web/layout/client-keys.js';
import { SelectField, TextArea, type FieldErrors } from '#platform/web/forms/field.js';
import { LinkButton, PageForm, PostButton } from '#platform/web/forms/form.js';
import { NewClientSecret, newSecretTitle, type ShownSecret } from '#platform/web/layout/new-client-secret.js';
import { ErrorNotice } from '#platform/web/layout/notices.js';
import { Facts } from '#platform/web/tables/facts.js';
import { Hour, RecentMoment } from '#platform/web/tables/moment.js';
import { State } from '#platform/web/tables/state.js';
import { Table } from '#platform/web/tables/table.js';
import { AdminNotice, type AdminState } from '../frame/admin-notice.js';
import type { PortalPage } from '../frame/portal-layout.js';

export const CREDENTIALS_PATH = '/portal/credentials';
export const NEW_SECRET_PATH = `${CREDENTIALS_PATH}/secret`;

/** How long an old secret may be kept, in seconds. */
export const OVERLAPS = [
  { value: '0', label: 'Not at all: it ends at once' },
  { value: '3600', label: '1 hour' },
  { value: '86400', label: '1 day' },
  { value: '604800', label: '7 days' },
];
const DEFAULT_OVERLAP = '86400';

export interface CredentialsPageProps {
  client: ClientEntity;
  /** Newest first. */
  secrets: SecretInfo[];
  keys: KeyInfo[];
  /** Identifies the newest secret: the form rotates no other. */
  newest: string;
  state: AdminState;
  keep?: string;
  jwk?: string;
  errors?: FieldErrors;
}

/** The client's id and its secrets, with the forms to rotate and to end them. */
export function credentialsPage(props: CredentialsPageProps): PortalPage {
  const { client, secrets, state, errors } = props;
  const isPublic = client.type === 'public';
  return {
    title: 'Credentials',
    part: 'credentials',
    children: (
      <>
        {errors?.form && <ErrorNotice>{[errors.form].flat().join(' ')}</ErrorNotice>}
        <Facts
          facts={[
            ['Client ID', <code class="secret">{client.id}</code>],
            ['Type', client.type],
            ...requirementsOf(client),
          ]}
        />
        {isPublic ? (
          <p class="empty">This is a public client, so it has no secret.</p>
        ) : usesKeys(client) ? (
          <Keys {...props} />
        ) : (
          <>
            <h2>Secrets</h2>
            <Secrets secrets={secrets} state={state} />
            <h2>Rotate the secret</h2>
            <p>
              The client gets a new secret. While the old one is still valid, it can switch without downtime.
              Other old secrets end with it, or earlier.
            </p>
            <AdminNotice state={state} what="rotate the secret" path={CREDENTIALS_PATH} />
            {state === 'confirmed' && <RotateForm {...props} />}
          </>
        )}
      </>
    ),
  };
}

const Keys = ({ client, keys, state, jwk = '', errors = {} }: CredentialsPageProps): VNode => (
  <>
    <p>This client authenticates with keys, so it has no secret.</p>
    <ClientKeys
      client={client}
      keys={keys}
      endAt={state === 'confirmed' ? `${CREDENTIALS_PATH}/keys/end` : undefined}
    />
    {client.jwksUri === null && (
      <>
        <h2>Add a key</h2>
        <p>Add the new public key first, sign with it, and then end the old one.</p>
        <AdminNotice state={state} what="add a key" path={CREDENTIALS_PATH} />
        {state === 'confirmed' && (
          <PageForm
            action={`${CREDENTIALS_PATH}/keys/add`}
            sentOnce
            values={{ jwk }}
            errors={errors.jwk ? { jwk: errors.jwk } : {}}
            submit="Add key"
          >
            <TextArea
              name="jwk"
              label="Public key"
              hint="A JWK for ES256, PS256 or EdDSA, without private members."
              spellcheck={false}
            />
          </PageForm>
        )}
      </>
    )}
  </>
);

const RotateForm = ({ newest, keep = DEFAULT_OVERLAP, errors = {} }: CredentialsPageProps): VNode => (
  <PageForm
    action={`${CREDENTIALS_PATH}/rotate`}
    hidden={{ newest }}
    sentOnce
    values={{ keep }}
    errors={errors.keep ? { keep: errors.keep } : {}}
    submit="Rotate secret"
  >
    <SelectField name="keep" label="Keep the old secret for" options={OVERLAPS} />
  </PageForm>
);

function Secrets({ secrets, state }: { secrets: SecretInfo[]; state: AdminState }): VNode {
  const newest = secrets[0]?.name;
  const columns = [
    { head: 'Created', cell: ({ createdAt }: SecretInfo) => <RecentMoment at={createdAt} /> },
    {
      head: 'State',
      cell: (secret: SecretInfo) => <SecretState secret={secret} isNewest={secret.name === newest} />,
      onPhone: 'beside' as const,
    },
    {
      head: 'Ends',
      cell: ({ expiresAt }: SecretInfo) =>
        expiresAt ? <RecentMoment at={expiresAt} /> : 'when it is rotated',
      onPhone: 'named' as const,
    },
    {
      head: 'Last used',
      cell: ({ lastUsedAt }: SecretInfo) => (lastUsedAt ? <Hour at={lastUsedAt} /> : 'not yet'),
      onPhone: 'unfolded' as const,
    },
  ];
  const ending = {
    head: 'Actions',
    onPhone: 'unfolded' as const,
    cell: ({ name, isExpired, createdAt }: SecretInfo) =>
      name !== newest &&
      !isExpired && (
        <PostButton action={`${CREDENTIALS_PATH}/end`} hidden={{ secret: name }} look="danger">
          End now<span class="visually-hidden"> the secret of {createdAt.toISOString()}</span>
        </PostButton>
      ),
  };
  const canEnd =
    state === 'confirmed' && secrets.some(({ name, isExpired }) => name !== newest && !isExpired);
  return (
    <>
      <Table caption="Secrets" rows={secrets} columns={canEnd ? [...columns, ending] : columns} unfolds />
      <p class="muted">When a secret was last used is known to the hour, and noted within a few seconds.</p>
    </>
  );
}

function SecretState({ secret, isNewest }: { secret: SecretInfo; isNewest: boolean }): VNode {
  if (secret.isExpired) return <State tone="plain">Ended</State>;
  return isNewest ? <State tone="good">Valid</State> : <State tone="warn">Old, still valid</State>;
}

/** The new secret, shown once; if reloaded, the page says that it was shown. */
export const newSecretPage = (clientId: string, shown: ShownSecret | undefined): PortalPage => ({
  title: newSecretTitle(shown),
  part: 'credentials',
  above: [{ href: CREDENTIALS_PATH, label: 'Credentials' }],
  children: (
    <NewClientSecret clientId={clientId} shown={shown} next={CREDENTIALS_PATH}>
      <LinkButton href={CREDENTIALS_PATH}>Go to the credentials</LinkButton>
    </NewClientSecret>
  ),
});
