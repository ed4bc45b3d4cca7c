/** Why a sign-in through a provider was refused (contract §15), with the status of the page that says so. */
export const REFUSAL_STATUS = {
  provider_unavailable: 503,
  provider_busy: 503,
  provider_redirects: 503,
  provider_answer_unreadable: 503,
  provider_metadata_invalid: 503,
  client_refused: 503,
  provider_refused: 400,
  provider_answer_invalid: 400,
  sign_in_expired: 400,
  authentication_too_weak: 403,
  authentication_not_recent: 403,
  email_missing: 403,
  email_not_verified: 403,
  email_verification_unknown: 403,
  no_account: 403,
  account_disabled: 403,
  not_for_you: 403,
} as const;

export type SignInRefusalReason = keyof typeof REFUSAL_STATUS;

/** A refused sign-in. The message is for the log and contains neither secrets nor what a provider sent. */
export class SignInRefused extends Error {
  /** The account concerned, if it is known. */
  userId?: string;

  constructor(
    readonly reason: SignInRefusalReason,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}
