import { IsScopeList } from './admin-scopes.dto.js';
import { IsText, MayBeNull } from '../http/member-rules.decorator.js';

/** Body of `PUT /admin/clients/{client_id}/consents/{user_id}`: replaces what stood before. */
export class ConsentDto {
  @IsScopeList()
  scopes!: string[];

  /** What proof of the consent the operator holds. */
  @MayBeNull()
  @IsText(0, 2000)
  evidence?: string | null;
}
