import { DEFAULT_SECRET_OVERLAP_SECONDS } from '#access/clients/client-rules.js';
import type { ClientEntity } from '#access/clients/client.entity.js';
import { Choices, type FieldErrors } from '#platform/web/forms/field.js';
import { ConsoleForm } from '../pages/console-form.js';
import type { ConsolePage } from '../pages/console-layout.js';
import { clientPath, aboutClient } from './client-layout.js';

const OVERLAPS = [
  {
    value: '0',
    label: 'Not at all',
    hint: 'For a leaked secret. Requests that use it fail immediately. Tokens that were issued with it stay valid until “Revoke all tokens” ends them.',
  },
  { value: '3600', label: 'One hour' },
  { value: String(DEFAULT_SECRET_OVERLAP_SECONDS), label: 'One day' },
  { value: '604800', label: 'One week' },
];

export interface RotateSecretPageProps {
  client: ClientEntity;
  overlap: string;
  /** Identifies the secret that the form replaces; if it is no longer the newest one, nothing is rotated. */
  newest: string;
  errors?: FieldErrors;
}

/** Asks how long the current secret stays valid before a new one is created. */
export function rotateSecretPage({ client, overlap, newest, errors }: RotateSecretPageProps): ConsolePage {
  return aboutClient(client, {
    title: 'Rotate secret',
    children:
      client.type === 'public' ? (
        <p class="empty">This is a public client, so it has no secret.</p>
      ) : (
        <>
          <p>
            The client gets a new secret. While the old one is still valid, the client can switch without
            downtime.
          </p>
          <ConsoleForm
            values={{ expire_previous_in: overlap }}
            errors={errors}
            action={clientPath(client.id, 'secret')}
            submit="Create new secret"
            hidden={{ newest }}
            sentOnce
            cancel={clientPath(client.id)}
          >
            <Choices
              name="expire_previous_in"
              label="How long the old secret stays valid"
              type="radio"
              options={OVERLAPS}
            />
          </ConsoleForm>
        </>
      ),
  });
}
