import { Column, Entity, PrimaryColumn } from 'typeorm';
import { TimeOfInsert } from '#platform/database/entities/columns.js';

/** A link of an account to a person at an identity provider: `iss` and `sub` of the provider's ID tokens. */
@Entity('identities')
export class IdentityEntity {
  @PrimaryColumn('text') issuer!: string;
  @PrimaryColumn('text') subject!: string;
  @Column('text') userId!: string;
  /** The provider's id in the settings. */
  @Column('text') provider!: string;
  @TimeOfInsert() linkedAt!: Date;
  @Column({ type: 'timestamptz', insert: false }) lastUsedAt!: Date;
}

/** A link of an account to an identity provider, as pages and the API show it. */
export type Identity = Pick<IdentityEntity, 'provider' | 'issuer' | 'subject' | 'linkedAt' | 'lastUsedAt'> & {
  /** The display name of the provider; its id if it is no longer in the settings. */
  label: string;
};
