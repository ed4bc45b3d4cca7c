import { ExecutionContextHost } from '@nestjs/core/helpers/execution-context-host.js';
import { createHmac } from 'node:crypto';
import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';

// V8 decides after the seventh.
const OBJECTS = 8;

const CLASSES: (() => unknown)[] = [
  () => new ServerResponse(new IncomingMessage(new Socket())).writeHead(200, {}).end(),
  () => createHmac('sha256', '').update('').digest(),
  () => new ExecutionContextHost([]),
];

/**
 * V8 decides from the first seven objects of a class how many of its members an object holds itself. If a collection comes between them,
 * as with a health check every few seconds, it holds none until the process ends, and a response even becomes a dictionary. So the first
 * objects of the classes of each request are made at once (docs/decisions/0008).
 */
export function settleClasses(): void {
  for (const create of CLASSES) for (let n = 0; n < OBJECTS; n++) create();
}
