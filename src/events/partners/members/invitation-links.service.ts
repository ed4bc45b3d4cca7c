import { Injectable } from '@nestjs/common';
import { Settings } from '#platform/config/settings.js';
import { conflict } from '#platform/http/problems/problem.js';
import type { MailText } from '#records/mail/mail-content.js';
import { MailsService } from '#records/mail/mails.service.js';
import { newId } from '#platform/secrets/ids.js';
import { newLink } from '#platform/secrets/tokens.js';
import type { NewInvitation } from './invitation.js';
import { InvitationsRepository } from './invitations.repository.js';

/** Contract §20: the maximum for each organisation, and for the operators. */
const OPEN_AT_MOST = 50;
// Contract §20: the link works once within 7 days.
const LINK_TTL_SECONDS = 7 * 86_400;

/** Invitation links, into organisations and to become an operator. */
@Injectable()
export class InvitationLinks {
  constructor(
    private readonly repository: InvitationsRepository,
    private readonly mails: MailsService,
    private readonly settings: Settings,
  ) {}

  /**
   * Mails a link, in the caller's transaction, which has locked the organisation; an earlier one to the same address ends. Returns the id of the invitation. Throws a 409
   * problem beyond 50.
   */
  async send(invitation: NewInvitation, mailOf: (url: string) => MailText): Promise<string> {
    const { organisationId, email } = invitation;
    if (organisationId === null) await this.repository.lockForOperators();
    await this.repository.deleteByEmailIn(organisationId, email);
    const open =
      organisationId === null
        ? await this.repository.listForOperators()
        : await this.repository.list(organisationId);
    if (open.length >= OPEN_AT_MOST) {
      const whose = organisationId === null ? 'There can be' : 'An organisation can have';
      throw conflict(`${whose} at most ${OPEN_AT_MOST} open invitations. Withdraw one first.`);
    }
    const { key, digest } = newLink('invitationKey');
    const id = newId('mbiv');
    await this.repository.insert({ ...invitation, id, digest, ttl: LINK_TTL_SECONDS });
    await this.mails.queue({
      kind: 'invitation',
      address: email,
      cause: `link ${digest.toString('base64url')}`,
      usefulSeconds: LINK_TTL_SECONDS,
      mail: mailOf(`${this.settings.baseUrl}/invitations/${key}`),
    });
    return id;
  }
}
