import { Injectable } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Settings } from '#platform/config/settings.js';

/**
 * Before the names of cookies where the base URL is not https, such as on a developer's machine: browsers keep the cookies of a host together,
 * whatever the port, and an application there may call its own `session`.
 */
export const OUR_COOKIES = 'cds_';

/** Before them where it is https: only this host can set such a cookie. */
export const HOST_COOKIES = '__Host-';

/** Cookies of this service: HttpOnly, SameSite=Lax by default, and `Secure` if the base URL is https. */
@Injectable()
export class Cookies {
  constructor(private readonly settings: Settings) {}

  get(request: FastifyRequest, name: string): string | undefined {
    return request.cookies[this.fullName(name)];
  }

  /** Makes a cookie that was just set visible within the same request. */
  remember(request: FastifyRequest, name: string, value: string): void {
    request.cookies[this.fullName(name)] = value;
  }

  /** Sets a cookie for this many seconds, or for the browser session. */
  set(
    reply: FastifyReply,
    name: string,
    value: string,
    maxAge?: number,
    sameSite: 'lax' | 'strict' = 'lax',
  ): void {
    const attributes = { ...this.attributes(), sameSite };
    void reply.setCookie(this.fullName(name), value, { ...attributes, ...(maxAge ? { maxAge } : {}) });
  }

  clear(reply: FastifyReply, name: string): void {
    void reply.clearCookie(this.fullName(name), this.attributes());
  }

  private fullName(name: string): string {
    return (this.settings.secure ? HOST_COOKIES : OUR_COOKIES) + name;
  }

  private attributes() {
    return { path: '/', httpOnly: true, sameSite: 'lax' as const, secure: this.settings.secure };
  }
}
