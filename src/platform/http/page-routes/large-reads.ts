import {
  Injectable,
  UseInterceptors,
  type CallHandler,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { finalize, type Observable } from 'rxjs';
import { say } from '#platform/language/text.js';
import { Form, queryStringOf } from '../forms/form.js';
import { rateLimitExceeded } from '../problems/problem.js';
import { addressKey } from '../server/address-key.js';
import { exchangeOf } from '../server/exchange.js';

/** Contract §7. */
export const LARGE_READS_PER_ACCOUNT = 2;
export const LARGE_READS_PER_INSTANCE = 8;

/** What reads much and is under way on this instance: files, searches and counts. */
@Injectable()
export class LargeReads {
  private readonly byWhom = new Map<string, number>();
  private all = 0;

  /** Returns what to call at its end; throws a 429 problem if there are too many already. */
  begin(who: string): () => void {
    const own = this.byWhom.get(who) ?? 0;
    if (own >= LARGE_READS_PER_ACCOUNT) throw tooMany(OWN, '2');
    if (this.all >= LARGE_READS_PER_INSTANCE) throw tooMany(EVERYBODYS, '5');
    this.byWhom.set(who, own + 1);
    this.all++;
    return () => {
      const left = this.byWhom.get(who)! - 1;
      if (left > 0) this.byWhom.set(who, left);
      else this.byWhom.delete(who);
      this.all--;
    };
  }
}

@Injectable()
class LargeReadInterceptor implements NestInterceptor {
  constructor(private readonly reads: LargeReads) {}

  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const { request, reply } = exchangeOf(context);
    const end = this.reads.begin(request.countedHolders?.[0] ?? addressKey(request.ip));
    // Over when the answer was sent, and no sooner than the work has ended: who disconnects does not stop that.
    return next.handle().pipe(finalize(() => (reply.raw.destroyed ? end() : reply.raw.once('close', end))));
  }
}

@Injectable()
class SearchInterceptor extends LargeReadInterceptor {
  override intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    const query = Form.parse(queryStringOf(exchangeOf(context).request.url));
    return query.get('q') ? super.intercept(context, next) : next.handle();
  }
}

/** Marks a route that reads much: an export, a search or a count. */
export const ReadsMuch = () => UseInterceptors(LargeReadInterceptor);

/** The same for a list, if it is searched (`?q=`). */
export const ReadsMuchForSearch = () => UseInterceptors(SearchInterceptor);

const OWN = say(
  'Two files, searches or counts of yours are still under way. Please try again when one of them is done.',
);
const EVERYBODYS = say(
  'Many files, searches and counts are under way at the moment. Please try again shortly.',
);

const tooMany = (detail: string, retryAfter: string) =>
  rateLimitExceeded(detail, { headers: { 'retry-after': retryAfter } });
