import { emailKeyOf } from '#access/users/accounts/email.js';

describe('the key of an email address', () => {
  it.each([
    ['ada@mail.example', 'ADA@Mail.Example'],
    ['josé@mail.example', 'JOSE\u0301@mail.example'],
    ['ada@mail.example', 'ａｄａ@mail.example'],
    // At the end of a word the small sigma has a different form.
    ['νίκος@mail.example', 'ΝΊΚΟΣ@mail.example'],
    ['νίκος@mail.example', 'νίκοσ@mail.example'],
    ['ϲ@mail.example', 'Ϲ@mail.example'],
  ])('is the same for %s and %s', (one, other) => {
    expect(emailKeyOf(one)).toBe(emailKeyOf(other));
    expect(emailKeyOf(emailKeyOf(one))).toBe(emailKeyOf(one));
  });

  it.each([
    ['ada@mail.example', 'ada@mail.example.org'],
    ['ada@mail.example', 'a.da@mail.example'],
    ['ada@mail.example', 'ada+1@mail.example'],
    ['jose@mail.example', 'josé@mail.example'],
  ])('is different for %s and %s', (one, other) => expect(emailKeyOf(one)).not.toBe(emailKeyOf(other)));
});
