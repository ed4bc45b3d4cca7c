/** Takes the place of the module with which oidc-provider prints warnings. */
export const info = (): void => undefined;
export const warn = (): void => undefined;
