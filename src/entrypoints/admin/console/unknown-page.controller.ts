import { NotFoundException } from '@nestjs/common';
import { ConsolePages, ConsoleGet } from './console-pages.decorator.js';

/** All other URLs of the console, so that operators stay in the console. */
@ConsolePages()
export class ConsoleUnknownPageController {
  /** 405 if the URL only accepts a form. */
  @ConsoleGet('*', 'not asked', 'viewer')
  show(): never {
    throw new NotFoundException();
  }
}
