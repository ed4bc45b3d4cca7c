import type { ScopeAudience, ScopeEntity } from '../scopes/scope.entity.js';

/** A scope on the wire. */
export interface ScopeView {
  name: string;
  description: string;
  audience: ScopeAudience;
}

export const scopeView = ({ name, description, audience }: ScopeEntity): ScopeView => ({
  name,
  description,
  audience,
});
