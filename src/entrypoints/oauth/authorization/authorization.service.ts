import { say } from '#platform/language/text.js';
import { Injectable } from '@nestjs/common';
import type { Actor } from '#records/audit/audit.service.js';
import { ConsentApprovals, type Approval } from '#access/consents/consent-approvals.service.js';
import { Settings } from '#platform/config/settings.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import { badRequest } from '#platform/http/problems/problem.js';
import { AuthorizationCodesService } from '#access/tokens/codes/authorization-codes.service.js';
import { PushedRequests } from '../par/pushed-requests.service.js';
import { authenticationInSandbox, authenticationOf } from './authentication-request.js';
import type { AuthorizationErrorCode, AuthorizationRequest } from './authorization-request.js';
import { withParameters } from './redirect.js';

/** Who approves: a user in a session, or a driver of the client's sandbox, who has none. */
interface Approver {
  id: string;
  sessionDigest?: Buffer;
  usedSecondFactor?: boolean;
  authenticatedAt?: Date | null;
}

const endedMeanwhile = () =>
  badRequest(say('The application was disabled or you were logged out in the meantime.'));

const decidedAlready = () =>
  badRequest(say('This request was decided already. Please go back to the application and start again.'));

/** How the user logged in, for the tokens of a client that asked about it (RFC 9470): those of others stay as they are. */
const authenticationFor = (
  { authentication }: AuthorizationRequest,
  { usedSecondFactor, authenticatedAt = null }: Approver,
) =>
  authentication &&
  (usedSecondFactor === undefined
    ? authenticationInSandbox(authentication)
    : authenticationOf({ usedSecondFactor, authenticatedAt }));

/**
 * Acts on a checked request: records consent and issues a code, or builds the error redirect. Both return the URL to redirect to.
 */
@Injectable()
export class AuthorizationService {
  constructor(
    private readonly approvals: ConsentApprovals,
    private readonly codes: AuthorizationCodesService,
    private readonly pushed: PushedRequests,
    private readonly transactions: Transactions,
    private readonly settings: Settings,
  ) {}

  /**
   * Records the consent and issues a code in one transaction. Throws a 400 problem if the client has since been disabled or the user has
   * logged out.
   */
  async approve(
    request: AuthorizationRequest,
    user: Approver,
    approval: Approval,
    actor: Actor,
  ): Promise<string> {
    const { client, redirectUri, state, codeChallenge, resources, dpopJkt } = request;
    const { scopes } = approval;
    const code = await this.transactions.run(async () => {
      // Locks the client before the consent, in the same order as when a client is deleted or disabled. The reverse order can
      // deadlock.
      if (!(await this.hold(client.id, user))) throw endedMeanwhile();
      await this.useUp(request);
      await this.approvals.approve(client, user.id, approval, actor);
      return this.codes.issue({
        clientId: client.id,
        userId: user.id,
        redirectUri,
        scopes,
        codeChallenge,
        dpopJkt,
        resources,
        ...authenticationFor(request, user),
      });
    });
    // RFC 9207: `iss` lets the client tell which server responded.
    return withParameters(redirectUri, { code, state, iss: this.settings.baseUrl });
  }

  private hold(clientId: string, { id, sessionDigest }: Approver): Promise<boolean> {
    return sessionDigest
      ? this.codes.hold(clientId, { id, sessionDigest })
      : this.codes.holdDriver(clientId, id);
  }

  /** The redirect URL after the user has cancelled. Throws a 400 problem if a pushed request was decided already. */
  async cancel(request: AuthorizationRequest): Promise<string> {
    await this.useUp(request);
    const { redirectUri, state } = request;
    return this.refuse(redirectUri, state, 'access_denied', 'The user denied the request.');
  }

  private async useUp({ pushed }: AuthorizationRequest): Promise<void> {
    if (pushed && !(await this.pushed.decide(pushed))) throw decidedAlready();
  }

  /** The redirect URL that carries an error (RFC 6749 §4.1.2.1). */
  refuse(
    redirectUri: string,
    state: string | undefined,
    error: AuthorizationErrorCode,
    description: string,
  ): string {
    return withParameters(redirectUri, {
      error,
      error_description: description,
      state,
      iss: this.settings.baseUrl,
    });
  }
}
