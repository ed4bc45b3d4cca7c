import { Moment } from '../../http/pages/moment.js';
import { confirmPage, type ConfirmPageProps } from './confirm.page.js';

type Props = Pick<ConfirmPageProps, 'frame' | 'csrfToken' | 'endpointUrl' | 'action' | 'back'> & {
  /** Until when the present secret would count. */
  until: Date;
  /** A secret before the present one that still counts. */
  hasPrevious: boolean;
};

/** What rotating the secret means, and the button. */
export const rotateSecretPage = ({ until, hasPrevious, ...props }: Props): string =>
  confirmPage({
    ...props,
    title: 'Rotate the secret',
    button: { label: 'Rotate secret' },
    keep: 'Keep the secret',
    children: (
      <>
        <ul>
          <li>The endpoint gets a new secret at once.</li>
          <li>
            The old one counts for 24 hours more, until <Moment at={until} />: meanwhile every request carries
            a signature of each.
          </li>
          <li>Put the new one into your application within that time. Nothing is lost on the way.</li>
        </ul>
        {hasPrevious && (
          <p class="notice notice-error">
            The secret was rotated a short while ago, and the one before it still counts. If you rotate again,
            that one ends at once.
          </p>
        )}
      </>
    ),
  });
