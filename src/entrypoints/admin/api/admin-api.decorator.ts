import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiSecurity, ApiTags } from '@nestjs/swagger';
import type { OperatorRole } from '#platform/config/operator-role.js';
import { ApiEndpoint, ApiProblems } from '#platform/http/api/api-answers.js';
import { LimitedBearerGuard } from '#access/rate-limits/partners/limited-bearer.guard.js';
import { RequireScopes, ScopesGuard } from '#access/tokens/access/scopes.guard.js';
import { LeastRole } from '../least-role.js';
import { OperatorRoleGuard } from './operator-role.guard.js';

/**
 * A controller of the admin API (contract §12): requires a token with `admin:write`, and JSON bodies. Read-only routes have
 * `@AdminRead()`, so that a forgotten decorator requires more, never less.
 */
export const AdminApi = () =>
  applyDecorators(
    UseGuards(LimitedBearerGuard, ScopesGuard, OperatorRoleGuard),
    RequireScopes('admin:write'),
    ApiTags('Admin'),
  );

/** A read-only route of the admin API: requires `admin:read` instead. Clients of every operator may use it. */
export const AdminRead = (operationId: string, summary: string, description: string) =>
  applyDecorators(
    RequireScopes('admin:read'),
    LeastRole('viewer'),
    described('admin:read', operationId, summary, description),
  );

/** A route of the admin API that changes something, and the least role of an operator whose client may use it (contract §17). */
export const AdminWrite = (
  operationId: string,
  summary: string,
  description: string,
  least: OperatorRole = 'admin',
) =>
  applyDecorators(
    LeastRole(least),
    described('admin:write', operationId, summary, description),
    ApiProblems(413, 415),
  );

const described = (scope: string, ...[operationId, summary, description]: Parameters<typeof ApiEndpoint>) =>
  applyDecorators(
    ApiEndpoint(operationId, summary, description),
    ApiSecurity('oauth2', [scope]),
    ApiProblems(400, 401, 403, 429, 500, 503),
  );
