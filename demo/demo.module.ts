import { Module, type OnModuleInit, type Type } from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import type { FastifyInstance } from 'fastify';
import { DemoController } from './demo.controller.js';

/** Routes that only the demonstration has; `mount` adds those that are no controllers. */
export function demoModule(mount: (fastify: FastifyInstance) => void): Type {
  @Module({ controllers: [DemoController] })
  class DemoModule implements OnModuleInit {
    constructor(private readonly server: HttpAdapterHost) {}

    onModuleInit(): void {
      mount(this.server.httpAdapter.getInstance<FastifyInstance>());
    }
  }
  return DemoModule;
}
