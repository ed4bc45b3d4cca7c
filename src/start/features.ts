import type { Type } from '@nestjs/common';
import { BrandEditingModule } from '#features/brand-editing/brand-editing.module.js';
import { ClientContactsModule } from '#features/client-contacts/client-contacts.module.js';
import { ConsentReceiptsModule } from '#features/consent-receipts/consent-receipts.module.js';
import { FourEyesModule } from '#features/four-eyes/four-eyes.module.js';
import { LiveSandboxModule } from '#features/live-sandbox/live-sandbox.module.js';
import { OtlpExportModule } from '#features/otlp-export/otlp-export.module.js';
import { RedirectUriRequestsModule } from '#features/redirect-uri-requests/redirect-uri-requests.module.js';

/** What the service has beyond its core. Without its line here and its folder, a feature is gone, and nothing else changes. */
export const FEATURES: Type[] = [
  BrandEditingModule,
  ClientContactsModule,
  ConsentReceiptsModule,
  FourEyesModule,
  LiveSandboxModule,
  OtlpExportModule,
  RedirectUriRequestsModule,
];
