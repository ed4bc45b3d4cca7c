import { Injectable } from '@nestjs/common';
import { DataSource } from 'typeorm';

/** The migrations that a build must know to work on the schema. */
@Injectable()
export class RequiredMigrationsRepository {
  constructor(private readonly dataSource: DataSource) {}

  /** Their names; rejects if the database does not respond. In SQL, because the table has no entity: only migrations write it. */
  async names(): Promise<string[]> {
    const rows: { name: string }[] = await this.dataSource.query('SELECT name FROM required_migrations');
    return rows.map(({ name }) => name);
  }
}
