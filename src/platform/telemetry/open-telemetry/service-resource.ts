import {
  detectResources,
  envDetector,
  resourceFromAttributes,
  serviceInstanceIdDetector,
} from '@opentelemetry/resources';

export const SERVICE_NAME = 'charging-data-service';
// Contract §14: within the time of a shutdown.
export const LAST_EXPORT_MS = 1_000;

/**
 * What spans and metrics are about, with an id for each start, so that the numbers of instances are not mixed up; `OTEL_SERVICE_NAME`
 * and `OTEL_RESOURCE_ATTRIBUTES` win.
 */
export const SERVICE_RESOURCE = resourceFromAttributes({ 'service.name': SERVICE_NAME }).merge(
  detectResources({ detectors: [serviceInstanceIdDetector, envDetector] }),
);
