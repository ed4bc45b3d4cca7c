import {
  createParamDecorator,
  HttpException,
  Inject,
  Injectable,
  Module,
  SetMetadata,
  type CanActivate,
  type DynamicModule,
  type ExecutionContext,
  type OnApplicationBootstrap,
  type OnApplicationShutdown,
} from '@nestjs/common';
import { HttpAdapterHost, Reflector } from '@nestjs/core';
import type { IncomingMessage } from 'node:http';
import { AccessGuard, guarded } from './access-guard.js';
import type { Access } from './introspection.js';
import type { GuardOptions } from './options.js';
import { AccessRefusal } from './refusal.js';

const NEEDS = 'charging data access needs';

/** A request of either platform. */
export interface NestRequest {
  headers: Record<string, string | string[] | undefined>;
  params?: unknown;
  url: string;
  originalUrl?: string;
  /** The request of Node.js, on Fastify. */
  raw?: IncomingMessage;
  /** What the token of the request may do; set by the guard. */
  access?: Access;
}

/** What a route needs. */
export interface NestNeeds {
  scopes?: readonly string[];
  /** The id of the user whose data the request asks for: the name of a parameter of the path, or a function. */
  user?: string | ((request: NestRequest) => string | undefined);
}

/** What a route, or all routes of a controller, need. */
export const RequireAccess = (needs: NestNeeds = {}) => SetMetadata(NEEDS, needs);

/** The parameter that holds what the token of the request may do. */
export const CurrentAccess = createParamDecorator(
  (_data: unknown, context: ExecutionContext) => context.switchToHttp().getRequest<NestRequest>().access,
);

/** Admits requests whose token may do what the route needs; all others are refused. For `@UseGuards` or `APP_GUARD`. */
@Injectable()
export class AccessTokenGuard implements CanActivate {
  constructor(
    @Inject(AccessGuard) private readonly guard: AccessGuard,
    @Inject(Reflector) private readonly reflector: Reflector,
    @Inject(HttpAdapterHost) private readonly host: HttpAdapterHost,
  ) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const { scopes, user } =
      this.reflector.getAllAndOverride<NestNeeds | undefined>(NEEDS, [
        context.getHandler(),
        context.getClass(),
      ]) ?? {};
    const request = context.switchToHttp().getRequest<NestRequest>();
    try {
      request.access = await this.guard.authorize(
        guarded(request.raw ?? (request as IncomingMessage), request.originalUrl ?? request.url),
        { scopes, userId: userOf(request, user) },
      );
      return true;
    } catch (error) {
      if (!(error instanceof AccessRefusal)) throw error;
      const response = context.switchToHttp().getResponse<unknown>();
      for (const [name, value] of Object.entries(error.headers)) {
        this.host.httpAdapter.setHeader(response, name, value);
      }
      throw new HttpException(JSON.parse(error.body) as object, error.status, { cause: error });
    }
  }
}

/** A parameter that the path does not have is an error of the program, and must not admit anybody. */
function userOf(request: NestRequest, user: NestNeeds['user']): string | undefined {
  // Without an id, it is nobody's data.
  if (typeof user !== 'string') return user && (user(request) ?? '');
  const value = (request.params as Record<string, unknown> | undefined)?.[user];
  if (typeof value !== 'string') throw new Error(`The path has no parameter ${user}.`);
  return value;
}

/** Serves the metadata (RFC 9728), and starts and ends the guard with the application. */
@Injectable()
class AccessGuardLifecycle implements OnApplicationBootstrap, OnApplicationShutdown {
  constructor(
    @Inject(AccessGuard) private readonly guard: AccessGuard,
    @Inject(HttpAdapterHost) { httpAdapter }: HttpAdapterHost,
  ) {
    // Not by a controller: a prefix for all routes must not move it.
    httpAdapter.get(guard.metadataPath, (_request: unknown, response: unknown) => {
      httpAdapter.setHeader(response, 'access-control-allow-origin', '*');
      httpAdapter.setHeader(response, 'cache-control', 'max-age=3600');
      httpAdapter.reply(response, guard.metadata, 200);
    });
  }

  onApplicationBootstrap(): void {
    this.guard.start();
  }

  onApplicationShutdown(): Promise<void> {
    return this.guard.close();
  }
}

/** Provides an `AccessGuard` and the `AccessTokenGuard` to the whole application. */
@Module({})
export class AccessGuardModule {
  static forRoot(options: GuardOptions): DynamicModule {
    return {
      module: AccessGuardModule,
      global: true,
      providers: [
        { provide: AccessGuard, useFactory: () => new AccessGuard(options) },
        AccessTokenGuard,
        AccessGuardLifecycle,
      ],
      exports: [AccessGuard, AccessTokenGuard],
    };
  }
}
