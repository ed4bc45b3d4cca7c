import {
  AreVisibleLines,
  IsEmailAddress,
  IsIdOf,
  IsOptionalNotNull,
  IsTime,
} from '#platform/http/validation/validation.decorators.js';
import { IsScopeList } from '#access/scopes/scope-name.js';

/** A line of a file of consents from another system, with either `user_id` or `email`. */
export class ImportedConsentDto {
  @IsIdOf('clnt', 'client') client_id!: string;
  @IsOptionalNotNull() @IsIdOf('user', 'user') user_id?: string;
  @IsOptionalNotNull() @IsEmailAddress() email?: string;
  @IsScopeList() scopes!: string[];
  /** When the user agreed. */
  @IsTime() granted_at!: string;
  /** When it expires, if it does. */
  @IsOptionalNotNull() @IsTime() expires_at?: string;
  /** The proof, or where it is kept. */
  @AreVisibleLines(1, 2000) evidence!: string;
}
