import type { Type } from '@nestjs/common';
import { Form, queryStringOf } from '../../http/form.js';
import { RequestValidationPipe } from '../../http/validation.pipe.js';

const pipe = new RequestValidationPipe();

/** The query of a list by the rules of the admin API's DTO; fields of a filter that were left empty are as if not sent. */
export async function listQuery<T extends object>(dto: Type<T>, url: string): Promise<T> {
  const sent = [...new URLSearchParams(queryStringOf(url)).keys()];
  const form = Form.parse(queryStringOf(url));
  const members = sent.flatMap((name) => {
    const value = form.get(name);
    return value === undefined ? [] : [[name, value.trim()] as const];
  });
  return (await pipe.transform(Object.fromEntries(members), { type: 'query', metatype: dto })) as T;
}
