import { Injectable } from '@nestjs/common';
import { Answers } from '#platform/database/domain/domain-map.js';
import { BrandService } from '#records/brand/brand.service.js';
import { say } from '#platform/language/text.js';
import { inWords } from '#access/users/accounts/own-words.js';
import { section } from '#access/users/accounts/personal-data.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { InvitationsRepository } from './members/invitations.repository.js';
import { MembersRepository } from './members/members.repository.js';

/** The organisations of a person. */
@Injectable()
export class PartnersPersonalData {
  constructor(
    private readonly members: MembersRepository,
    private readonly invitations: InvitationsRepository,
    private readonly users: UsersService,
    private readonly brand: BrandService,
  ) {}

  @Answers('user.personal_data')
  organisations() {
    return section({
      name: 'organisations',
      place: 90,
      title: say('Organisations'),
      about: say('The organisations whose webhook portal you may open, or are invited to.'),
      read: async (userId: string, limit: number) => {
        const user = await this.users.find(userId);
        const [memberships, invited] = await Promise.all([
          this.members.listOf(userId, limit),
          user ? this.invitations.listTo(user.email, limit) : [],
        ]);
        const ids = invited.flatMap(({ organisationId }) => organisationId ?? []);
        const names = await this.users.namesOf(ids);
        const nameOf = (organisationId: string | null) =>
          // Invited to be an operator: by the company itself.
          organisationId === null
            ? this.brand.current.name
            : names.find(({ id }) => id === organisationId)?.name;
        return [
          ...memberships.map((member) => ({
            organisation_id: member.organisationId,
            organisation: member.organisationName,
            state: 'member',
            role: member.role,
            since: member.createdAt,
          })),
          ...invited.map((invitation) => ({
            organisation_id: invitation.organisationId,
            organisation: nameOf(invitation.organisationId) ?? '',
            state: 'invited',
            role: invitation.role,
            since: invitation.createdAt,
          })),
        ].slice(0, limit);
      },
      columns: {
        [say('Organisation')]: ({ organisation }) => organisation,
        [say('State')]: ({ state }) => inWords(state),
        [say('Role')]: ({ role }) => inWords(role),
        [say('Since')]: ({ since }) => since,
      },
    });
  }
}
