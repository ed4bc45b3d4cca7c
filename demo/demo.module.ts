import { Module } from '@nestjs/common';
import { DemoController } from './demo.controller.js';

/** Routes that only the demonstration has. */
@Module({ controllers: [DemoController] })
export class DemoModule {}
