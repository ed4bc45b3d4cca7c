import { confirmPage, type ConfirmPageProps } from './confirm.page.js';

type Props = Pick<ConfirmPageProps, 'frame' | 'csrfToken' | 'endpointUrl' | 'action' | 'back'>;

/** What deleting an endpoint means, and the button. */
export const deleteEndpointPage = (props: Props): string =>
  confirmPage({
    ...props,
    title: 'Delete the endpoint?',
    button: { label: 'Delete', danger: true },
    keep: 'Keep it',
    children: (
      <ul>
        <li>Nothing more is sent to it, and what waits for a retry is cancelled.</li>
        <li>What was sent stays in the list of deliveries, but cannot be sent again.</li>
        <li>Its secret is gone. An endpoint that you add later gets another.</li>
        <li>To stop for a while only, disable it instead.</li>
      </ul>
    ),
  });
