import { Injectable } from '@nestjs/common';

/** Whether the page of this service at this path and query redirects to another site by itself. */
export type LeadsAway = (path: string) => Promise<boolean>;

/**
 * The port through which higher modules register pages that redirect to other sites. No form redirects to them, because Chromium
 * checks the whole chain of redirects against the `form-action` of the form's page.
 */
@Injectable()
export class OnwardRedirects {
  private readonly parts: LeadsAway[] = [];

  /** Called once by each module with such pages. */
  add(part: LeadsAway): void {
    this.parts.push(part);
  }

  async leadAway(path: string): Promise<boolean> {
    for (const part of this.parts) if (await part(path)) return true;
    return false;
  }
}
