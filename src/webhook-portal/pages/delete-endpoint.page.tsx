import { confirmPage, type ConfirmPageProps } from './confirm.page.js';

type Props = Pick<ConfirmPageProps, 'layoutProps' | 'csrfToken' | 'endpointUrl' | 'action' | 'back'>;

/** The consequences of deleting an endpoint, and the button. */
export const deleteEndpointPage = (props: Props): string =>
  confirmPage({
    ...props,
    title: 'Delete endpoint?',
    button: { label: 'Delete', danger: true },
    keep: 'Cancel',
    children: (
      <ul>
        <li>Nothing more is sent to it, and pending deliveries are cancelled.</li>
        <li>Past deliveries stay in the list, but cannot be resent.</li>
        <li>Its secret is deleted. An endpoint that you add later gets a new one.</li>
        <li>To stop only for a while, disable it instead.</li>
      </ul>
    ),
  });
