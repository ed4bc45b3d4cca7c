import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { BrandController } from './brand.controller.js';
import { BrandEntity } from './brand.entity.js';
import { BrandRepository, LogosRepository, LogoEntity } from './brand.repository.js';
import { BrandService, LogosService } from './brand.service.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';

/** The brand of the service, and the logos of the service and of clients. */
@Module({
  imports: [AuditModule, TypeOrmModule.forFeature([BrandEntity, LogoEntity])],
  controllers: [BrandController],
  providers: [BrandRepository, BrandService, LogosRepository, LogosService],
  exports: [BrandService, LogosService],
})
export class BrandModule {
  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    // Logos that nothing shows any more. Assigning a logo refreshes it in the same transaction, so that it is not removed in between.
    return [
      {
        table: 'logos',
        by: 'stored_at',
        before: "now() - interval '1 day'",
        condition: `NOT EXISTS (SELECT 1 FROM brand b WHERE b.logo_id = t.id)
          AND NOT EXISTS (SELECT 1 FROM clients c WHERE c.logo_id = t.id)`,
      },
    ];
  }
}
