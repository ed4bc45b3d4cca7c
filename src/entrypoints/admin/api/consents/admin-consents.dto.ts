import { ApiProperty } from '@nestjs/swagger';
import { IsScopeList } from '#access/scopes/scope-name.js';
import { AreLines, MayBeNull } from '#platform/http/validation/validation.decorators.js';

/** Body of `PUT /admin/clients/{client_id}/consents/{user_id}`: replaces an earlier consent. */
export class ConsentDto {
  @IsScopeList() scopes!: string[];

  @ApiProperty({ description: 'The proof of the consent that the operator holds.' })
  @MayBeNull()
  @AreLines(0, 2000)
  evidence?: string | null;
}
