import { Injectable } from '@nestjs/common';
import { PersonalData, section } from '../users/accounts/personal-data.js';
import { IdentitiesService } from './identities.service.js';

/** Who a person is at identity providers. */
@Injectable()
export class IdentitiesPersonalData {
  constructor(identities: IdentitiesService, data: PersonalData) {
    data.add(
      section({
        name: 'identities',
        place: 45,
        title: 'Other services you log in with',
        about: 'Who you are at the services through which you log in.',
        read: async (userId: string, limit: number) => {
          const found = await identities.list(userId);
          return found.slice(0, limit).map((identity) => ({
            provider: identity.provider,
            label: identity.label,
            issuer: identity.issuer,
            subject: identity.subject,
            linked_at: identity.linkedAt,
            last_used_at: identity.lastUsedAt,
          }));
        },
        columns: {
          Service: ({ label }) => label,
          'Your name there': ({ subject }) => subject,
          Linked: ({ linked_at: at }) => at,
          'Last used': ({ last_used_at: at }) => at,
        },
      }),
    );
  }
}
