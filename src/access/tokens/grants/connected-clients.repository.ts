import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';
import { consentIsLive } from '#access/consents/consent.sql.js';
import { readPageBySql, type Page, type PageRequest } from '#platform/database/queries/read-page.js';
import type { Language } from '#platform/language/languages.js';
import type { ConnectedClient } from './grant.js';

@Injectable()
export class ConnectedClientsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /**
   * One page of the clients to which the user has an active consent, by client id; with `clientId`, only that client. The
   * words are in this language, if translated.
   * In SQL: one statement over four modules' tables, however long the page is.
   */
  async list(
    userId: string,
    clientId: string | undefined,
    page: PageRequest,
    language: Language,
  ): Promise<Page<ConnectedClient>> {
    return readPageBySql(page, 'k.client_id', 'asc', (part) => {
      const params: unknown[] = [userId, language];
      const { where, orderAndLimit } = part(params);
      const client = clientId === undefined ? 'true' : `k.client_id = $${params.push(clientId)}`;
      return this.dataSource.query(
        `SELECT c.id, c.name, c.enabled, c.organisation, c.site, c.privacy_policy AS "privacyPolicy", c.logo_id AS "logoId",
                c.enabled AND NOT c.gatekeeper AND 'authorization_code' = ANY (c.grant_types) AS "canBeAuthorized",
                (SELECT coalesce(jsonb_agg(jsonb_build_object(
                                   'scope', s.name, 'words', coalesce(s.translations ->> $2, s.description),
                                   'optional', NOT c.gatekeeper AND s.name = ANY (c.optional_scopes)) ORDER BY s.name), '[]')
                   FROM scopes s WHERE s.name = ANY (k.scopes)) AS access,
                k.granted_at AS "connectedAt", k.expires_at AS "expiresAt",
                NOT c.gatekeeper AND c.optional_scopes <> '{}' AS "canBeChanged",
                NOT c.gatekeeper AND k.expires_at IS NOT NULL AS "canBeRenewed",
                (SELECT v.id FROM consent_versions v WHERE v.client_id = k.client_id AND v.user_id = k.user_id
                  ORDER BY v.number DESC LIMIT 1) AS "versionId",
                (SELECT max(g.issued_at) FROM grants g
                  WHERE g.client_id = k.client_id AND g.user_id = k.user_id
                    AND g.created_at >= k.granted_at) AS "lastUsedAt"
           FROM consents k JOIN clients c ON c.id = k.client_id
          WHERE k.user_id = $1 AND ${consentIsLive('k')} AND ${client} AND ${where} ${orderAndLimit}`,
        params,
      );
    });
  }
}
