/** How OpenTelemetry sends; both over HTTP. */
export type OtlpProtocol = 'http/protobuf' | 'http/json';
