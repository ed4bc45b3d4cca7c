import { text, time } from '#platform/http/api/api-schemas.js';
import { resource } from '#platform/http/resources/resource.js';
import { ResourceForm } from '#platform/http/resources/resource-form.js';
import { IsVisibleText, IsWholeNumber } from '#platform/http/validation/validation.decorators.js';
import { RequestValidationPipe } from '#platform/http/validation/validation.pipe.js';
import { apiWordsOf } from '#platform/http/problems/violation.js';
import type { Problem } from '#platform/http/problems/problem.js';
import { Form } from '#platform/http/forms/form.js';

class Van {
  id!: string;
  plate!: string;
  seatCount!: number | null;
  key!: string;
  builtAt!: Date;
}

const ID = { wire: 'van_id', view: text(), audited: { not: 'the subject' } } as const;
const PLATE = { view: text(), rule: IsVisibleText(1, 9), given: 'required', audited: true } as const;
const SEATS = {
  wire: 'seat_count',
  view: text(),
  rule: IsWholeNumber(1, 9, 'or null'),
  orNull: true,
  given: 'optional',
  initial: null,
  changeable: true,
  audited: (seats: number | null) => (seats === null ? 'unknown' : seats),
  form: { as: 'number', label: 'Seats' },
} as const;
const KEY = { audited: { not: 'secret' } } as const;
const BUILT = { wire: 'built_at', view: time(), audited: { not: 'never changes' } } as const;

const VAN = resource<Van>()('van', { id: ID, plate: PLATE, seatCount: SEATS, key: KEY, builtAt: BUILT });
const FORM = new ResourceForm(VAN);
const van: Van = { id: 'v', plate: 'AB 1', seatCount: 5, key: 'secret', builtAt: new Date(0) };

const errorsOf = async (body: object, dto: new () => object): Promise<unknown> =>
  new RequestValidationPipe().transform(body, { type: 'body', metatype: dto }).then(
    (value) => value,
    (error: unknown) => apiWordsOf((error as Problem).extras.violations!),
  );

describe('A resource that is declared once', () => {
  it('shows its fields by their wire names, and never one without a schema', () => {
    expect(VAN.view(van)).toEqual({
      van_id: 'v',
      plate: 'AB 1',
      seat_count: 5,
      built_at: '1970-01-01T00:00:00.000Z',
    });
  });

  it('audits the fields that are audited', () => {
    expect(VAN.auditView(van)).toEqual({ plate: 'AB 1', seat_count: 5 });
    expect(VAN.auditView({ ...van, seatCount: null })).toEqual({ plate: 'AB 1', seat_count: 'unknown' });
  });

  it('judges a body that creates one, and completes it', async () => {
    class NewVan extends VAN.newBody() {}
    expect(await errorsOf({ seat_count: 0, built_at: 'x' }, NewVan)).toEqual({
      plate: ['must be a string of 1 to 9 characters, not only spaces'],
      seat_count: ['must be a whole number from 1 to 9, or null'],
      built_at: ['is not a known member'],
    });
    const body = (await errorsOf({ plate: 'AB 1' }, NewVan)) as NewVan;
    expect(VAN.complete(VAN.newOf(body))).toEqual({ plate: 'AB 1', seatCount: null });
  });

  it('judges a body that changes one: all may be omitted, and what is fixed is refused', async () => {
    class VanChanges extends VAN.changesBody() {}
    expect(await errorsOf({ plate: 'CD 2', seat_count: 10 }, VanChanges)).toEqual({
      plate: ['cannot be changed after the van was created'],
      seat_count: ['must be a whole number from 1 to 9, or null'],
    });
    expect(VAN.changesOf((await errorsOf({ seat_count: null }, VanChanges)) as VanChanges)).toEqual({
      seatCount: null,
    });
    expect(VAN.changesOf((await errorsOf({}, VanChanges)) as VanChanges)).toEqual({});
  });

  it('has values for a form, and members of what was typed', () => {
    expect([FORM.empty(), FORM.of(van)]).toEqual([{ seat_count: '' }, { seat_count: '5' }]);
    const typed = (text: string) => FORM.changedMembers(FORM.in(Form.parse(`seat_count=${text}`)));
    expect(['', '+7+', 'many'].map(typed)).toEqual([
      { seat_count: null },
      { seat_count: 7 },
      { seat_count: 'many' },
    ]);
  });

  // The type check asserts the comments: it fails if a line below one of them compiles.
  it('does not compile unless each field of the entity is declared', () => {
    const compiled = [
      // @ts-expect-error plate is forgotten
      () => resource<Van>()('van', { id: ID, seatCount: SEATS, key: KEY, builtAt: BUILT }),
      // @ts-expect-error whether key is audited is not said
      () => resource<Van>()('van', { id: ID, plate: PLATE, seatCount: SEATS, key: {}, builtAt: BUILT }),
      // @ts-expect-error key is never shown
      () => VAN.view(van).key,
      // @ts-expect-error plate is fixed
      () => VAN.changesOf({ plate: 'AB 1' }),
      // @ts-expect-error plate is required
      () => VAN.complete({ seatCount: 5 }),
    ];
    expect(compiled).toHaveLength(5);
  });
});
