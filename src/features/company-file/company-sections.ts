import { applyDecorators, type Type } from '@nestjs/common';
import { ApiProperty, PickType } from '@nestjs/swagger';
import { NewClientDto } from '#entrypoints/admin/api/clients/admin-clients.dto.js';
import {
  EventTypeDto,
  EventTypeVersionDto,
} from '#entrypoints/admin/api/event-types/admin-event-types.dto.js';
import { PurposeDto } from '#entrypoints/admin/api/purposes/admin-purposes.dto.js';
import { TRANSLATIONS as OF_SCOPES, ScopeDto } from '#entrypoints/admin/api/scopes/admin-scopes.dto.js';
import { NewUserDto } from '#entrypoints/admin/api/users/admin-users.dto.js';
import { BrandDto } from '#records/brand/brand.resource.js';
import { ImportedConsentDto } from '#access/consents/import/imported-consent.dto.js';
import {
  IsEmailAddress,
  IsIdOf,
  IsOptionalNotNull,
  IsText,
  IsTrueOrFalse,
  omitMembers,
} from '#platform/http/validation/validation.decorators.js';
import type { NameRule } from '#platform/http/validation/name-rule.js';
import { PURPOSE_NAME } from '#access/scopes/purposes/purpose.entity.js';
import { SCOPE_NAME } from '#access/scopes/scope-name.js';
import { EVENT_TYPE_NAME } from '#events/webhooks/event-types/event-type.entity.js';

// The rules are those of the admin API, without what is an action rather than a state.
class FileScopeDto extends omitMembers(ScopeDto, ['meaning_changed']) {}
const TRANSLATIONS = { ...OF_SCOPES, description: 'The description in other languages.' };
ApiProperty(TRANSLATIONS)(FileScopeDto.prototype, 'translations');
class FileVersionDto extends omitMembers(EventTypeVersionDto, ['sample']) {}

const AsItIs = () =>
  applyDecorators(
    ApiProperty({ description: 'Left out: as it is; true for a new one.' }),
    IsOptionalNotNull(),
    IsTrueOrFalse(),
  );

class FileOwnerDto extends PickType(NewUserDto, ['name', 'kind', 'webhooks_enabled']) {
  @AsItIs() enabled?: boolean;
}

/** The address that an owner is named by. */
class OwnerKeyDto {
  @IsEmailAddress() owner!: string;
}

class FileClientDto extends omitMembers(NewClientDto, ['owner_id']) {
  @IsOptionalNotNull() @IsIdOf('clnt', 'client') client_id?: string;
  @IsEmailAddress() owner!: string;
  @AsItIs() enabled?: boolean;
}

class FileSecretDto {
  @IsOptionalNotNull() @IsText(1, 200) env?: string;
  @IsOptionalNotNull() @IsText(1, 1000) file?: string;
  @IsOptionalNotNull() @IsText(1, 1000) generate?: string;
}

class FileConsentDto extends omitMembers(ImportedConsentDto, ['client_id', 'user_id', 'email']) {
  @IsEmailAddress() user!: string;
}

/** An object of the file: the DTO of its members, and those members that are objects or lists of objects themselves. */
export interface Shape {
  dto: Type<object>;
  inner?: Record<string, { dto: Type<object>; isList: boolean }>;
}

/** A section is one object, objects by their names, or a list of objects. */
export interface Section extends Shape {
  as: 'one' | 'named' | 'list';
  /** What names are like: a rule, or a DTO with one. */
  names?: NameRule | { dto: Type<object>; member: string };
}

/** What a company file consists of. */
export const SECTIONS = {
  brand: { as: 'one', dto: BrandDto },
  scopes: {
    as: 'named',
    dto: FileScopeDto,
    names: SCOPE_NAME,
  },
  purposes: {
    as: 'named',
    dto: PurposeDto,
    names: PURPOSE_NAME,
  },
  event_types: {
    as: 'named',
    dto: EventTypeDto,
    inner: { versions: { dto: FileVersionDto, isList: true } },
    names: EVENT_TYPE_NAME,
  },
  owners: { as: 'named', dto: FileOwnerDto, names: { dto: OwnerKeyDto, member: 'owner' } },
  clients: {
    as: 'list',
    dto: FileClientDto,
    inner: {
      secret: { dto: FileSecretDto, isList: false },
      consents: { dto: FileConsentDto, isList: true },
    },
  },
} satisfies Record<string, Section>;

/** The first and the last member of an export: a file with the first, but without the last, was cut off on its way. */
export const MARKS = { first: 'has_end', last: 'end' } as const;

/** One object of the file by its members. */
export type Entry = Record<string, unknown>;

/** A client of the file. */
export interface ClientEntry extends Entry {
  client_id?: string;
  name: string;
  owner: string;
  enabled?: boolean;
  secret?: { env?: string; file?: string; generate?: string };
  consents?: ConsentEntry[];
}

export interface ConsentEntry extends Entry {
  user: string;
  scopes: string[];
  granted_at: string;
  expires_at?: string;
  evidence: string;
}

/** What a company file says, without members that are as they are by default. A section that is left out says nothing. */
export interface Company {
  brand?: Entry & BrandDto;
  scopes?: Record<string, Entry>;
  purposes?: Record<string, Entry>;
  event_types?: Record<string, Entry>;
  owners?: Record<string, Entry>;
  clients?: ClientEntry[];
}
