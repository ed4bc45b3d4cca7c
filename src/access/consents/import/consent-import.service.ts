import { Injectable } from '@nestjs/common';
import { SERVICE_ACTOR } from '#records/audit/audit.service.js';
import { badRequest, Problem } from '#platform/http/problems/problem.js';
import { apiWordsOf } from '#platform/http/problems/violation.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';
import { UsersService } from '#access/users/accounts/users.service.js';
import { ConsentApprovals } from '../consent-approvals.service.js';
import { ImportedConsentDto } from './imported-consent.dto.js';

/** The results for the lines of a file. */
export interface ImportResult {
  imported: number;
  /** Lines that were imported before. */
  unchanged: number;
  refused: { line: number; reason: string }[];
}

/** Imports consents that a company has in another system, with their proof: one JSON object per line. */
@Injectable()
export class ConsentImportService {
  private readonly pipe = new RequestValidationPipe();

  constructor(
    private readonly approvals: ConsentApprovals,
    private readonly users: UsersService,
  ) {}

  /**
   * Imports each line in a transaction of its own, so that a killed run can be repeated: existing consents are left as they are.
   * With `dryRun` nothing is written.
   */
  async run(text: string, { dryRun }: { dryRun: boolean }): Promise<ImportResult> {
    const result: ImportResult = { imported: 0, unchanged: 0, refused: [] };
    for (const [index, line] of text.split('\n').entries()) {
      if (line.trim() === '') continue;
      try {
        result[await this.importLine(line, dryRun)]++;
      } catch (error) {
        if (!(error instanceof Problem)) throw error;
        result.refused.push({ line: index + 1, reason: wordsOf(error) });
      }
    }
    return result;
  }

  private async importLine(line: string, dryRun: boolean): Promise<'imported' | 'unchanged'> {
    const dto = await this.read(line);
    const userId = await this.userOf(dto);
    return this.approvals.import(
      {
        clientId: dto.client_id,
        userId,
        scopes: dto.scopes,
        grantedAt: new Date(dto.granted_at),
        expiresAt: dto.expires_at === undefined ? null : new Date(dto.expires_at),
        evidence: dto.evidence,
      },
      SERVICE_ACTOR,
      dryRun,
    );
  }

  private async read(line: string): Promise<ImportedConsentDto> {
    let members: unknown;
    try {
      members = JSON.parse(line);
    } catch {
      throw badRequest('The line is not JSON.');
    }
    return (await this.pipe.transform(members, {
      type: 'body',
      metatype: ImportedConsentDto,
    })) as ImportedConsentDto;
  }

  private async userOf({ user_id, email }: ImportedConsentDto): Promise<string> {
    if ((user_id === undefined) === (email === undefined)) {
      throw badRequest('The line must have either user_id or email.');
    }
    if (user_id !== undefined) return user_id;
    const user = await this.users.findByEmail(email!);
    if (!user) throw badRequest('No user has this email address.');
    return user.id;
  }
}

const wordsOf = ({ detail, extras: { violations = {} } }: Problem): string =>
  [
    detail,
    ...Object.entries(apiWordsOf(violations)).map(([member, texts]) => `${member} ${texts.join('; ')}`),
  ].join(' ');
