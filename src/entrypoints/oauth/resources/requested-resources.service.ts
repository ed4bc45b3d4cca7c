import { Injectable } from '@nestjs/common';
import { KnownResources } from '#access/clients/resources/known-resources.service.js';
import {
  canonicalResource,
  isResourceIndicator,
  RESOURCES_MAX,
} from '#access/clients/resources/resource-indicator.js';
import type { Form } from '#platform/http/forms/form.js';
import { resourceNotGranted, unknownResource } from '../refusals.js';

const MALFORMED = `Each resource must be an absolute URI without a fragment, and there may be at most ${RESOURCES_MAX}.`;
const UNKNOWN = 'A resource is unknown: it is neither this service nor that of a data service.';

/** The `resource` parameters of a request (RFC 8707 §2): in their canonical form, each once; undefined if there are none. */
type Requested = { resources: string[] | undefined } | { refused: string };

/** Reads `resource` parameters, and decides what a token may be for. */
@Injectable()
export class RequestedResources {
  constructor(private readonly known: KnownResources) {}

  /** Those of an authorization request; all of them must be known. */
  async check(form: Form): Promise<Requested> {
    const read = resourcesIn(form);
    if ('refused' in read || !read.resources) return read;
    return (await this.known.includes(read.resources)) ? read : { refused: UNKNOWN };
  }

  /** Those of a token request; throws an OAuthError if they are malformed. */
  in(form: Form): string[] | undefined {
    const read = resourcesIn(form);
    if ('refused' in read) throw unknownResource(read.refused);
    return read.resources;
  }

  /**
   * Throws an OAuthError unless a token may be for these. RFC 8707 §2.2: at most for what was `granted`; if that is everything (null), for
   * what is known.
   */
  async require(resources: readonly string[], granted: readonly string[] | null): Promise<void> {
    if (granted && !resources.every((resource) => granted.includes(resource))) throw resourceNotGranted();
    if (!granted && !(await this.known.includes(resources))) throw unknownResource(UNKNOWN);
  }
}

function resourcesIn(form: Form): Requested {
  const sent = form.getAll('resource');
  if (sent.length === 0) return { resources: undefined };
  const resources = [...new Set(sent.map(canonicalResource))];
  const isWellFormed = sent.every(isResourceIndicator) && resources.length <= RESOURCES_MAX;
  return isWellFormed ? { resources } : { refused: MALFORMED };
}
