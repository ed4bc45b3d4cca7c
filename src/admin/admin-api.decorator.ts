import { applyDecorators, UseGuards } from '@nestjs/common';
import { ApiBearerAuth, ApiTags } from '@nestjs/swagger';
import { JsonBodyGuard } from '../http/json-body.guard.js';
import { BearerGuard } from '../tokens/bearer.guard.js';
import { RequireScopes, ScopesGuard } from '../tokens/scopes.guard.js';

/**
 * A controller of the admin API (contract §12): a live token with `admin:write`, and JSON bodies. What only reads says
 * `@AdminRead()`, so that a forgotten decorator asks for more, never for less.
 */
export const AdminApi = () =>
  applyDecorators(
    UseGuards(BearerGuard, ScopesGuard, JsonBodyGuard),
    RequireScopes('admin:write'),
    ApiTags('Admin'),
    ApiBearerAuth(),
  );

/** A route of the admin API that changes nothing: needs `admin:read` instead. */
export const AdminRead = () => RequireScopes('admin:read');
