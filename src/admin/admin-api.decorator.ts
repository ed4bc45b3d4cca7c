import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { JsonBodyGuard } from '../http/json-body.guard.js';
import { LimitedBearerGuard } from '../rate-limits/limited-bearer.guard.js';
import { RequireScopes, ScopesGuard } from '../tokens/scopes.guard.js';

/**
 * A controller of the admin API (contract §12): requires a token with `admin:write`, and JSON bodies. Read-only routes have
 * `@AdminRead()`, so that a forgotten decorator requires more, never less.
 */
export const AdminApi = () =>
  applyDecorators(
    UseGuards(LimitedBearerGuard, ScopesGuard, JsonBodyGuard),
    RequireScopes('admin:write'),
    ApiTags('Admin'),
    ApiBearerAuth(),
  );

/** A read-only route of the admin API: requires `admin:read` instead. */
export const AdminRead = () => RequireScopes('admin:read');
