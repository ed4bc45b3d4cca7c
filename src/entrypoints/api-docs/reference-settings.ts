/** Samples are for curl, Node, Python and Go. Of these languages it shows `undici` and `python3` as tabs, the others in a menu. */
const HIDDEN_CLIENTS = {
  shell: ['httpie', 'wget'],
  node: ['axios', 'ofetch'],
  python: ['aiohttp', 'httpx_async', 'httpx_sync'],
  ...Object.fromEntries(
    'c clojure csharp dart fsharp http java js julia kotlin objc ocaml php powershell r ruby rust swift'
      .split(' ')
      .map((language) => [language, true]),
  ),
};

/**
 * What the API reference of a page is configured with: everything from this service, nothing from elsewhere. With a client id, requests
 * are tried out as that client once its secret is typed.
 */
export const referenceSettings = (url: string, clientId?: string) => ({
  url,
  documentDownloadType: 'direct',
  proxyUrl: '',
  withDefaultFonts: false,
  telemetry: false,
  agent: { disabled: true },
  mcp: { disabled: true },
  hideClientButton: true,
  showDeveloperTools: 'never',
  persistAuth: false,
  defaultOpenFirstTag: false,
  hiddenClients: HIDDEN_CLIENTS,
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
  // The button's accessible name begins with "Show all".
  localization: { translations: { actions: { showMore: 'Show all' } } },
  // The redirect URI is the address of the page: given here, it would be lost when the client id is typed.
  authentication: {
    preferredSecurityScheme: 'oauth2',
    securitySchemes: {
      oauth2: {
        flows: {
          authorizationCode: { 'x-usePkce': 'SHA-256', ...given(clientId) },
          ...(clientId === undefined ? {} : { clientCredentials: given(clientId) }),
        },
      },
      ...(clientId === undefined ? {} : { clientBasic: { username: clientId } }),
    },
  },
});

const given = (clientId: string | undefined) =>
  clientId === undefined ? {} : { 'x-scalar-client-id': clientId };
