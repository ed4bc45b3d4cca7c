import type { ClientEntity } from '../../../clients/client.entity.js';
import type { FieldErrors } from '../form-attempt.js';
import type { ConsoleFrame } from '../pages/console-layout.js';
import { Choices, ConsoleForm } from '../pages/form-fields.js';
import { clientPath, renderClientPage } from './client-frame.js';

/** Contract §12: one day, for the secret to be changed wherever it is used. */
export const DEFAULT_OVERLAP = '86400';

const OVERLAPS = [
  {
    value: '0',
    label: 'Not at all',
    hint: 'For a secret that others know. Requests with it fail from now on.',
  },
  { value: '3600', label: 'One hour' },
  { value: DEFAULT_OVERLAP, label: 'One day' },
  { value: '604800', label: 'One week' },
];

export interface RotateSecretPageProps {
  frame: ConsoleFrame;
  client: ClientEntity;
  overlap: string;
  csrfToken: string;
  errors?: FieldErrors;
}

/** Asks for how long the present secret counts on, before there is a new one. */
export function rotateSecretPage({
  frame,
  client,
  overlap,
  csrfToken,
  errors,
}: RotateSecretPageProps): string {
  return renderClientPage({
    frame,
    client,
    title: 'Rotate the secret',
    children:
      client.type === 'public' ? (
        <p class="empty">It is a public client, so it has no secret.</p>
      ) : (
        <>
          <p>
            The client gets a new secret. While the old one counts too, it can be changed without a break.
          </p>
          <ConsoleForm
            action={clientPath(client.id, 'secret')}
            csrfToken={csrfToken}
            errors={errors}
            submit="Make a new secret"
            cancel={{ href: clientPath(client.id) }}
          >
            <Choices
              name="expire_previous_in"
              label="How long the old secret still counts"
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
