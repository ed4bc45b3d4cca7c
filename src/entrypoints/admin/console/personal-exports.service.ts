import { Injectable, type Type } from '@nestjs/common';
import { AuditService } from '#records/audit/audit.service.js';
import { Transactions } from '#platform/database/queries/transactions.js';
import type { Page, PageRequest } from '#platform/database/queries/read-page.js';
import type { PageQuery } from '#platform/http/api/page-query.js';
import type { CsvAnswer, CsvColumns } from '#platform/http/page-routes/csv-answer.js';
import type { ConsoleContext } from './console-context.js';
import { exportedList } from './filtered-list.js';

/** Exports of personal data as files, each recorded in the audit log. */
@Injectable()
export class PersonalExports {
  constructor(
    private readonly audit: AuditService,
    private readonly transactions: Transactions,
  ) {}

  /** As `exportedList`. The audit event does not contain the filter, which may name a person. */
  async of<Query extends PageQuery, T extends { id: string }>(
    { url, user, actor }: ConsoleContext,
    list: string,
    columns: CsvColumns<T>,
    dto: Type<Query>,
    read: (query: Query, page: PageRequest) => Promise<Page<T>>,
  ): Promise<CsvAnswer> {
    const file = await exportedList(`${list}.csv`, columns, dto, url, read);
    await this.transactions.run(() =>
      this.audit.record(actor, {
        action: 'user.list_downloaded',
        subjectId: user.id,
        after: { list },
      }),
    );
    return file;
  }
}
