import { DEFAULT_SECRET_OVERLAP_SECONDS } from '../../../clients/client-rules.js';
import type { ClientEntity } from '../../../clients/client.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import type { UserLayoutProps } from '../../../users/user-page-context.js';
import { Choices, ConsoleForm } from '../pages/form-fields.js';
import { clientPath, renderClientPage } from './client-layout.js';

const OVERLAPS = [
  {
    value: '0',
    label: 'Not at all',
    hint: 'For a leaked secret. Requests that use it fail immediately.',
  },
  { value: '3600', label: 'One hour' },
  { value: String(DEFAULT_SECRET_OVERLAP_SECONDS), label: 'One day' },
  { value: '604800', label: 'One week' },
];

export interface RotateSecretPageProps {
  layoutProps: UserLayoutProps;
  client: ClientEntity;
  overlap: string;
  /** Identifies the secret that is replaced: the form rotates no other. */
  newest: string;
  csrfToken: string;
  errors?: FieldErrors;
}

/** Asks how long the current secret stays valid before a new one is created. */
export function rotateSecretPage({
  layoutProps,
  client,
  overlap,
  newest,
  csrfToken,
  errors,
}: RotateSecretPageProps): string {
  return renderClientPage({
    layoutProps,
    client,
    title: 'Rotate secret',
    withScript: true,
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
            action={clientPath(client.id, 'secret')}
            csrfToken={csrfToken}
            errors={errors}
            submit="Create new secret"
            sentOnce
            cancel={{ href: clientPath(client.id) }}
          >
            <input type="hidden" name="newest" value={newest} />
            <Choices
              name="expire_previous_in"
              label="How long the old secret stays valid"
              type="radio"
              values={[overlap]}
              options={OVERLAPS}
              errors={errors}
            />
          </ConsoleForm>
        </>
      ),
  });
}
