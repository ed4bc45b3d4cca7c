import { Injectable } from '@nestjs/common';
import type { ComponentType } from 'preact';
import type { ConnectedClient } from '#access/tokens/grants/grant.js';

/** The port through which features add links to the page of connected applications. */
@Injectable()
export class ApplicationLinks {
  /** Behind the other links of each application. */
  readonly ofEach: ComponentType<{ client: ConnectedClient }>[] = [];
  /** Below the list. */
  readonly below: ComponentType[] = [];
}
