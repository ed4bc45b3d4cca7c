import fc from 'fast-check';
import { HISTORY, perform, rebuilt } from './consent-histories.js';
import { useService } from './test-service.js';

/** So many random histories, performed on a running service, are rebuilt exactly by a program that has none of its code. */
export const describeHistories = (count: number) =>
  describe(`${count} random histories of consents`, () => {
    const service = useService();
    const expected = new Map<string, unknown>();
    beforeAll(async () => {
      const client = await service.make.client({ consentExpiryDays: 30 });
      for (const history of fc.sample(HISTORY, {
        numRuns: count,
        seed: Number(process.env.PROPERTY_SEED ?? 28),
      })) {
        const { id } = await service.make.user();
        const said = await perform(service, client, id, history);
        if (said.length > 0) expected.set(id, said);
      }
    });

    it.each(['rows', 'receipts'] as const)('are rebuilt exactly from %s', async (from) => {
      expect(await rebuilt(service, from)).toEqual(expected);
    });

    it.each<[string, 'rows' | 'receipts', (line: string) => string | undefined]>([
      ['a row that is missing', 'rows', () => undefined],
      [
        'a row that was changed',
        'rows',
        (line) => line.replace(/"replaces":("[^"]+"|null)/, '"replaces":"x"'),
      ],
      ['a receipt that was changed', 'receipts', (line) => line.replace(/"payload":"./, '"payload":"x')],
      [
        'a receipt with another signature',
        'receipts',
        (line) => line.replace(/"signature":"(.)/, (_, first) => `"signature":"${first === 'x' ? 'y' : 'x'}`),
      ],
    ])('are refused with %s', async (_what, from, change) => {
      const refusal = await rebuilt(service, from, (lines) => {
        // A first version of a consent that has more of them.
        const at = lines.findIndex(
          (line) => /"event":"?(given|\{"type":"given)/.test(line) && isContinued(line, lines),
        );
        return lines.flatMap((line, index) => (index === at ? (change(line) ?? []) : line));
      });
      expect(refusal).toEqual(
        expect.stringMatching(/: (a version before it is missing|it does not replace|it is not signed)/),
      );
    });
  });

const isContinued = (line: string, lines: string[]): boolean => {
  const id = /"(?:id|record_id)":"([^"]+)"/.exec(line)![1]!;
  return lines.some((other) => other.includes(`"replaces":"${id}"`));
};
