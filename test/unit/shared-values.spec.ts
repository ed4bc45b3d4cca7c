import { SharedValues } from '../../src/tokens/shared-values.js';

describe('shared values', () => {
  it('are one for all that are equal', () => {
    const values = new SharedValues(10);
    const first = values.of({ id: 'a', rateLimit: null });
    expect(values.of({ id: 'a', rateLimit: null })).toBe(first);
    expect(first).toEqual({ id: 'a', rateLimit: null });
  });

  it('are another where anything differs', () => {
    const values = new SharedValues(10);
    const first = values.of({ id: 'a', rateLimit: 5 });
    expect(values.of({ id: 'a', rateLimit: 6 })).toEqual({ id: 'a', rateLimit: 6 });
    expect(first.rateLimit).toBe(5);
    expect(values.of(['a'])).not.toBe(values.of(['a', 'b']));
  });

  it('cannot be changed by one of their holders', () => {
    const scopes = new SharedValues(10).of(['vehicle:read']) as string[];
    expect(() => scopes.push('token:introspect')).toThrow(TypeError);
    expect(scopes).toEqual(['vehicle:read']);
  });

  it('are no more than asked for', () => {
    const values = new SharedValues(1);
    const first = values.of(['a']);
    values.of(['b']);
    expect(values.of(['a'])).not.toBe(first);
  });
});
