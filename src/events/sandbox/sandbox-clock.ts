import { Injectable } from '@nestjs/common';

/** The clock of sandboxes: the database's, or ahead of it, where someone does not want to wait for a session. */
@Injectable()
export class SandboxClock {
  aheadSeconds = 0;
}
