import { Injectable } from '@nestjs/common';

/** The origins that a form posted to this path may be redirected to; empty for forms that stay in this service. */
export type FormTargetsOf = (path: string) => string[];

/**
 * The port through which higher modules name where forms lead outside of this service, whichever page they are on: Chromium applies a
 * page's `form-action` also to redirects after its forms.
 */
@Injectable()
export class FormTargets {
  private readonly parts: FormTargetsOf[] = [];

  /** Called once by each module with such forms. */
  add(part: FormTargetsOf): void {
    this.parts.push(part);
  }

  /** The targets of all forms that are posted to these paths. */
  of(paths: Iterable<string>): string[] {
    return [...new Set([...paths].flatMap((path) => this.parts.flatMap((part) => part(path))))];
  }
}
