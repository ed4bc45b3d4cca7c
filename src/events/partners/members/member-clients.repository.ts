import { Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { HAS_OPERATOR_SCOPE } from '#access/clients/operator-role.sql.js';
import { MemberEntity } from './member.entity.js';
import type { MemberClient } from './member-client.js';

// More than anybody has.
const LISTED = 100;

@Injectable()
export class MemberClientsRepository {
  constructor(@InjectRepository(MemberEntity) private readonly members: Repository<MemberEntity>) {}

  /** The clients that have a portal, of the organisations that the user belongs to. In SQL: one join over several modules' tables. */
  list(userId: string): Promise<MemberClient[]> {
    return this.members.query(
      `SELECT c.id, c.name, c.environment, c.redirect_uris AS "redirectUris", o.id AS "organisationId", o.name AS "organisationName"
         FROM clients c JOIN users o ON o.id = c.owner_id AND o.enabled AND o.webhooks_enabled
        WHERE c.enabled AND NOT ${HAS_OPERATOR_SCOPE}
          AND c.owner_id = ANY (ARRAY(SELECT organisation_id FROM organisation_members WHERE user_id = $1) || $1::text)
        ORDER BY o.name, o.id, c.name, c.id LIMIT ${LISTED}`,
      [userId],
    );
  }
}
