import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  type Resource,
} from '@opentelemetry/resources';

export const SERVICE_NAME = 'charging-data-service';
// Contract §14: within the time of a shutdown.
export const LAST_EXPORT_MS = 1_000;

/** What spans and metrics are about: `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` win. */
export const serviceResource = (): Resource =>
  resourceFromAttributes({ 'service.name': SERVICE_NAME }).merge(
    detectResources({ detectors: [envDetector] }),
  );
