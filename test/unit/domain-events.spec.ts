import { Injectable, Module, type Type } from '@nestjs/common';
import { DiscoveryModule, NestFactory } from '@nestjs/core';
import type { QueryRunner } from 'typeorm';
import { DomainEvents } from '#platform/database/domain/domain-events.service.js';
import { Answers, OnDomainEvent } from '#platform/database/domain/domain-map.js';
import { DOMAIN_NAMES, DomainMethods } from '#platform/database/domain/domain-methods.js';
import { DomainQuestions } from '#platform/database/domain/domain-questions.service.js';
import { askedOfAll, askedOfOne, event } from '#platform/database/domain/named.js';
import { inTransaction } from '#platform/database/queries/transaction-around.js';

const NAMES = {
  'car.charged': event<(energy: number) => Promise<string>>('A car was charged.'),
  'car.colours': askedOfAll<() => string>('Which colours are there?'),
  'car.owner': askedOfOne<() => string>('Whose car is it?'),
};
// As for names of the service, which these are not.
const on = OnDomainEvent as unknown as (name: string, place?: number) => MethodDecorator;
const answers = Answers as unknown as (name: string) => MethodDecorator;
type OfTests = Record<'say' | 'ask' | 'askAll', (name: string, ...given: unknown[]) => unknown>;

const told: string[] = [];

@Injectable()
class Owner {
  @answers('car.owner')
  whose() {
    return 'Ada';
  }
}

@Injectable()
class Second {
  @on('car.charged', 2)
  async note(energy: number) {
    told.push(`second ${energy}`);
    return 'two';
  }

  @answers('car.colours')
  colour() {
    return 'blue';
  }
}

@Injectable()
class First {
  private readonly name = 'first';

  @on('car.charged', 1)
  async note(energy: number) {
    await new Promise((resolve) => setImmediate(resolve));
    told.push(`${this.name} ${energy}`);
    return 'one';
  }

  @answers('car.colours')
  @answers('car.owner')
  colour() {
    return 'red';
  }
}

async function start(...providers: Type[]): Promise<OfTests> {
  @Module({
    imports: [DiscoveryModule],
    providers: [
      ...providers,
      { provide: 'another name', useExisting: providers[0]! },
      { provide: DOMAIN_NAMES, useValue: NAMES },
      DomainMethods,
      DomainEvents,
      DomainQuestions,
    ],
  })
  class App {}
  const app = await NestFactory.createApplicationContext(App, { logger: false, abortOnError: false });
  const [events, questions] = [app.get(DomainEvents), app.get(DomainQuestions)] as unknown as OfTests[];
  return {
    say: (...given) => events!.say(...given),
    ask: (...given) => questions!.ask(...given),
    askAll: (...given) => questions!.askAll(...given),
  };
}

/** A provider with one method that is declared so. */
function withMethod(name: string, decorator: MethodDecorator): Type {
  const type = {
    [name]: class {
      act() {}
    },
  }[name]!;
  decorator(type.prototype, 'act', Object.getOwnPropertyDescriptor(type.prototype, 'act')!);
  Injectable()(type);
  return type;
}

const inOne = <T>(work: () => Promise<T>): Promise<T> =>
  inTransaction({ dataSource: {} } as QueryRunner, work);

describe('The service does not start', () => {
  const refused: [what: string, providers: Type[], message: RegExp][] = [
    [
      'with a listener to an event that does not exist',
      [Owner, withMethod('Misspelt', on('car.chraged'))],
      /Misspelt\.act listens to an event that does not exist: car\.chraged/,
    ],
    [
      'with a listener to a question',
      [Owner, withMethod('Listener', on('car.owner'))],
      /Listener\.act listens to an event that does not exist: car\.owner/,
    ],
    [
      'with an answer to a question that does not exist',
      [Owner, withMethod('Answer', answers('toString'))],
      /Answer\.act answers a question that does not exist: toString/,
    ],
    [
      'without the only answer to a question',
      [Second],
      /car\.owner needs exactly one answer and has 0: none/,
    ],
    [
      'with two answers to a question that has one',
      [Owner, First],
      /car\.owner needs exactly one answer and has 2: (Owner\.whose, First\.colour|First\.colour, Owner\.whose)/,
    ],
    [
      'with two listeners that have the same place',
      [Owner, Second, withMethod('Third', on('car.charged', 2))],
      /Listeners of car\.charged have the same place in its order: Second\.note, Third\.act/,
    ],
  ];
  it.each(refused)('%s', async (_what, providers, message) => {
    await expect(start(...providers)).rejects.toThrow(message);
  });
});

describe('A domain event', () => {
  beforeEach(() => void told.splice(0));

  it('is refused outside of a transaction', async () => {
    const { say } = await start(Second, First);
    await expect(say('car.charged', 7)).rejects.toThrow(
      'The event car.charged must be part of a transaction.',
    );
    expect(told).toEqual([]);
  });

  it('reaches its listeners one after another, in their order and once, and returns what they return', async () => {
    const { say } = await start(Second, First);
    expect(await inOne(async () => say('car.charged', 7))).toEqual(['one', 'two']);
    expect(told).toEqual(['first 7', 'second 7']);
  });

  it('ends with the first listener that throws', async () => {
    const { say } = await start(Second, First);
    jest.spyOn(First.prototype, 'note').mockRejectedValueOnce(new Error('flat'));
    await expect(inOne(async () => say('car.charged', 7))).rejects.toThrow('flat');
    expect(told).toEqual([]);
  });

  it('may have no listener', async () => {
    const { say } = await start(Owner);
    expect(await inOne(async () => say('car.charged', 7))).toEqual([]);
  });
});

describe('A question', () => {
  it('of one has its answer, and one of all has all', async () => {
    const { ask, askAll } = await start(Second, First);
    expect(ask('car.owner')).toBe('red');
    expect((askAll('car.colours') as string[]).sort()).toEqual(['blue', 'red']);
  });
});
