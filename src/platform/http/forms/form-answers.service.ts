import { Injectable } from '@nestjs/common';
import { createHash, createHmac, randomBytes } from 'node:crypto';
import { setTimeout as rest } from 'node:timers/promises';
import type {
  FastifyInstance,
  FastifyReply,
  FastifyRequest,
  onSendAsyncHookHandler,
  onSendHookHandler,
} from 'fastify';
import { Settings } from '#platform/config/settings.js';
import { Answers } from '#platform/database/domain/domain-map.js';
import type { PurgeTask } from '#platform/database/purge/purge-tasks.js';
import { SealedBox } from '#platform/secrets/sealed-box.js';
import { CSRF_FIELD, CsrfService } from './csrf.service.js';
import { FormAnswersRepository } from './form-answers.repository.js';
import { Form } from './form.js';

declare module 'fastify' {
  interface FastifyRequest {
    /** The form that this request handles; null if it was answered as before. */
    claimedForm?: ClaimedForm | null;
  }
}

/** What a posted form was answered. */
export interface FormAnswer {
  status: number;
  headers: Record<string, string | string[]>;
  body: string;
}

interface PostedForm {
  digest: Buffer;
  /** The browser's CSRF secret. */
  secret: string;
}

interface ClaimedForm extends PostedForm {
  attempt: Buffer;
}

// Contract §3. Also how long a form is handled at most before another request may do so.
const SECONDS = 10;
const LOOK_AGAIN_MS = 50;
/** The headers of an answer that differ between answers. */
const HEADERS = [
  'cache-control',
  'content-disposition',
  'content-language',
  'content-security-policy',
  'content-type',
  'location',
  'set-cookie',
  'vary',
];
/** How a form is refused by a guard, after its session has ended or has got another id. */
const REFUSED: readonly number[] = [303, 401, 403, 404];

/**
 * A form that a browser posts twice, such as by a double click, does once what it asks for: within ten seconds the same form with the
 * same content gets the answer that it got, at every instance (contract §3). The answer is bound to the browser: only with its CSRF
 * secret, which is not stored, can it be found and opened. What is refused can be posted again.
 */
@Injectable()
export class FormAnswers {
  constructor(
    private readonly repository: FormAnswersRepository,
    private readonly csrf: CsrfService,
    private readonly settings: Settings,
  ) {}

  @Answers('purge.tasks')
  purged(): PurgeTask[] {
    return [{ table: 'form_answers', by: 'expires_at' }];
  }

  /**
   * Claims the form of an admitted request, before anything is done. Returns the answer that it got before, which may have to be waited
   * for; undefined if the request is to be handled.
   */
  async begin(request: FastifyRequest): Promise<FormAnswer | undefined> {
    const form = this.formOf(request);
    if (!form) return undefined;
    const attempt = randomBytes(16);
    const answer = await this.settled(() => this.repository.claim(form.digest, attempt, SECONDS));
    if (answer === 'claimed') request.claimedForm = { ...form, attempt };
    if (!Buffer.isBuffer(answer)) return undefined;
    request.claimedForm = null;
    return this.open(form, answer);
  }

  /** Before the response to a form is sent: keeps it for when the form comes again, or returns the response of the first time instead. */
  async settle(request: FastifyRequest, reply: FastifyReply, payload: unknown): Promise<unknown> {
    const { claimedForm } = request;
    try {
      if (claimedForm) await this.keep(claimedForm, reply, payload);
      else if (claimedForm === undefined && REFUSED.includes(reply.statusCode)) {
        return (await this.insteadOf(request, reply)) ?? payload;
      }
    } catch (error) {
      request.log.warn({ err: error }, 'the answer of a form was not kept');
    }
    return payload;
  }

  private async keep(
    { attempt, ...form }: ClaimedForm,
    reply: FastifyReply,
    payload: unknown,
  ): Promise<void> {
    const isKept = reply.statusCode < 400 && typeof payload === 'string';
    if (!isKept) return this.repository.release(form.digest, attempt);
    const headers: FormAnswer['headers'] = {};
    for (const name of HEADERS) {
      const value = reply.getHeader(name);
      if (value !== undefined) headers[name] = Array.isArray(value) ? value : String(value);
    }
    const answer: FormAnswer = { status: reply.statusCode, headers, body: payload };
    const sealed = this.boxOf(form).seal(JSON.stringify(answer), boundTo(form));
    await this.repository.store(form.digest, attempt, sealed, SECONDS);
  }

  /**
   * A guard may refuse a form because of what it did the first time, such as ending the session that it was posted in. Only a redirect is
   * given again here: everything else is for those who are admitted.
   */
  private async insteadOf(request: FastifyRequest, reply: FastifyReply): Promise<string | undefined> {
    const form = this.formOf(request);
    const sealed = form && (await this.settled(() => this.repository.find(form.digest)));
    const answer = Buffer.isBuffer(sealed) ? this.open(form!, sealed) : undefined;
    if (answer?.headers.location === undefined) return undefined;
    for (const name of HEADERS) reply.removeHeader(name);
    return giveAgain(answer, reply);
  }

  /** Waits while another request handles the form: until it is answered, is refused or has taken too long. */
  private async settled<T>(look: () => Promise<T | 'under way'>): Promise<T> {
    for (;;) {
      const state = await look();
      if (state !== 'under way') return state as T;
      await rest(LOOK_AGAIN_MS);
    }
  }

  private formOf(request: FastifyRequest): PostedForm | undefined {
    const { body, files, url } = request;
    const secret = this.csrf.secretIn(request);
    // Its token tells a form from the same one on a page that was opened again.
    if (!secret || !(body instanceof Form) || body.get(CSRF_FIELD) === undefined) return undefined;
    const hash = createHash('sha256').update(JSON.stringify([secret, url, body.source]));
    for (const [name, file] of files) hash.update(JSON.stringify([name, file.length])).update(file);
    return { digest: hash.digest(), secret };
  }

  private open(form: PostedForm, sealed: Buffer): FormAnswer | undefined {
    const text = this.boxOf(form).open(sealed, boundTo(form));
    return text === undefined ? undefined : (JSON.parse(text) as FormAnswer);
  }

  /** Under keys that neither the settings nor the database are enough for. */
  private boxOf({ secret }: PostedForm): SealedBox {
    const keys = this.settings.encryptionKeys.map((key) => createHmac('sha256', key).update(secret).digest());
    return new SealedBox('answer of a form', keys);
  }
}

/** Has the responses of forms kept. After the hooks that set headers of all responses, such as cookies. */
export function addFormAnswers(fastify: FastifyInstance, answers: FormAnswers): void {
  // Only on these routes, because a hook on all routes would cost every request.
  fastify.addHook('onRoute', (route) => {
    if (!route.config?.answersAgain) return;
    const keep: onSendAsyncHookHandler = (request, reply, payload) => answers.settle(request, reply, payload);
    route.onSend = [route.onSend ?? [], keep].flat() as onSendHookHandler[];
  });
}

/** Gives a form the answer that it got before; returns the body. */
export function giveAgain({ status, headers, body }: FormAnswer, reply: FastifyReply): string {
  void reply.status(status).headers(headers);
  return body;
}

const boundTo = ({ digest }: PostedForm): string => digest.toString('base64url');
