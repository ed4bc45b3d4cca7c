/** The fixtures' values. A draft refers to them by name, because they are only created when the draft is sent. */
export const LIVE = [
  ...['userId', 'ownerId', 'operatorId', 'otherOperatorId', 'disabledUserId', 'clientId', 'publicClientId'],
  ...['disabledClientId', 'clientSecret', 'operatorClientId', 'operatorClientSecret', 'endpointId'],
  ...['disabledEndpointId', 'deliveryId', 'recoveryId', 'notificationId', 'ownNotificationId', 'grantId'],
  ...[
    'sessionId',
    'scopeName',
    'purposeName',
    'receiptId',
    'requestId',
    'portalKey',
    'passwordKey',
    'code',
    'accessToken',
    'refreshToken',
  ],
  ...['partnerToken', 'operatorToken', 'userSession', 'operatorSession', 'portalSession', 'csrfSecret'],
  ...['emailKey', 'signUpKey', 'unsubscribeKey', 'contactId'],
  ...['clientBasic', 'operatorBasic', 'approvalId', 'email', 'newEmail', 'newName', 'hookUrl'],
  ...[
    'ownerSession',
    'memberSession',
    'oldSecret',
    'memberId',
    'invitationKey',
    'invitationId',
    'operatorInvitationId',
    'redirectUriRequestId',
  ],
  ...['passkeyId', 'pendingSignIn', 'recoveryCode'],
  ...['driverId', 'sandboxToken', 'sandboxPortalSession'],
  ...['exportKey', 'deletion', 'confirmedAddress', 'clientKeys'],
] as const;

export type Live = (typeof LIVE)[number];

/** While these exist, pages show other forms than usual: they come last, and only where they are needed. */
export const HIDING: readonly Live[] = ['deletion', 'confirmedAddress', 'clientKeys'];

/** The placeholder of a value in a draft. */
export const live = (name: Live): string => `@@${name}@@`;

const MARK = /@@(\w+)@@/g;

/** Returns the text with all placeholders replaced. */
export async function filledIn(text: string, valueOf: (name: Live) => Promise<string>): Promise<string> {
  const values = new Map<string, string>();
  for (const [, name] of text.matchAll(MARK)) values.set(name!, await valueOf(name as Live));
  return text.replace(MARK, (_mark, name: string) => values.get(name)!);
}
