import type { ClientEntity, ClientType, GrantType } from '../clients/client.entity.js';

/** A client on the wire; `client_secret` is only present in the response that created it. */
export interface ClientView {
  client_id: string;
  client_secret?: string;
  name: string;
  type: ClientType;
  grant_types: GrantType[];
  scopes: string[];
  redirect_uris: string[];
  owner_id: string;
  enabled: boolean;
  rate_limit: number | null;
  trusted: boolean;
  created_at: string;
  updated_at: string;
}

/** A new client secret on the wire, and when the previous ones expire: null if there were none. */
export interface NewSecretView {
  client_secret: string;
  previous_secret_expires_at: string | null;
}

export const clientView = (client: ClientEntity): ClientView => ({
  client_id: client.id,
  name: client.name,
  type: client.type,
  grant_types: client.grantTypes,
  scopes: client.scopes,
  redirect_uris: client.redirectUris,
  owner_id: client.ownerId,
  enabled: client.enabled,
  rate_limit: client.rateLimit,
  trusted: client.trusted,
  created_at: client.createdAt.toISOString(),
  updated_at: client.updatedAt.toISOString(),
});
