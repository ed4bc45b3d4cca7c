import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { AuditModule } from '#records/audit/audit.module.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import { BrandController } from './brand.controller.js';
import { BrandEntity } from './brand.entity.js';
import { BRAND_PURGE } from './brand-purge.js';
import { BrandRepository } from './brand.repository.js';
import { BrandService } from './brand.service.js';
import { LogoEntity } from './logo.entity.js';
import { LogosRepository } from './logos.repository.js';
import { LogosService } from './logos.service.js';

/** The brand of the service, and the logos of the service and of clients. */
@Module({
  imports: [AuditModule, TypeOrmModule.forFeature([BrandEntity, LogoEntity])],
  controllers: [BrandController],
  providers: [BrandRepository, BrandService, LogosRepository, LogosService],
  exports: [BrandService, LogosService],
})
export class BrandModule {
  @Answers('purge.tasks')
  purged() {
    return BRAND_PURGE;
  }
}
