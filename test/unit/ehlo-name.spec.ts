import { ehloName } from '#records/mail/mail-worker.service.js';

describe('The name in EHLO', () => {
  it.each([
    ['https://charging.example', 'charging.example'],
    ['http://localhost:3000', 'localhost'],
    ['http://127.0.0.1:3000', '[127.0.0.1]'],
    ['http://[::1]:3000', '[IPv6:::1]'],
    ['https://müller.example', 'xn--mller-kva.example'],
  ])('of %s is %s', (baseUrl, name) => {
    expect(ehloName(baseUrl)).toBe(name);
  });
});
