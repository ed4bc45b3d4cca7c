import { withParameters } from '#entrypoints/oauth/authorization/redirect.js';

describe('parameters added to a redirect URI', () => {
  it.each([
    ['https://app.example/cb', 'https://app.example/cb?code=c'],
    ['https://app.example/cb?', 'https://app.example/cb?code=c'],
    ['https://app.example/cb?a=b', 'https://app.example/cb?a=b&code=c'],
    ['https://app.example/cb?a=b&', 'https://app.example/cb?a=b&code=c'],
    // Only the first question mark starts the query: the others are part of it.
    ['https://app.example/cb??', 'https://app.example/cb??&code=c'],
    ['https://app.example/cb?a=b?', 'https://app.example/cb?a=b?&code=c'],
    ['com.example.app:/cb', 'com.example.app:/cb?code=c'],
  ])('are appended to %s', (registered, location) => {
    expect(withParameters(registered, { code: 'c', state: undefined })).toBe(location);
    expect(new URL(location).searchParams.get('code')).toBe('c');
  });
});
