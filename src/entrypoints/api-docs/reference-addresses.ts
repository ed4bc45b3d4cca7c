/** Where the reference shows something: Scalar makes these anchors from the document. A test in a browser follows them. */
const anchor = (tag: string, rest: string): string => `#tag/${tag.toLowerCase()}/${rest}`;

export const operationAnchor = (tag: string, method: string, path: string): string =>
  anchor(tag, method.toUpperCase() + path);

export const webhookAnchor = (type: string): string =>
  anchor('webhooks', `webhook/POST/${type.replaceAll('_', '-')}`);
