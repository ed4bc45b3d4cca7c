import { Module } from '@nestjs/common';
import { ADMINISTERED } from '#entrypoints/admin/administered.modules.js';
import { ConsoleModule } from '#entrypoints/admin/console/console.module.js';
import { HttpModule } from '#platform/http/http.module.js';
import { ConsoleBrandController } from './console-brand.controller.js';

/** The page of the console on which admins change the brand. The brand that pages and mails show is in `records/brand`. */
@Module({ imports: [...ADMINISTERED, ConsoleModule, HttpModule], controllers: [ConsoleBrandController] })
export class BrandEditingModule {}
