import { Moment } from '../../http/pages/moment.js';
import { confirmPage, type ConfirmPageProps } from './confirm.page.js';

type Props = Pick<
  ConfirmPageProps,
  'layoutProps' | 'csrfToken' | 'endpointUrl' | 'action' | 'back' | 'fields'
> & {
  /** When the current secret would expire. */
  until: Date;
  /** An earlier secret is still valid. */
  hasPrevious: boolean;
};

/** The consequences of rotating the secret, and the button. */
export const rotateSecretPage = ({ until, hasPrevious, ...props }: Props): string =>
  confirmPage({
    ...props,
    title: 'Rotate secret',
    button: { label: 'Rotate secret' },
    keep: 'Cancel',
    children: (
      <>
        <ul>
          <li>The endpoint gets a new secret immediately.</li>
          <li>
            The old one stays valid for 24 more hours, until <Moment at={until} />. Until then, every request
            carries a signature from each.
          </li>
          <li>Put the new one into your application within that time. No events are lost.</li>
        </ul>
        {hasPrevious && (
          <p class="notice notice-error">
            The secret was rotated recently, and the previous one is still valid. If you rotate again, the
            previous one stops working immediately.
          </p>
        )}
      </>
    ),
  });
